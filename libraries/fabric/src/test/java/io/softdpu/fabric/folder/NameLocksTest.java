package io.softdpu.fabric.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NameLocksTest {
    private static final String HASH = "0123456789abcdef";
    private static final String NAME = "name";
    private static final int CREATE = FileDescriptors.O_RDWR | FileDescriptors.O_CREAT;
    private static final Duration A_WHILE = Duration.ofMillis(100);
    private static final int LEAST_SWEEPS = 10;
    private static final int MANY = 400;
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    @TempDir private Path folder;
    private int directory;
    private NameLocks locks;

    @BeforeEach
    void open() {
        directory =
                FileDescriptors.open(
                        folder.toString(),
                        FileDescriptors.O_RDONLY | FileDescriptors.O_DIRECTORY,
                        0);
        locks = new NameLocks(folder, directory, Patience.NANOS);
    }

    @AfterEach
    void close() {
        FileDescriptors.close(directory);
    }

    @Test
    void shouldRefuseANameThatIsServedAndGiveItBack() {
        int lock = locks.claim(HASH, NAME);
        assertThat(lock).isNotNegative();

        assertThat(locks.claim(HASH, NAME)).isEqualTo(-1);

        locks.release(HASH, lock);
        assertThat(folder).isEmptyDirectory();
        int again = locks.claim(HASH, NAME);
        assertThat(again).isNotNegative();
        locks.release(HASH, again);
    }

    @Test
    void shouldRemoveWhatADeadProcessLeftAndNothingOfALivingOne() throws Exception {
        int lock = locks.claim(HASH, NAME);
        Files.createFile(folder.resolve(HASH + ".sock"));
        Files.createFile(folder.resolve("fedcba9876543210.lock"));
        Files.createFile(folder.resolve("fedcba9876543210.sock"));
        Files.createFile(folder.resolve("yarn.lock"));

        sweep();

        assertThat(folder)
                .isDirectoryContaining("glob:**" + HASH + ".lock")
                .isDirectoryContaining("glob:**" + HASH + ".sock")
                .isDirectoryContaining("glob:**yarn.lock")
                .isDirectoryNotContaining("glob:**fedcba9876543210.*");
        locks.release(HASH, lock);
    }

    @Test
    void shouldListTheNamesThatAreServedAndNoOthers() throws Exception {
        String blue = FabricFolder.hash("color:blue");
        int blueLock = locks.claim(blue, "color:blue");
        int redLock = locks.claim(FabricFolder.hash("color:red"), "color:red");
        int otherLock = locks.claim(FabricFolder.hash("shape:round"), "shape:round");
        int falseLock = locks.claim(FabricFolder.hash("one"), "color:of another file");
        Files.writeString(folder.resolve(FabricFolder.hash("color:dead") + ".lock"), "color:dead");

        assertThat(locks.servedNames("color:")).containsExactly("color:blue", "color:red");
        assertThat(locks.servedNames("")).hasSize(3);

        locks.release(blue, blueLock);
        assertThat(locks.servedNames("color:")).containsExactly("color:red");
        int again = locks.claim(blue, "color:blue");
        assertThat(locks.servedNames("color:")).containsExactly("color:blue", "color:red");
        for (int lock : new int[] {again, redLock, otherLock, falseLock}) {
            FileDescriptors.close(lock);
        }
        assertThat(locks.servedNames("")).isEmpty();
    }

    @Test
    void shouldListAFewNamesOnlyAndNoneThatIsTooLong() {
        List<Integer> held = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            held.add(locks.claim(FabricFolder.hash("n" + i), "n" + i));
        }
        String tooLong = "x".repeat(2000);
        held.add(locks.claim(FabricFolder.hash(tooLong), tooLong));

        assertThat(locks.servedNames("n")).hasSize(8);
        assertThat(locks.servedNames("x")).isEmpty();
        held.forEach(FileDescriptors::close);
    }

    @Test
    void shouldNotTakeAProcessThatExaminesANameForOneThatServesIt() throws Exception {
        int examining = examine(HASH);

        CompletableFuture<Integer> claim =
                CompletableFuture.supplyAsync(
                        () -> locks.claim(HASH, NAME), task -> new Thread(task, "claim").start());
        boolean early = Await.holdsWithin(A_WHILE, claim::isDone);
        FileDescriptors.close(examining);

        int lock = claim.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(lock).as("early=%s", early).isNotNegative();
        locks.release(HASH, lock);
    }

    @Test
    void shouldNameTheLockOfANameThatIsExaminedWithoutEnd() {
        NameLocks impatient = new NameLocks(folder, directory, 10_000_000);
        int examining = examine(HASH);
        try {
            assertThatThrownBy(() -> impatient.claim(HASH, NAME))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContainingAll("examine", HASH + ".lock", "waitedMillis=")
                    .extracting(e -> ((FabricException) e).kind())
                    .isEqualTo(FabricException.Kind.TIMED_OUT);
            int other = impatient.claim("fedcba9876543210", "other");
            impatient.release("fedcba9876543210", other);
        } finally {
            FileDescriptors.close(examining);
        }
    }

    /** Otherwise two could remove the files of a name, the second those of its next server. */
    @Test
    void shouldSweepOnlyUnderTheLockOfTheFolder() throws Exception {
        Files.createFile(folder.resolve(HASH + ".lock"));
        int folderLock = lockFolder();
        CompletableFuture<Void> sweep =
                CompletableFuture.runAsync(this::sweep, task -> new Thread(task, "sweep").start());

        boolean early = Await.holdsWithin(A_WHILE, sweep::isDone);
        FileDescriptors.close(folderLock);

        sweep.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(early).isFalse();
        assertThat(folder).isEmptyDirectory();
    }

    /** The locks are {@link Patience#NANOS patient}: a wait fails the test. */
    @Test
    void shouldNotNeedTheLockOfTheFolderForANameOrAReport() throws Exception {
        Files.createFile(folder.resolve("fedcba9876543210.lock"));
        int folderLock = lockFolder();
        try {
            int lock = Bounded.call("claim", () -> locks.claim(HASH, NAME));
            assertThat(lock).isNotNegative();
            assertThat(Bounded.call("served", () -> locks.servedNames(""))).isEmpty();
            assertThat(Bounded.call("leftovers", () -> locks.leftovers(false)))
                    .containsExactly("fedcba9876543210.lock");
            locks.release(HASH, lock);
        } finally {
            FileDescriptors.close(folderLock);
        }
    }

    /** With a time limit per file the wait would be longer than the test. */
    @Test
    void shouldWaitOnceForTheLockOfTheFolderHoweverManyFilesThereAre() throws Exception {
        NameLocks usual = new NameLocks(folder, directory, SECOND_NANOS);
        for (int i = 0; i < MANY; i++) {
            Files.createFile(folder.resolve(Text.format("%016x.lock", i)));
        }
        int folderLock = lockFolder();
        try (LogCapture log = new LogCapture(NameLocks.class.getName())) {
            Bounded.call(
                    "sweep",
                    () -> {
                        usual.sweep(FolderWait.deadlineIn(SECOND_NANOS));
                        return null;
                    });
            assertThat(log.with("lock of the fabric folder is held")).hasSize(1);
            assertThat(log.with(folder.toString())).hasSize(1);
            assertThatThrownBy(() -> Bounded.call("removal by doctor", () -> usual.leftovers(true)))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContainingAll("lock of the fabric folder is held", "waitedMillis=");
            assertThat(usual.leftovers(false)).hasSize(MANY);
        } finally {
            FileDescriptors.close(folderLock);
        }
        usual.sweep(FolderWait.deadlineIn(Patience.NANOS));
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void shouldEndASweepAtTheDeadlineOfItsOperation() throws Exception {
        int folderLock = lockFolder();
        try (LogCapture log = new LogCapture(NameLocks.class.getName())) {
            Bounded.call(
                    "sweep",
                    () -> {
                        locks.sweep(FolderWait.deadlineIn(1));
                        return null;
                    });
            assertThat(log.with("waitedMillis=")).hasSize(1);
        } finally {
            FileDescriptors.close(folderLock);
        }
    }

    private void sweep() {
        locks.sweep(FolderWait.deadlineIn(Patience.NANOS));
    }

    private int lockFolder() {
        return locks.lockFolder(FolderWait.deadlineIn(Patience.NANOS));
    }

    /** A process in the middle of a sweep: it holds the name's lock, and serves nothing. */
    private int examine(String hash) {
        int examining = FileDescriptors.openAt(directory, hash + ".lock", CREATE, 0600);
        assertThat(FileDescriptors.tryLockShared(examining)).isTrue();
        return examining;
    }

    @Tag(Soak.TAG)
    @Test
    void shouldServeANameWhileOthersJoinTheFolder() throws Exception {
        int rounds = Soak.count(200, 2_000, 20_000);
        long begin = System.nanoTime();
        AtomicLong names = new AtomicLong();
        AtomicLong sweeps = new AtomicLong();
        AtomicBoolean end = new AtomicBoolean();
        CompletableFuture<Void> joining =
                CompletableFuture.runAsync(
                        () -> {
                            while (!end.get()) {
                                sweep();
                                sweeps.incrementAndGet();
                            }
                        },
                        task -> new Thread(task, "sweep").start());
        try {
            while (names.get() < rounds) {
                serve(names);
            }
            Await.byStep(
                    "the others have joined",
                    () -> sweeps.get() >= LEAST_SWEEPS || joining.isDone(),
                    () -> serve(names));
        } finally {
            end.set(true);
            joining.get(Patience.SECONDS, TimeUnit.SECONDS);
        }
        Soak.report(
                "names-served-while-others-join",
                0,
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format("names=%d, sweeps=%d", names.get(), sweeps.get()));
    }

    private void serve(AtomicLong names) {
        int lock = locks.claim(HASH, NAME);
        assertThat(lock).as("round=%d", names.getAndIncrement()).isNotNegative();
        locks.release(HASH, lock);
    }
}
