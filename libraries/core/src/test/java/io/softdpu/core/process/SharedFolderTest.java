package io.softdpu.core.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Identity;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedFolderTest {
    private static final String PREFIX = "demo-";
    private static final FileTime LONG_AGO = FileTime.from(Instant.EPOCH);

    @TempDir Path parent;

    /** Folder of a process that was killed with all its children. */
    private Path left(String name) throws IOException {
        Path root = Files.createDirectory(parent.resolve(name));
        Files.createDirectory(SharedFolder.fabricOf(root));
        Files.writeString(SharedFolder.lockFileOf(root), "");
        return root;
    }

    @Test
    void shouldGiveAPrivateFolderWithAFabricFolderAndRemoveBoth() throws Exception {
        SharedFolder folder = SharedFolder.create(parent, PREFIX);
        Files.writeString(folder.root().resolve("report"), "{}");

        assertThat(folder.root()).hasParent(parent);
        assertThat(folder.fabric()).isDirectory();
        assertThat(Files.getPosixFilePermissions(folder.root()))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));

        folder.close();
        folder.close();

        assertThat(folder.root()).doesNotExist();
    }

    @Test
    void shouldRemoveLeftoversAndNotTheFolderOfALivingOwner() throws Exception {
        Path dead = left("demo-dead");
        Files.writeString(SharedFolder.fabricOf(dead).resolve("0123456789abcdef.sock"), "");
        try (SharedFolder living = SharedFolder.create(parent, PREFIX);
                SharedFolder other = SharedFolder.create(parent, PREFIX)) {
            Files.setLastModifiedTime(living.root(), LONG_AGO);
            SharedFolder.removeLeftovers(parent, PREFIX);

            assertThat(dead).doesNotExist();
            assertThat(living.fabric()).isDirectory();
            assertThat(other.fabric()).isDirectory();
        }
    }

    /** Age tells nothing: a process that is stopped may be between two steps for long. */
    @Test
    void shouldLeaveAnOldFolderWhoseLockIsHeldAndOneWithoutALock() throws Exception {
        Path held = left("demo-held");
        Path empty = Files.createDirectory(parent.resolve("demo-empty"));
        Path late = Files.createDirectory(parent.resolve("demo-late"));
        Files.createDirectory(SharedFolder.fabricOf(late));
        Files.writeString(SharedFolder.fabricOf(late).resolve("topology"), "of a child");
        Files.createDirectory(SharedFolder.fabricOf(late, "target"));
        Files.writeString(SharedFolder.fabricOf(late, "target").resolve("topology"), "as well");
        Path foreign = Files.createDirectory(parent.resolve("demo-of-the-user"));
        Files.writeString(foreign.resolve("thesis.txt"), "three years");
        Path notes = Files.createDirectory(parent.resolve("demo-with-notes"));
        Files.writeString(notes.resolve("fabric-notes"), "a file");
        Path thesis = Files.createDirectory(parent.resolve("demo-with-another-folder"));
        Files.createDirectory(thesis.resolve("fabric-Of_Space"));
        for (Path each : List.of(held, empty, foreign)) {
            Files.setLastModifiedTime(each, LONG_AGO);
        }
        try (CheckedFile lock = SharedFolder.openLockFile(held)) {
            assertThat(FileDescriptors.tryLockShared(lock.descriptor())).isTrue();

            SharedFolder.removeLeftovers(parent, PREFIX);

            assertThat(SharedFolder.fabricOf(held)).isDirectory();
        }
        assertThat(empty).as("of a process that was killed while it made it").doesNotExist();
        assertThat(late).as("of a child that ended after it was removed").doesNotExist();
        assertThat(foreign.resolve("thesis.txt")).hasContent("three years");
        assertThat(notes.resolve("fabric-notes")).hasContent("a file");
        assertThat(thesis.resolve("fabric-Of_Space")).isDirectory();

        SharedFolder.removeLeftovers(parent, PREFIX);
        assertThat(held).as("its lock is free").doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x/../..", "Target", "..", "a.b"})
    void shouldRefuseAFurtherFabricFolderWithoutAPlainName(String name) {
        assertThatThrownBy(() -> SharedFolder.fabricOf(parent, name))
                .isInstanceOf(DpuException.class)
                .hasMessageStartingWith("name of a fabric folder is illegal: name=" + name + ", ")
                .extracting(e -> ((DpuException) e).status())
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(SharedFolder.fabricOf(parent, "target-2"))
                .isEqualTo(parent.resolve("fabric-target-2"));
    }

    @Test
    void shouldFollowNoLinkAndTouchNothingElse() throws Exception {
        Path others = left("something-else");
        Path file = Files.writeString(others.resolve("file"), "kept");
        Path link = Files.createSymbolicLink(parent.resolve("demo-link"), others);
        Path plain = Files.writeString(parent.resolve("demo-file"), "kept");
        Path dead = left("demo-dead");
        Files.createSymbolicLink(dead.resolve("link"), others);
        Files.createSymbolicLink(SharedFolder.fabricOf(dead).resolve("link"), file);
        Path linkedLock = Files.createDirectory(parent.resolve("demo-linked-lock"));
        Files.createSymbolicLink(SharedFolder.lockFileOf(linkedLock), file);

        SharedFolder.removeLeftovers(parent, PREFIX);

        assertThat(dead).doesNotExist();
        assertThat(link).isSymbolicLink();
        assertThat(plain).hasContent("kept");
        assertThat(file).hasContent("kept");
        assertThat(SharedFolder.lockFileOf(others)).exists();
        assertThat(linkedLock).as("no lock of a process").exists();
    }

    @Test
    void shouldLeaveTheFolderOfAnotherUser() throws Exception {
        assumeThat(Identity.effectiveUid()).as("may give a folder away").isZero();
        Path others = left("demo-of-another-user");
        Files.setAttribute(others, "unix:uid", 12345);

        SharedFolder.removeLeftovers(parent, PREFIX);

        assertThat(SharedFolder.lockFileOf(others)).exists();
    }

    /** The lock file goes last: a removal that is cut short leaves a folder that is found again. */
    @Test
    void shouldKeepTheLockFileUntilAllElseHasGone() throws Exception {
        Path dead = left("demo-dead");
        for (int i = 0; i < 100; i++) {
            Files.writeString(dead.resolve("file-" + i), "");
        }
        try (WatchService removals = dead.getFileSystem().newWatchService()) {
            WatchKey key = dead.register(removals, StandardWatchEventKinds.ENTRY_DELETE);

            SharedFolder.removeLeftovers(parent, PREFIX);

            List<String> order = new ArrayList<>();
            boolean watched;
            do {
                assertThat(removals.poll(Patience.SECONDS, TimeUnit.SECONDS))
                        .as("removal after %s", order)
                        .isSameAs(key);
                // Before the events: a key whose folder has gone is not queued again for the rest.
                watched = key.reset();
                key.pollEvents().forEach(event -> order.add("" + event.context()));
            } while (watched);
            assertThat(order).hasSize(102).endsWith("in-use");
        }
    }

    /** Each removes what the other has just made and not yet locked; then that makes another. */
    @Test
    void shouldMakeAFolderWhileAnotherProcessRemovesLeftovers() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> removing =
                CompletableFuture.runAsync(() -> {
                    while (!over.get()) {
                        SharedFolder.removeLeftovers(parent, PREFIX);
                    }
                });
        try {
            for (int i = 0; i < Soak.count(100, 300, 20_000); i++) {
                try (SharedFolder made = SharedFolder.create(parent, PREFIX)) {
                    assertThat(SharedFolder.lockFileOf(made.root())).exists();
                    assertThat(made.fabric()).isDirectory();
                }
            }
        } finally {
            over.set(true);
        }
        removing.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(parent).isEmptyDirectory();
    }

    /** A process that is halted may write until all its threads have stopped. */
    @Test
    void shouldRemoveAFileThatIsCreatedDuringTheRemoval() throws Exception {
        boolean created = false;
        // The file may come after the removal: the more there is to remove, the longer it takes.
        for (int files = 1 << 10; !created; files *= 2) {
            assertThat(files).isLessThan(1 << 20);
            SharedFolder folder = SharedFolder.create(parent, PREFIX);
            for (int i = 0; i < files; i++) {
                Files.createFile(folder.fabric().resolve("file-" + i));
            }
            try (WatchService removals = parent.getFileSystem().newWatchService()) {
                folder.fabric().register(removals, StandardWatchEventKinds.ENTRY_DELETE);
                Future<Boolean> creation =
                        CompletableFuture.supplyAsync(() -> createAfterOneOf(removals, folder));

                folder.close();

                created = creation.get(Patience.SECONDS, TimeUnit.SECONDS);
            }
            assertThat(folder.root()).doesNotExist();
        }
    }

    /** Creates a file in a folder when another was removed there: whether the folder existed. */
    private static boolean createAfterOneOf(WatchService removals, SharedFolder folder) {
        try {
            assertThat(removals.poll(Patience.SECONDS, TimeUnit.SECONDS)).as("removal").isNotNull();
            Files.createFile(folder.root().resolve("report"));
            return true;
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldNameTheFolderInWhichNoneCanBeMade() {
        assertThatThrownBy(() -> SharedFolder.create(parent.resolve("none"), PREFIX))
                .isInstanceOf(DpuException.class)
                .hasMessageStartingWith(
                        "shared folder cannot be created: parent=" + parent.resolve("none"))
                .extracting(e -> ((DpuException) e).status())
                .isEqualTo(Status.OPERATING_SYSTEM);
    }

    // ---- a watch of a parent that has ended: one of a living parent would end this JVM with it

    @Test
    void shouldRefuseToWatchAParentThatHasRemovedItsFolder() {
        SharedFolder folder = SharedFolder.create(parent, PREFIX);
        folder.close();

        assertParentHasEnded(folder.root());
    }

    @Test
    void shouldRefuseToWatchAParentThatWasKilledAndRemoveItsFolder() throws Exception {
        assertParentHasEnded(left("demo-dead"));
    }

    private static void assertParentHasEnded(Path root) {
        assertThatThrownBy(() -> ParentWatch.start(root))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("parent process has ended: folder=" + root)
                .extracting(e -> ((DpuException) e).status())
                .isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(root).doesNotExist();
    }

    /** It is not the last child: the other one removes the folder. */
    @Test
    void shouldLeaveTheFolderOfAKilledParentToAnotherChild() throws Exception {
        Path root = left("demo-dead");
        try (CheckedFile lock = SharedFolder.openLockFile(root)) {
            assertThat(FileDescriptors.tryLockShared(lock.descriptor())).isTrue();

            assertThatThrownBy(() -> ParentWatch.start(root))
                    .hasMessageContaining("parent process has ended");

            assertThat(root).exists();
        }
    }

    @Test
    void shouldRefuseALockFileThatIsAPipe() throws Exception {
        Path root = Files.createDirectory(parent.resolve("demo-pipe"));
        try (NamedPipe _ = NamedPipe.create(SharedFolder.lockFileOf(root))) {
            assertThatThrownBy(() -> Bounded.call("watching", () -> ParentWatch.start(root)))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining(
                            "folder=" + root + ", reason=it is a pipe, expected=a regular file");
        }
    }
}
