package io.softdpu.fabric.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.engine.WaitPermission;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Waits for locks that another open file holds, as another process would. */
final class FolderWaitTest {
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A wait that spins or yields makes thousands. */
    private static final int FEW_ATTEMPTS = 100;

    @TempDir private Path root;
    private Path folder;

    @BeforeEach
    void create() {
        folder = root.resolve("fabric");
        join(Patience.NANOS).close();
    }

    private FabricFolder join(long timeoutNanos) {
        return FabricFolder.join(new FabricPath(folder, true), new byte[32], "test", timeoutNanos);
    }

    /** The lock of a file of the folder, as another process holds it. */
    private int lock(String file, boolean exclusive) {
        int lock =
                FileDescriptors.open(
                        folder.resolve(file).toString(),
                        FileDescriptors.O_RDWR | FileDescriptors.O_CREAT,
                        0600);
        assertThat(
                        exclusive
                                ? FileDescriptors.tryLockExclusive(lock)
                                : FileDescriptors.tryLockShared(lock))
                .isTrue();
        return lock;
    }

    @Test
    void shouldTryALockAFewTimesInASecond() throws Exception {
        assertThat(Bounded.call("wait", () -> attemptsInASecond())).isBetween(2, FEW_ATTEMPTS);
    }

    @Test
    void shouldEndAWaitForALockWhenItsThreadIsInterrupted() throws Exception {
        FabricException failure =
                Bounded.call(
                        "wait",
                        () -> {
                            FolderWait wait =
                                    FolderWait.until(FolderWait.deadlineIn(Patience.NANOS));
                            Thread.currentThread().interrupt();
                            assertThat(wait.attempt(() -> false)).isFalse();
                            assertThat(Thread.interrupted()).as("flag is kept").isTrue();
                            return wait.failure("lock is held", Path.of("name.lock"));
                        });
        assertThat(failure.kind()).isEqualTo(FabricException.Kind.INTERRUPTED);
        assertThat(failure)
                .hasMessageStartingWith("awaited=the lock of a file, file=name.lock, waitedMillis=")
                .hasMessageEndingWith(", reason=lock is held");
    }

    /** Nothing listens: the holder is known from its lock alone, and is not disturbed. */
    @Test
    void shouldNameTheProcessThatHoldsAName() {
        try (FabricFolder joined = join(Patience.NANOS)) {
            assertThat(joined.server("name")).isZero();
            int lock = lock(FabricFolder.hash("name") + ".lock", true);
            try {
                assertThat(joined.claim("name")).isNegative();
                assertThat(joined.server("name")).isEqualTo(ProcessHandle.current().pid());
            } finally {
                FileDescriptors.close(lock);
            }
        }
    }

    @Test
    void shouldTakeALockThatIsFreeOnAnInterruptedThread() throws Exception {
        boolean locked =
                Bounded.call(
                        "wait",
                        () -> {
                            Thread.currentThread().interrupt();
                            boolean taken =
                                    FolderWait.until(FolderWait.deadlineIn(SECOND_NANOS))
                                            .attempt(() -> true);
                            return taken && Thread.interrupted();
                        });
        assertThat(locked).isTrue();
    }

    private static int attemptsInASecond() {
        int[] attempts = {0};
        FolderWait wait = FolderWait.until(FolderWait.deadlineIn(SECOND_NANOS));
        boolean locked =
                wait.attempt(() -> {
                    attempts[0]++;
                    return false;
                });
        assertThat(locked).isFalse();
        return attempts[0];
    }

    @Test
    void shouldEndAWaitForTheTopologyAtItsDeadline() {
        int lock = lock("topology", true);
        try {
            assertTimedOut("topology", () -> join(10_000_000));
        } finally {
            FileDescriptors.close(lock);
        }
        join(Patience.NANOS).close();
    }

    /** The time limit is longer than the test: the wait for what others do as well is short. */
    @Test
    void shouldJoinAFolderWhoseLockIsHeldAndLeaveItsFiles() throws Exception {
        Path left = Files.createFile(folder.resolve("0123456789abcdef.lock"));
        int lock =
                FileDescriptors.open(
                        folder.toString(),
                        FileDescriptors.O_RDONLY | FileDescriptors.O_DIRECTORY,
                        0);
        try (LogCapture log = new LogCapture(NameLocks.class.getName())) {
            assertThat(FileDescriptors.tryLockExclusive(lock)).isTrue();
            Bounded.call("join", () -> join(Patience.NANOS)).close();
            assertThat(left).exists();
            assertThat(log.with("lock of the fabric folder is held")).hasSize(1);
        } finally {
            FileDescriptors.close(lock);
        }
        join(Patience.NANOS).close();
        assertThat(left).doesNotExist();
    }

    @Test
    void shouldTakeTheEarlierOfTwoDeadlines() {
        long deadline = FolderWait.deadlineIn(SECOND_NANOS);
        assertThat(FolderWait.earlier(deadline, Patience.NANOS)).isEqualTo(deadline);
        assertThat(FolderWait.earlier(deadline, 0)).isLessThan(deadline);
        assertThat(FolderWait.deadlineIn(Long.MAX_VALUE) - System.nanoTime()).isPositive();
    }

    @Test
    void shouldEndAWaitForAChangeOfTheHotplugTextAtItsDeadline() {
        try (FabricFolder joined = join(Patience.NANOS)) {
            int lock = lock("hotplug.lock", true);
            try {
                assertTimedOut(
                        "hotplug.lock",
                        () -> {
                            joined.hotplug().update(10_000_000, _ -> "changed");
                            return null;
                        });
            } finally {
                FileDescriptors.close(lock);
            }
            assertThat(joined.hotplug().read()).isNull();
        }
    }

    /** The time limits are longer than the test: each wait would fail it. */
    @Test
    void shouldWaitForNoLockWithoutPermission() throws Exception {
        String hash = FabricFolder.hash("name");
        try (FabricFolder joined = join(Patience.NANOS)) {
            int note = lock("hotplug.lock", true);
            int name = lock(hash + ".lock", false);
            int directory =
                    FileDescriptors.open(
                            folder.toString(),
                            FileDescriptors.O_RDONLY | FileDescriptors.O_DIRECTORY,
                            0);
            NameLocks patient = new NameLocks(folder, directory, Patience.NANOS);
            try {
                assertTimedOut(hash, withoutPermission(() -> patient.claim(hash, "name")));
                assertTimedOut(
                        "hotplug.lock",
                        withoutPermission(() -> {
                            joined.hotplug().update(Patience.NANOS, _ -> "changed");
                            return null;
                        }));
            } finally {
                FileDescriptors.close(directory);
                FileDescriptors.close(name);
                FileDescriptors.close(note);
            }
        }
        int topology = lock("topology", true);
        try {
            assertTimedOut("topology", withoutPermission(() -> join(Patience.NANOS)));
        } finally {
            FileDescriptors.close(topology);
        }
    }

    @Test
    void shouldGrantAndDenyEachThreadForItself() throws Exception {
        BooleanSupplier denied = () -> true;
        WaitPermission.deny(denied);
        try {
            assertThat(WaitPermission.isGranted()).isFalse();
            assertThat(Bounded.call("another thread", WaitPermission::isGranted)).isTrue();
        } finally {
            WaitPermission.lift(denied);
        }
        assertThat(WaitPermission.isGranted()).isTrue();
    }

    private static <T> Callable<T> withoutPermission(Callable<T> call) {
        return () -> {
            WaitPermission.deny(() -> true); // the thread ends with the call
            return call.call();
        };
    }

    private static void assertTimedOut(String file, Callable<?> call) {
        assertThatThrownBy(() -> Bounded.call("operation", call))
                .isInstanceOf(FabricException.class)
                .hasMessageContainingAll(file, "waitedMillis=", "expected=")
                .extracting(e -> ((FabricException) e).kind())
                .isEqualTo(FabricException.Kind.TIMED_OUT);
    }
}
