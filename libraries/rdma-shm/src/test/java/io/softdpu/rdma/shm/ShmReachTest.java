package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Clause;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Peers that shared memory does not reach. */
class ShmReachTest {
    private static final int BOOT_ID_OFFSET = 40 + 32;

    @Test
    @Clause("rdma-001")
    void shouldSayThatAPeerInAnotherFabricFolderIsNotReached(@TempDir Path root) {
        withInstance(
                folder(root, "one"),
                here ->
                        withInstance(
                                folder(root, "two"),
                                there -> {
                                    byte[] blob = there.exportConnection().blob();
                                    assertNotReached(here, blob);
                                }));
    }

    @Test
    @Clause("rdma-001")
    void shouldSayThatAPeerOnAnotherKernelIsNotReached(@TempDir Path root) {
        withInstance(
                folder(root, "one"),
                here -> {
                    byte[] blob = here.exportConnection().blob();
                    blob[BOOT_ID_OFFSET] ^= 1;
                    HostilePeer.putCheck(blob);
                    here.exportConnection();
                    assertNotReached(here, blob);
                });
    }

    private static void assertNotReached(Rdma here, byte[] blob) {
        RdmaConnection connection = here.exportConnection();
        assertThatThrownBy(() -> here.connect(blob, connection))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                .hasMessageContaining("peer=[shm]");
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.EXPORTED);
    }

    private static Path folder(Path root, String name) {
        try {
            return Files.createDirectory(
                    root.resolve(name),
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rwx------")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void withInstance(Path folder, Consumer<Rdma> test) {
        try (Machine machine = Machine.builder(Side.TARGET).fabricFolder(folder).open();
                Device device = machine.findDevice("t0").open();
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device)) {
            rdma.setMaxConnections(4).setConnectionCallback((connection, previous, next) -> {});
            engine.connect(rdma);
            rdma.start();
            test.accept(rdma);
            rdma.stop();
        }
    }
}
