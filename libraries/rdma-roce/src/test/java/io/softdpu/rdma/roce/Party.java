package io.softdpu.rdma.roce;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Side of a test with sends and receives, which belongs to the thread that opened it. */
final class Party implements AutoCloseable {
    private static final int TASKS = 64;

    /** Time after which another party is looked at. */
    private static final Duration PAUSE = Duration.ofMillis(1);

    private final Machine machine;
    private final Device device;
    final ProgressEngine engine = ProgressEngine.create();
    private final Mmap mmap = Mmap.create();
    private final BufInventory inventory = BufInventory.create(4 * TASKS);
    final Rdma rdma;

    /** Results of the tasks that have ended, oldest first. */
    final Deque<Status> results = new ArrayDeque<>();

    /** States that the instance and its connections have entered, as its callbacks told. */
    final List<Enum<?>> states = new ArrayList<>();

    Party(Path folder, Side side) {
        this(folder, side, Arena.ofAuto().allocate(1 << 16));
    }

    Party(Path folder, Side side, MemorySegment memory) {
        RoceTestEnvironment site = new RoceTestEnvironment();
        machine = site.openMachine(folder, side);
        device = machine.findDevice(site.device(side)).open();
        mmap.setMemory(memory)
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(device)
                .start();
        inventory.start();
        rdma = Rdma.create(device);
        rdma.setSendTasks(TASKS, this::sent, this::sent);
        rdma.setReceiveTasks(TASKS, this::received, this::received);
        rdma.setStateChangedCallback((context, previous, next) -> states.add(next));
        rdma.setConnectionCallback((connection, previous, next) -> states.add(next));
        engine.connect(rdma);
        rdma.start();
    }

    private void sent(RdmaSendTask task) {
        results.add(task.status());
        Buf source = task.source();
        task.free();
        if (source != null) {
            source.release();
        }
    }

    private void received(RdmaReceiveTask task) {
        results.add(task.status());
        Buf destination = task.destination();
        task.free();
        if (destination != null) {
            destination.release();
        }
    }

    Map<String, Long> deviceCounters() {
        return rdma.deviceCounters();
    }

    RdmaConnection export() {
        return rdma.exportConnection();
    }

    void connect(RdmaConnection own, byte[] peersBlob) {
        rdma.connect(peersBlob, own);
    }

    /** What the exported connection tells a peer of this provider, whose section is the last. */
    static RoceDetails details(RdmaConnection exported) {
        byte[] blob = exported.blob();
        return RoceDetails.decode(
                Arrays.copyOfRange(blob, blob.length - RoceDetails.WIRE_BYTES, blob.length));
    }

    /** Connects two parties by their exported connections. */
    static void connect(Party near, RdmaConnection toFar, Party far, RdmaConnection toNear) {
        near.connect(toFar, toNear.blob());
        far.connect(toNear, toFar.blob());
        drive(
                "connection",
                () ->
                        toFar.state() == RdmaConnection.State.CONNECTED
                                && toNear.state() == RdmaConnection.State.CONNECTED,
                near,
                far);
    }

    Status send(RdmaConnection to, long bytes) {
        Buf source = inventory.bufByData(mmap, 0, bytes);
        RdmaSendTask task = rdma.allocateSend(to, source);
        return submitted(task.trySubmit(), task::free, source);
    }

    Status receive(long bytes) {
        Buf destination = inventory.bufByAddress(mmap, 0, bytes);
        RdmaReceiveTask task = rdma.allocateReceive(destination);
        return submitted(task.trySubmit(), task::free, destination);
    }

    private static Status submitted(Status status, Runnable free, Buf buf) {
        if (status != Status.SUCCESS) {
            free.run();
            buf.release();
        }
        return status;
    }

    /** Progresses until a condition holds, and sleeps in between. */
    void sleepUntil(String what, BooleanSupplier condition) {
        Await.byStep(what, condition, () -> engine.await(Patience.LIMIT));
    }

    /** Progresses both until a condition holds. */
    static void drive(String what, BooleanSupplier condition, Party... parties) {
        Await.byStep(
                what,
                condition,
                () -> {
                    boolean progressed = false;
                    for (Party each : parties) {
                        progressed |= each.engine.progress();
                    }
                    if (!progressed) {
                        parties[0].engine.await(PAUSE);
                    }
                });
    }

    @Override
    public void close() {
        if (rdma.state() == ContextState.STARTING || rdma.state() == ContextState.RUNNING) {
            rdma.stop();
        }
        drive("the end of the instance", () -> rdma.state() == ContextState.IDLE, this);
        rdma.close();
        mmap.stop();
        mmap.close();
        inventory.stop();
        inventory.close();
        engine.close();
        device.close();
        machine.close();
    }
}
