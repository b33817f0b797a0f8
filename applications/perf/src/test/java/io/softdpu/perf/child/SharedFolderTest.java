package io.softdpu.perf.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedFolderTest {
    @TempDir Path parent;

    @Test
    void shouldSweepWhatNobodyHasAnyMoreAndNothingElse() throws Exception {
        Path dead = Files.createDirectories(parent.resolve("demo-dead/fabric")).getParent();
        Files.writeString(dead.resolve("in-use"), "");
        Files.writeString(dead.resolve("fabric/0123456789abcdef.sock"), "");
        Path beingMade = Files.createDirectory(parent.resolve("demo-being-made"));
        Path others = Files.createDirectory(parent.resolve("something-else"));
        Files.writeString(others.resolve("in-use"), "");
        Path link = Files.createSymbolicLink(parent.resolve("demo-link"), others);

        try (SharedFolder alive = SharedFolder.create(parent, "demo-")) {
            SharedFolder.sweep(parent, "demo-");

            assertThat(dead).doesNotExist();
            assertThat(alive.root().resolve("in-use")).exists();
            assertThat(beingMade).exists();
            assertThat(others.resolve("in-use")).exists();
            assertThat(link).exists();
        }
    }

    @Test
    void shouldGoWithTheLastOneInIt() throws Exception {
        SharedFolder folder = SharedFolder.create(parent, "demo-");
        Files.writeString(folder.root().resolve("report"), "{}");

        folder.close();
        folder.close();

        assertThat(folder.root()).doesNotExist();
    }

    /** A process that is halted leaves first; until it has ended, its threads may write there. */
    @Test
    void shouldRemoveAFileThatIsCreatedDuringTheRemoval() throws Exception {
        boolean created = false;
        // The file may come after the removal: the more there is to remove, the longer it takes.
        for (int files = 1 << 10; !created; files *= 2) {
            assertThat(files).isLessThan(1 << 20);
            SharedFolder folder = SharedFolder.create(parent, "demo-");
            Path fabric = folder.makeFolder("fabric");
            for (int i = 0; i < files; i++) {
                Files.createFile(fabric.resolve("file-" + i));
            }
            try (WatchService removals = fabric.getFileSystem().newWatchService()) {
                fabric.register(removals, StandardWatchEventKinds.ENTRY_DELETE);
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
    void shouldNotBeJoinedOrMadeAnewOnceItHasGone() throws Exception {
        SharedFolder folder = SharedFolder.create(parent, "demo-");
        folder.remove();

        assertThatThrownBy(() -> SharedFolder.join(folder.root()))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("parent process has ended: folder=" + folder.root())
                .extracting(e -> ((DpuException) e).status())
                .isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(folder.root()).doesNotExist();
    }

    @Test
    void shouldRefuseALockFileThatIsAPipe() throws Exception {
        Path root = Files.createDirectory(parent.resolve("demo-pipe"));
        try (NamedPipe pipe = NamedPipe.create(root.resolve("in-use"))) {
            assertThatThrownBy(() -> Bounded.call("joining", () -> SharedFolder.join(root)))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining(
                            "file="
                                    + pipe.path()
                                    + ", reason=it is a pipe, expected=a regular file");
        }
    }
}
