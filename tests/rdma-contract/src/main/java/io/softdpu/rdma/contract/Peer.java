package io.softdpu.rdma.contract;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCompareAndSwapTask;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaFetchAndAddTask;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaRemoteSyncEventGetTask;
import io.softdpu.rdma.RdmaRemoteSyncEventNotifyAddTask;
import io.softdpu.rdma.RdmaRemoteSyncEventNotifySetTask;
import io.softdpu.rdma.RdmaSendImmediateTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaWriteImmediateTask;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
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

    /** All permissions of RDMA peers and local tasks. */
    static final Permissions ALL =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE,
                    AccessFlag.RDMA_READ,
                    AccessFlag.RDMA_WRITE,
                    AccessFlag.RDMA_ATOMIC);

    static final long MEMORY_BYTES = 4 << 20;

    private static final int TASKS = 512;

    /** After so many bytes {@link #pattern} begins again. */
    private static final int PATTERN_PERIOD = 1 << 16;

    private static final Duration BUS = Duration.ofMillis(1);

    /** Result of a task. */
    record Outcome(
            String kind,
            Status status,
            long length,
            long userData,
            @Nullable RdmaConnection connection,
            int immediate) {
        /** A result without an immediate value. */
        Outcome(
                String kind,
                Status status,
                long length,
                long userData,
                @Nullable RdmaConnection connection) {
            this(kind, status, length, userData, connection, 0);
        }
    }

    private final RdmaTestEnvironment site;
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
        this.site = site;
        machine = site.openMachine(folder, side);
        device = machine.findDevice(site.device(side)).open();
        memory = SharedMemory.allocate(MEMORY_BYTES);
        bytes = memory.segment();
        mmap.setMemory(memory).setPermissions(ofMmap).addDevice(device).start();
        inventory.start();
        rdma = Rdma.create(device);
        rdma.setGidIndex(site.gidIndex());
        rdma.setPermissions(
                Permissions.of(
                        AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC));
        rdma.setSendQueueSize(TASKS);
        rdma.setSendTasks(TASKS, this::sent, this::sent);
        rdma.setReceiveTasks(TASKS, this::received, this::received);
        rdma.setReadTasks(TASKS, this::read, this::read);
        rdma.setWriteTasks(TASKS, this::written, this::written);
        rdma.setSendImmediateTasks(TASKS, this::sent, this::sent);
        rdma.setWriteImmediateTasks(TASKS, this::written, this::written);
        rdma.setCompareAndSwapTasks(TASKS, this::swapped, this::swapped);
        rdma.setFetchAndAddTasks(TASKS, this::added, this::added);
        rdma.setRemoteSyncEventGetTasks(TASKS, this::got, this::got);
        rdma.setRemoteSyncEventNotifySetTasks(TASKS, this::set, this::set);
        rdma.setRemoteSyncEventNotifyAddTasks(TASKS, this::added, this::added);
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
        near.rdma.connect(far.site.blobOf(there), here);
        far.rdma.connect(near.site.blobOf(here), there);
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

    /** Sleeps until there is work, and fails if only the deadline has ended the sleep. */
    void sleep() {
        long start = System.nanoTime();
        engine.await(Patience.LIMIT);
        if (System.nanoTime() - start >= Patience.DEADLINE.toNanos()) {
            throw new AssertionError("nothing has woken the engine: deadline=" + Patience.LIMIT);
        }
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
        MemorySegment patterns = patterns(seed, length);
        for (long i = 0; i < length; i += PATTERN_PERIOD) {
            long part = Math.min(PATTERN_PERIOD, length - i);
            MemorySegment.copy(patterns, 0, bytes, offset + i, part);
        }
    }

    /** As many patterns as a range of that length has different ones. */
    private static MemorySegment patterns(int seed, long length) {
        byte[] patterns = new byte[(int) Math.min(PATTERN_PERIOD, length)];
        for (int i = 0; i < patterns.length; i++) {
            patterns[i] = pattern(seed, i);
        }
        return MemorySegment.ofArray(patterns);
    }

    static byte pattern(int seed, long index) {
        return (byte) (seed * 31L + index * 7 + (index >>> 8));
    }

    /** The eight bytes at an offset, in the byte order of the processor. */
    long word(long offset) {
        return bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    /** Sets the eight bytes at an offset. */
    void setWord(long offset, long value) {
        bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
    }

    /** Offset of the first difference from {@link #fill}, or -1. */
    long mismatch(long offset, long length, int seed) {
        MemorySegment patterns = patterns(seed, length);
        for (long i = 0; i < length; i += PATTERN_PERIOD) {
            long part = Math.min(PATTERN_PERIOD, length - i);
            long at =
                    MemorySegment.mismatch(bytes, offset + i, offset + i + part, patterns, 0, part);
            if (at >= 0) {
                return i + at;
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
        Mmap imported = site.importRdma(other.mmap, other.device, device);
        extras.add(imported);
        return imported;
    }

    Mmap importRdma(byte[] blob) {
        Mmap imported = Mmap.createFromExport(blob, device);
        extras.add(imported);
        return imported;
    }

    /**
     * A sync event of this peer that an RDMA peer may use, started in synchronous mode; stopped and
     * closed with this peer.
     */
    SyncEvent event() {
        SyncEvent event =
                SyncEvent.create(device)
                        .addPublisherLocation(SyncEventLocation.REMOTE)
                        .addSubscriberLocation(SyncEventLocation.CPU)
                        .start();
        extras.add(() -> end(event));
        return event;
    }

    /** Stops and closes an event in synchronous mode, in any state. */
    static void end(SyncEvent event) {
        if (event.isStarted()) {
            event.stop();
        }
        event.close();
    }

    /** A remote event of another peer's event, closed with this peer. */
    RemoteSyncEvent remoteEvent(Peer other, SyncEvent event) {
        return remoteEvent(event.exportRdma(other.device));
    }

    RemoteSyncEvent remoteEvent(byte[] blob) {
        RemoteSyncEvent remote = RemoteSyncEvent.createFromExport(blob, device);
        extras.add(remote);
        return remote;
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

    Status sendImmediate(
            RdmaConnection connection, @Nullable Buf source, int immediate, long userData) {
        RdmaSendImmediateTask task =
                rdma.allocateSendImmediate(connection, source, immediate).setUserData(userData);
        return submitted(task, source, null);
    }

    Status writeImmediate(
            RdmaConnection connection, Buf source, Buf destination, int immediate, long userData) {
        RdmaWriteImmediateTask task =
                rdma.allocateWriteImmediate(connection, source, destination, immediate)
                        .setUserData(userData);
        return submitted(task, source, destination);
    }

    Status compareAndSwap(
            RdmaConnection connection,
            Buf destination,
            Buf result,
            long compareData,
            long swapData,
            long userData) {
        RdmaCompareAndSwapTask task =
                rdma.allocateCompareAndSwap(connection, destination, result, compareData, swapData)
                        .setUserData(userData);
        return submitted(task, destination, result);
    }

    Status fetchAndAdd(
            RdmaConnection connection, Buf destination, Buf result, long addData, long userData) {
        RdmaFetchAndAddTask task =
                rdma.allocateFetchAndAdd(connection, destination, result, addData)
                        .setUserData(userData);
        return submitted(task, destination, result);
    }

    Status getEvent(
            RdmaConnection connection, RemoteSyncEvent event, Buf destination, long userData) {
        return submitted(
                rdma.allocateRemoteSyncEventGet(connection, event, destination)
                        .setUserData(userData),
                destination,
                null);
    }

    Status setEvent(RdmaConnection connection, RemoteSyncEvent event, Buf source, long userData) {
        return submitted(
                rdma.allocateRemoteSyncEventNotifySet(connection, event, source)
                        .setUserData(userData),
                source,
                null);
    }

    Status addEvent(
            RdmaConnection connection,
            RemoteSyncEvent event,
            Buf result,
            long addData,
            long userData) {
        return submitted(
                rdma.allocateRemoteSyncEventNotifyAdd(connection, event, result, addData)
                        .setUserData(userData),
                result,
                null);
    }

    /** Submits a task; a refused one is freed, and its bufs are released. */
    private static Status submitted(Task task, @Nullable Buf one, @Nullable Buf other) {
        Status status = task.trySubmit();
        if (status != Status.SUCCESS) {
            task.free();
            release(one);
            release(other);
        }
        return status;
    }

    private void sent(RdmaSendImmediateTask task) {
        note("send immediate", task.status(), -1, task.userData(), task.connection());
        release(task.source());
        task.free();
    }

    private void written(RdmaWriteImmediateTask task) {
        note(
                "write immediate",
                task.status(),
                task.destination().dataLength(),
                task.userData(),
                task.connection());
        release(task.source());
        release(task.destination());
        task.free();
    }

    private void swapped(RdmaCompareAndSwapTask task) {
        note(
                "compare and swap",
                task.status(),
                task.result().dataLength(),
                task.userData(),
                task.connection());
        release(task.destination());
        release(task.result());
        task.free();
    }

    private void added(RdmaFetchAndAddTask task) {
        note(
                "fetch and add",
                task.status(),
                task.result().dataLength(),
                task.userData(),
                task.connection());
        release(task.destination());
        release(task.result());
        task.free();
    }

    private void got(RdmaRemoteSyncEventGetTask task) {
        note("get", task.status(), task.resultLength(), task.userData(), task.connection());
        release(task.destination());
        task.free();
    }

    private void set(RdmaRemoteSyncEventNotifySetTask task) {
        note("set", task.status(), -1, task.userData(), task.connection());
        release(task.source());
        task.free();
    }

    private void added(RdmaRemoteSyncEventNotifyAddTask task) {
        note("add", task.status(), task.result().dataLength(), task.userData(), task.connection());
        release(task.result());
        task.free();
    }

    private void sent(RdmaSendTask task) {
        note("send", task.status(), -1, task.userData(), task.connection());
        release(task.source());
        task.free();
    }

    private void received(RdmaReceiveTask task) {
        Buf destination = task.destination();
        if (task.status() == Status.SUCCESS
                && task.resultOpcode() != RdmaOpcode.WRITE_IMMEDIATE
                && destination != null
                && dataLength(destination) < task.resultLength()) {
            throw new AssertionError("data length did not grow: " + destination);
        }
        outcomes.add(
                new Outcome(
                        switch (task.resultOpcode()) {
                            case SEND -> "receive";
                            case SEND_IMMEDIATE -> "receive immediate";
                            case WRITE_IMMEDIATE -> "receive written";
                        },
                        task.status(),
                        task.resultLength(),
                        task.userData(),
                        task.resultConnection(),
                        task.resultImmediate()));
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

    private static long dataLength(Buf list) {
        long sum = 0;
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            sum += element.dataLength();
        }
        return sum;
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
