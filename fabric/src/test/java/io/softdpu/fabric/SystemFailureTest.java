package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.linux.FileDescriptors;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the operating system refuses reaches the floors above as a failure of the bus. */
@Timeout(60)
class SystemFailureTest {
    private static final long SECOND = 1_000_000_000L;

    @TempDir Path folder;

    private Bus bus() {
        return Bus.open(
                new Bus.Config(folder.resolve("fabric"), new byte[32], "t", SECOND, 1L << 20));
    }

    private static void assertSystemFailure(Throwable thrown) {
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.SYSTEM));
    }

    @Test
    void shouldLeaveFilesAloneThatNoBusHasMade() throws IOException {
        Path fabric = folder.resolve("fabric");
        bus().close();
        Path stranger = Files.createFile(fabric.resolve("yarn.lock"));
        Path stale = Files.createFile(fabric.resolve("0123456789abcdef.lock"));

        bus().close();

        assertThat(stranger).exists();
        assertThat(stale).doesNotExist();
    }

}
