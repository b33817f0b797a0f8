package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.Await;
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

    /** It is imported, for a provider over a network; shared memory does not reach it. */
    @Test
    void shouldRefuseMemoryOfAnotherFabricFolder(@TempDir Path root) {
        Path folder = folder(root, "one");
        try (End here = new End(folder);
                End there = new End(folder);
                End elsewhere = new End(folder(root, "two"));
                Mmap near = Mmap.createFromExport(there.exported(), here.device);
                Mmap far = Mmap.createFromExport(elsewhere.exported(), here.device);
                BufInventory inventory = BufInventory.create(3).start()) {
            RdmaConnection connection = here.connect(there);
            Buf source = inventory.bufByData(here.mmap, 0, 8);
            Buf reached = inventory.bufByAddress(near, 0, 8);
            Buf notReached = inventory.bufByAddress(far, 0, 8);
            RdmaWriteTask write = here.rdma.allocateWrite(connection, source, notReached);

            assertThat(write.trySubmit()).isEqualTo(Status.NOT_PERMITTED);
            assertThat(write.refusal())
                    .hasMessageContainingAll(
                            "another kernel or fabric folder", "by its key", "provider=shm");

            assertThat(connection.state()).isEqualTo(RdmaConnection.State.CONNECTED);
            assertThat(write.setDestination(reached).trySubmit()).isEqualTo(Status.SUCCESS);
            Await.byStep("write", () -> here.written == 1, here.engine::progress);
            write.free();
            source.release();
            reached.release();
            notReached.release();
            here.rdma.stop();
            there.rdma.stop();
            Await.byStep(
                    "stop",
                    () -> here.isIdle() && there.isIdle(),
                    () -> {
                        boolean _ = here.engine.progress() | there.engine.progress();
                    });
        }
    }

    /** An instance with memory, started. */
    private static final class End implements AutoCloseable {
        final Machine machine;
        final Device device;
        final SharedMemory memory = SharedMemory.allocate(8);
        final Mmap mmap;
        final ProgressEngine engine = ProgressEngine.create();
        final Rdma rdma;
        int written;

        End(Path folder) {
            machine = Machine.builder(Side.TARGET).fabricFolder(folder).open();
            device = machine.findDevice("t0").open();
            Permissions all = Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE);
            mmap = Mmap.create().setMemory(memory).setPermissions(all).addDevice(device).start();
            rdma =
                    Rdma.create(device)
                            .setPermissions(Permissions.of(AccessFlag.RDMA_WRITE))
                            .setWriteTasks(1, task -> written++, task -> {});
            engine.connect(rdma);
            rdma.start();
        }

        byte[] exported() {
            return mmap.exportRdma(device);
        }

        RdmaConnection connect(End peer) {
            RdmaConnection here = rdma.exportConnection();
            RdmaConnection there = peer.rdma.exportConnection();
            rdma.connect(there.blob(), here);
            peer.rdma.connect(here.blob(), there);
            Await.byStep(
                    "connection",
                    () ->
                            here.state() == RdmaConnection.State.CONNECTED
                                    && there.state() == RdmaConnection.State.CONNECTED,
                    () -> {
                        boolean _ = engine.progress() | peer.engine.progress();
                    });
            return here;
        }

        boolean isIdle() {
            return rdma.state() == ContextState.IDLE;
        }

        @Override
        public void close() {
            rdma.close();
            engine.close();
            mmap.close();
            memory.close();
            device.close();
            machine.close();
        }
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
