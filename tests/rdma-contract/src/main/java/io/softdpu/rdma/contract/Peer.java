package io.softdpu.rdma.contract;

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
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.Await;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One side of a test: machine, device, engine, memory, and an RDMA instance whose callbacks record
 * the result of each task, free it, and release its bufs. Belongs to the thread that opened it.
 */
final class Peer implements AutoCloseable {
    /** Deadline far beyond the duration of any step, also on a busy machine. */
    static final long DEADLINE_NANOS = 20_000_000_000L;

    /** All permissions of RDMA peers and local tasks. */
    static final Permissions ALL =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE);

    static final long MEMORY_BYTES = 4 << 20;

    private static final int TASKS = 512;
    private static final Duration BUS = Duration.ofMillis(1);

    /** Result of a task. */
    record Outcome(
            String kind,
            Status status,
            long length,
            long userData,
            @Nullable RdmaConnection connection) {}

    final Machine machine;
    final Device device;
    final ProgressEngine engine = ProgressEngine.create();
    final SharedMemory memory;
    final MemorySegment bytes;
    final Mmap mmap = Mmap.create();
    final BufInventory inventory = BufInventory.create(4 * TASKS);
    final Rdma rdma;
    final Deque<Outcome> outcomes = new ArrayDeque<>();
    final List<ContextState> states = new ArrayList<>();
    final List<RdmaConnection.State> connectionStates = new ArrayList<>();
    private final List<AutoCloseable> extras = new ArrayList<>();

    private Peer(
            RdmaTestEnvironment site,
            Path folder,
            Side side,
            Permissions ofMmap,
            Consumer<Rdma> configure) {
        machine = site.openMachine(folder, side);
        device = machine.findDevice(site.device(side)).open();
        memory = SharedMemory.allocate(MEMORY_BYTES);
        bytes = memory.segment();
        mmap.setMemory(memory).setPermissions(ofMmap).addDevice(device).start();
        inventory.start();
        rdma = Rdma.create(device);
        rdma.setPermissions(
                Permissions.of(
                        AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC));
        rdma.setSendQueueSize(TASKS);
        rdma.setSendTasks(TASKS, this::sent, this::sent);
        rdma.setReceiveTasks(TASKS, this::received, this::received);
        rdma.setReadTasks(TASKS, this::read, this::read);
        rdma.setWriteTasks(TASKS, this::written, this::written);
        rdma.setStateChangedCallback((context, previous, next) -> states.add(next));
        rdma.setConnectionCallback((connection, previous, next) -> connectionStates.add(next));
        configure.accept(rdma);
        engine.connect(rdma);
    }

    static Peer open(RdmaTestEnvironment site, Path folder, Side side) {
        return open(site, folder, side, ALL, rdma -> {});
    }

    static Peer open(
            RdmaTestEnvironment site,
            Path folder,
            Side side,
            Permissions ofMmap,
            Consumer<Rdma> configure) {
        return new Peer(site, folder, side, ofMmap, configure);
    }

    // ---- connecting ----

    /** Starts and connects both peers, progressing both engines on this thread. */
    static RdmaConnection[] connect(Peer near, Peer far) {
        near.start();
        far.start();
        return connectMore(near, far);
    }

    /** Another connection between two started peers. */
    static RdmaConnection[] connectMore(Peer near, Peer far) {
        RdmaConnection here = near.rdma.exportConnection();
        RdmaConnection there = far.rdma.exportConnection();
        near.rdma.connect(there.blob(), here);
        far.rdma.connect(here.blob(), there);
        drive(
                "connection",
                () ->
                        here.state() == RdmaConnection.State.CONNECTED
                                && there.state() == RdmaConnection.State.CONNECTED,
                near,
                far);
        return new RdmaConnection[] {here, there};
    }

    void start() {
        if (rdma.state() == ContextState.IDLE) {
            rdma.start();
        }
    }

    // ---- driving ----

    static void drive(String what, BooleanSupplier condition, Peer... peers) {
        Await.byStep(
                what,
                DEADLINE_NANOS,
                condition,
                () -> {
                    boolean progressed = false;
                    for (Peer peer : peers) {
                        progressed |= peer.engine.progress();
                    }
                    if (!progressed) {
                        peers[0].engine.await(BUS); // only the bus can bring something now
                    }
                });
    }

    /** The next outcome of this peer, driving the others too. */
    Outcome next(Peer... others) {
        Peer[] all = new Peer[others.length + 1];
        all[0] = this;
        System.arraycopy(others, 0, all, 1, others.length);
        drive("a task ends", () -> !outcomes.isEmpty(), all);
        return outcomes.remove();
    }

    // ---- bytes and bufs ----

    /** Fills a range with bytes that depend on the offset and a seed. */
    void fill(long offset, long length, int seed) {
        for (long i = 0; i < length; i++) {
            bytes.set(ValueLayout.JAVA_BYTE, offset + i, pattern(seed, i));
        }
    }

    static byte pattern(int seed, long index) {
        return (byte) (seed * 31L + index * 7 + (index >>> 8));
    }

    /** Offset of the first difference from {@link #fill}, or -1. */
    long mismatch(long offset, long length, int seed) {
        for (long i = 0; i < length; i++) {
            if (bytes.get(ValueLayout.JAVA_BYTE, offset + i) != pattern(seed, i)) {
                return i;
            }
        }
        return -1;
    }

    Buf data(long offset, long length) {
        return inventory.bufByData(mmap, offset, length);
    }

    Buf room(long offset, long length) {
        return inventory.bufByAddress(mmap, offset, length);
    }

    /** This peer's import of another's mmap, closed with this peer. */
    Mmap importRdma(Peer other) {
        return importRdma(other.mmap.exportRdma(other.device));
    }

    Mmap importRdma(byte[] blob) {
        Mmap imported = Mmap.createFromExport(blob, device);
        extras.add(imported);
        return imported;
    }

    void closeLater(AutoCloseable closeable) {
        extras.add(closeable);
    }

    // ---- tasks, submitted at once ----

    Status send(RdmaConnection connection, @Nullable Buf source, long userData) {
        RdmaSendTask task = rdma.allocateSend(connection, source);
        task.setUserData(userData);
        Status submitted = task.trySubmit();
        if (submitted != Status.SUCCESS) {
            task.free();
            release(source);
        }
        return submitted;
    }

    Status receive(@Nullable Buf destination, long userData) {
        RdmaReceiveTask task = rdma.allocateReceive(destination);
        task.setUserData(userData);
        Status submitted = task.trySubmit();
        if (submitted != Status.SUCCESS) {
            task.free();
            release(destination);
        }
        return submitted;
    }

    Status read(RdmaConnection connection, Buf source, Buf destination, long userData) {
        RdmaReadTask task = rdma.allocateRead(connection, source, destination);
        task.setUserData(userData);
        Status submitted = task.trySubmit();
        if (submitted != Status.SUCCESS) {
            task.free();
            release(source);
            release(destination);
        }
        return submitted;
    }

    Status write(RdmaConnection connection, Buf source, Buf destination, long userData) {
        RdmaWriteTask task = rdma.allocateWrite(connection, source, destination);
        task.setUserData(userData);
        Status submitted = task.trySubmit();
        if (submitted != Status.SUCCESS) {
            task.free();
            release(source);
            release(destination);
        }
        return submitted;
    }

    private void sent(RdmaSendTask task) {
        note("send", task.status(), -1, task.userData(), task.connection());
        release(task.source());
        task.free();
    }

    private void received(RdmaReceiveTask task) {
        Buf destination = task.destination();
        if (task.status() == Status.SUCCESS
                && destination != null
                && destination.dataLength() < task.resultLength()) {
            throw new AssertionError("data length did not grow: " + destination);
        }
        note(
                "receive",
                task.status(),
                task.resultLength(),
                task.userData(),
                task.resultConnection());
        release(destination);
        task.free();
    }

    private void read(RdmaReadTask task) {
        note("read", task.status(), task.resultLength(), task.userData(), task.connection());
        release(task.source());
        release(task.destination());
        task.free();
    }

    private void written(RdmaWriteTask task) {
        note(
                "write",
                task.status(),
                task.destination().dataLength(),
                task.userData(),
                task.connection());
        release(task.source());
        release(task.destination());
        task.free();
    }

    private void note(
            String kind,
            Status status,
            long length,
            long userData,
            @Nullable RdmaConnection connection) {
        outcomes.add(new Outcome(kind, status, length, userData, connection));
    }

    private static void release(@Nullable Buf buf) {
        if (buf != null) {
            buf.release();
        }
    }

    // ---- the end ----

    /** Stops the instance in any state, and progresses until it is IDLE. */
    void stop() {
        if (rdma.state() == ContextState.STARTING || rdma.state() == ContextState.RUNNING) {
            rdma.stop();
        }
        drive("IDLE", () -> rdma.state() == ContextState.IDLE, this);
    }

    @Override
    public void close() {
        stop();
        rdma.close();
        engine.close();
        inventory.close();
        for (AutoCloseable extra : extras) {
            try {
                extra.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        if (mmap.state() == Mmap.State.STARTED) {
            mmap.stop();
        }
        mmap.close();
        memory.close();
        device.close();
        machine.close();
    }
}
