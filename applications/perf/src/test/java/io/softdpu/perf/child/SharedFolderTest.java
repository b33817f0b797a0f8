package io.softdpu.perf.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.NamedPipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
            assertThatThrownBy(() ->
                            Bounded.call(
                                    "joining",
                                    Duration.ofSeconds(30),
                                    () -> SharedFolder.join(root)))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining(
                            "file="
                                    + pipe.path()
                                    + ", reason=it is a pipe, expected=a regular file");
        }
    }
}
