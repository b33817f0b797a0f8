package io.softdpu.storage.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

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
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Report of a service that copies the data. It can access the initiator's memory only by tasks of
 * its engine, and bytes that such a task copies are counted as payload, in addition to those that
 * the target counts for the same operation.
 */
class BounceCopyTest {
    private static final int SIZE = 64 << 10;

    @TempDir private Path folder;

    @Test
    void shouldGetAtTheInitiatorsMemoryByTasksAloneAndNotAtAllAsTheServiceImportsIt() {
        try (Machine host = Machine.builder(Side.HOST).fabricFolder(folder).open();
                Machine dpu = Machine.builder(Side.DPU).fabricFolder(folder).open();
                Device hostDevice = host.findDevice("pf0").open();
                Device device = dpu.findDevice("p0").open();
                SharedMemory memory = SharedMemory.allocate(SIZE);
                Mmap exported = initiatorsMemory(memory, hostDevice);
                Mmap mapped = importOn(device, exported.exportPci(hostDevice), Mapping.ACCESS);
                Mmap passedOn = importOn(device, exported.exportPci(hostDevice), Mapping.NONE)) {
            assertThat(catchThrowableOfType(DpuException.class, mapped::segment).status())
                    .isEqualTo(Status.NOT_PERMITTED);
            assertThat(catchThrowableOfType(DpuException.class, passedOn::segment).status())
                    .isEqualTo(Status.NOT_PERMITTED);
            assertThat(bounce(device, mapped)).isEqualTo(new Bounced(Status.SUCCESS, SIZE));
            assertThat(bounce(device, passedOn)).isEqualTo(new Bounced(Status.NOT_SUPPORTED, 0));
        }
    }

    /** Result of the copy, and the engine's counter of payload. */
    private record Bounced(Status status, long payloadBytes) {}

    /** Copies all of the memory to a buffer of the DPU, like a service with bounce buffers. */
    private static Bounced bounce(Device device, Mmap from) {
        AtomicInteger done = new AtomicInteger();
        try (SharedMemory memory = SharedMemory.allocate(SIZE);
                Mmap own =
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE))
                                .addDevice(device)
                                .start();
                Mmap remote = importOn(device, own.exportRdma(device), Mapping.ACCESS);
                ProgressEngine engine = ProgressEngine.create();
                Rdma writer = Rdma.create(device);
                Rdma owner = Rdma.create(device);
                BufInventory inventory = BufInventory.create(2)) {
            inventory.start();
            engine.connect(writer);
            engine.connect(owner);
            writer.setWriteTasks(1, _ -> done.incrementAndGet(), _ -> {});
            owner.setPermissions(Permissions.of(AccessFlag.RDMA_WRITE));
            owner.setConnectionCallback((_, _, _) -> {});
            RdmaConnection connection = connect(engine, writer, owner);

            Buf source = inventory.bufByData(from, 0, SIZE);
            Buf destination = inventory.bufByAddress(remote, 0, SIZE);
            RdmaWriteTask task = writer.allocateWrite(connection, source, destination);
            Status status = task.trySubmit();
            Await.byStep(
                    "write is complete",
                    () -> status != Status.SUCCESS || done.get() != 0,
                    () -> engine.await(Patience.LIMIT));
            task.free();
            source.release();
            destination.release();
            stop(engine, writer, owner);
            return new Bounced(status, engine.payloadBytesCopied());
        }
    }

    private static RdmaConnection connect(ProgressEngine engine, Rdma writer, Rdma owner) {
        writer.start();
        owner.start();
        RdmaConnection here = writer.exportConnection();
        RdmaConnection there = owner.exportConnection();
        writer.connect(there.blob(), here);
        owner.connect(here.blob(), there);
        awaitAll(engine, ContextState.RUNNING, writer, owner);
        return here;
    }

    private static void stop(ProgressEngine engine, Rdma writer, Rdma owner) {
        for (Rdma context : new Rdma[] {writer, owner}) {
            context.stop();
            awaitAll(engine, ContextState.IDLE, context);
        }
    }

    private static void awaitAll(ProgressEngine engine, ContextState state, Rdma... contexts) {
        for (Rdma context : contexts) {
            Await.byStep(
                    "context is in state " + state,
                    () -> context.state() == state,
                    () -> engine.await(Patience.LIMIT));
        }
    }

    private static Mmap initiatorsMemory(SharedMemory memory, Device device) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(
                        Permissions.of(
                                AccessFlag.LOCAL_READ_WRITE,
                                AccessFlag.PCI_READ_WRITE,
                                AccessFlag.RDMA_READ,
                                AccessFlag.RDMA_WRITE))
                .addDevice(device)
                .start();
    }

    private static Mmap importOn(Device device, byte[] blob, Mapping mapping) {
        return Mmap.createFromExport(blob, device, mapping, Patience.LIMIT);
    }
}
