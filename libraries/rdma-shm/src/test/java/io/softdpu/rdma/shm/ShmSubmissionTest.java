package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Work that its submission executes: how much of it, and when not. */
class ShmSubmissionTest {
    private static final int TASKS = 64;
    private static final long PART = 32 << 10; // an eighth of a slice
    private static final long MEMORY_BYTES = 4 * Copier.SLICE_BYTES;
    private static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(2, 256);

    private final List<Status> written = new ArrayList<>();
    private Runnable onWritten = () -> {};
    private Runnable onReceived = () -> {};
    private Machine machine;
    private Device device;
    private ProgressEngine engine;
    private ProgressEngine farEngine;
    private SharedMemory memory;
    private SharedMemory farMemory;
    private Mmap mmap;
    private Mmap farMmap;
    private Mmap remote;
    private BufInventory inventory;
    private Rdma rdma;
    private Rdma far;
    private RdmaConnection connection;
    private RdmaConnection toNear;

    @BeforeEach
    void open(@TempDir Path folder) {
        machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
        device = machine.findDevice("03:00.0").open();
        engine = ProgressEngine.create();
        farEngine = ProgressEngine.create();
        memory = SharedMemory.allocate(MEMORY_BYTES);
        farMemory = SharedMemory.allocate(MEMORY_BYTES);
        mmap = start(memory, Permissions.LOCAL_READ_WRITE);
        farMmap =
                start(
                        farMemory,
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE));
        remote = Mmap.createFromExport(farMmap.exportRdma(device), device);
        inventory = BufInventory.create(2 * TASKS);
        inventory.start();
        rdma = Rdma.create(device);
        rdma.setSendQueueSize(TASKS);
        rdma.setWriteTasks(TASKS, this::written, this::written);
        rdma.setReceiveTasks(1, this::received, this::received);
        far = Rdma.create(device);
        far.setPermissions(Permissions.of(AccessFlag.RDMA_WRITE));
        far.setSendTasks(1, task -> task.free(), task -> task.free());
        engine.connect(rdma);
        farEngine.connect(far);
        rdma.start();
        far.start();
        connection = rdma.exportConnection();
        toNear = far.exportConnection();
        rdma.connect(toNear.blob(), connection);
        far.connect(connection.blob(), toNear);
        drive(
                "connection",
                () ->
                        connection.state() == RdmaConnection.State.CONNECTED
                                && toNear.state() == RdmaConnection.State.CONNECTED);
    }

    private Mmap start(SharedMemory of, Permissions permissions) {
        Mmap started = Mmap.create();
        started.setMemory(of).setPermissions(permissions).addDevice(device).start();
        return started;
    }

    @AfterEach
    void close() {
        stop(rdma);
        stop(far);
        rdma.close();
        far.close();
        engine.close();
        farEngine.close();
        inventory.close();
        remote.close();
        mmap.close();
        farMmap.close();
        memory.close();
        farMemory.close();
        device.close();
        machine.close();
    }

    private void stop(Rdma instance) {
        if (instance.state() == ContextState.RUNNING) {
            instance.stop();
        }
        drive("idle", () -> instance.state() == ContextState.IDLE);
    }

    private void drive(String what, BooleanSupplier condition) {
        Await.byStep(
                what,
                condition,
                () -> {
                    engine.progress();
                    farEngine.progress();
                });
    }

    private void written(RdmaWriteTask task) {
        written.add(task.status());
        task.source().release();
        task.destination().release();
        task.free();
        onWritten.run();
    }

    private void received(RdmaReceiveTask task) {
        task.free();
        onReceived.run();
    }

    private void write(long lengthBytes) {
        rdma.allocateWrite(
                        connection,
                        inventory.bufByData(mmap, 0, lengthBytes),
                        inventory.bufByAddress(remote, 0, lengthBytes))
                .submit();
    }

    private long bytesWrittenBy(Runnable call) {
        long before = engine.payloadBytesCopied();
        call.run();
        return engine.payloadBytesCopied() - before;
    }

    /** However many submissions there are: a peer may cause them in callbacks of other contexts. */
    @Test
    void shouldCopyOneSliceUntilTheNextPass() {
        long copied =
                bytesWrittenBy(() -> {
                    for (int i = 0; i < 20; i++) {
                        write(PART + 1);
                    }
                });
        assertThat(copied).isEqualTo(Copier.SLICE_BYTES);
        assertThat(bytesWrittenBy(engine::progress)).isEqualTo(Copier.SLICE_BYTES);
        assertThat(written).as("of two slices").hasSize(15);
        assertThat(bytesWrittenBy(engine::progress))
                .isEqualTo(20 * (PART + 1) - 2 * Copier.SLICE_BYTES);
        assertThat(written).hasSize(20).containsOnly(Status.SUCCESS);
    }

    @Test
    void shouldCountWhatCallbacksWriteAgainstTheSlice() {
        for (int i = 0; i < 8; i++) {
            write(PART);
        }
        onWritten = () -> write(PART);
        assertThat(bytesWrittenBy(engine::progress)).isEqualTo(Copier.SLICE_BYTES);
        assertThat(bytesWrittenBy(engine::progress)).isEqualTo(Copier.SLICE_BYTES);
        onWritten = () -> {};
        drive("the last ones", () -> rdma.inFlightTasks() == 0);
        assertThat(written).containsOnly(Status.SUCCESS);
    }

    @Test
    void shouldLeaveACopyOfASliceToProgress() {
        assertThat(bytesWrittenBy(() -> write(Copier.SLICE_BYTES - 1)))
                .isEqualTo(Copier.SLICE_BYTES - 1);
        engine.progress();
        assertThat(bytesWrittenBy(() -> write(Copier.SLICE_BYTES))).isZero();
        assertThat(bytesWrittenBy(engine::progress)).isEqualTo(Copier.SLICE_BYTES);
        assertThat(written).containsExactly(Status.SUCCESS, Status.SUCCESS);
    }

    /** The peer has left a message, whose callback writes. */
    @Test
    void shouldNotWriteToThePeerOnceItHasDisconnected() {
        onReceived = () -> write(8);
        memory.segment().set(ValueLayout.JAVA_LONG, 0, 7);
        rdma.allocateReceive(null).submit();
        far.allocateSend(toNear, null).submit();
        toNear.disconnect();
        Await.byStep(
                "the end of the peer",
                () -> toNear.state() == RdmaConnection.State.DISCONNECTED,
                farEngine::progress);

        drive("the write ends", () -> !written.isEmpty());
        assertThat(written).containsExactly(Status.CONNECTION_RESET);
        assertThat(farMemory.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
    }

    /** The exception belongs to progress, which fails the context; the submission was accepted. */
    @Test
    void shouldLeaveMemoryThatWasClosedToProgress() {
        MemorySegment ring =
                farMemory.segment().asSlice(0, ShmWire.RING_OFFSET + GEOMETRY.sizeBytes());
        // Without a connection and a doorbell: neither is reached by what happens here.
        ShmSender sender = new ShmSender(null, new Copier(), ring, GEOMETRY, null, 2, null);
        WorkRequest request = new WorkRequest(WorkRequest.Kind.SEND, status -> {}, 1);
        try (Arena arena = Arena.ofConfined()) {
            request.local.add(arena.allocate(8), 0, 8);
        }
        request.lengthBytes = 8;

        assertThat(sender.submit(request, true)).isNull();
        assertThat(sender.arm()).as("it waits for execution").isTrue();
        assertThatThrownBy(sender::execute).isInstanceOf(IllegalStateException.class);
    }
}
