package io.softdpu.rdma.roce.nic;

import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.memory.AccessBatches;
import io.softdpu.linux.Errno;
import io.softdpu.linux.ReceivedDatagrams;
import io.softdpu.linux.ReceivedErrors;
import io.softdpu.linux.UdpSocket;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;
import io.softdpu.linux.text.Reason;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.AdapterConfig;
import io.softdpu.rdma.roce.adapter.Counter;
import io.softdpu.rdma.roce.adapter.IcrcCheck;
import io.softdpu.rdma.roce.capture.CaptureWriter;
import io.softdpu.rdma.roce.cm.CmCounter;
import io.softdpu.rdma.roce.cm.CmLimits;
import io.softdpu.rdma.roce.cm.ConnectionManager;
import io.softdpu.rdma.roce.rc.ConnectionCounter;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Loop of a NIC: receives packets by batches, takes the requests of the engines, sends, and sleeps
 * while there is nothing to do, until a packet, a deadline or an engine wakes it.
 *
 * <p>Allocates nothing per packet and request.
 */
final class NicLoop implements Runnable {
    private static final System.Logger LOG = System.getLogger(NicLoop.class.getName());

    private static final int RECEIVED_AT_ONCE = 64;
    private static final int ERRORS_AT_ONCE = 16;

    /** For a whole message of connection management. */
    private static final int QUOTED_BYTES = 512;

    /** Batches that are received before the rest of the loop has its turn. */
    private static final int BATCHES_PER_PASS = 8;

    private static final int PACKETS_PER_PASS = 512;

    /** Passes after which the errors of the socket are looked at, which else a sleep does. */
    private static final int PASSES_PER_POLL = 64;

    /** Passes at the end, after which nothing more is sent. */
    private static final int LAST_PASSES = 1000;

    private static final int MAX_PIECES = 64;
    private static final int MAX_CONNECTIONS = 1 << 12;
    private static final int MAX_QUEUE_PAIRS = 1 << 14;
    private static final int MAX_DATAGRAMS = 1 << 10;

    private static final long MILLI = 1_000_000;
    private static final CmLimits CM_LIMITS =
            new CmLimits(
                    256,
                    MAX_CONNECTIONS,
                    20 * MILLI,
                    500 * MILLI,
                    10_000 * MILLI,
                    2_000 * MILLI,
                    1_000 * MILLI);

    private final Gid gid;
    private final UdpSocket socket;
    private final ReceivedDatagrams received;
    private final MemorySegment receivedMemory;
    private final ByteBuffer receivedView;
    private final ReceivedErrors errors;

    /** Of all packets; null without a capture. */
    private final @Nullable Recorder recorder;

    private final SocketSink sink;

    /** Between the adapter and that; null without an impairment. */
    private final @Nullable ImpairedSink impaired;

    private final Adapter adapter;
    private final ConnectionManager manager;
    private final AccessBatches batches;
    private final Copier copier = new Copier();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final List<NicEndpoint> endpoints = new ArrayList<>();

    /** For its sleep; null until {@link #prepare}. */
    private @Nullable Poller poller;

    private @Nullable Registration registration;
    private boolean blocked;
    private int passes;
    private long failures;
    private long tooLong;

    private volatile boolean sleeping;
    private volatile boolean stopping;
    private volatile boolean ended;

    /**
     * A loop that does not run yet; it owns the socket.
     *
     * @param gid with the socket's port
     */
    NicLoop(Gid gid, UdpSocket socket, NicOptions options, RandomGenerator random) {
        this.gid = gid;
        this.socket = socket;
        received = socket.newReceived(RECEIVED_AT_ONCE, Headers.MAX_PACKET_BYTES);
        receivedMemory = received.memory();
        receivedView = receivedMemory.asByteBuffer();
        errors = socket.newErrors(ERRORS_AT_ONCE, QUOTED_BYTES);
        CaptureWriter capture = options.capture();
        recorder = capture == null ? null : new Recorder(capture, gid);
        sink = new SocketSink(socket, gid, recorder);
        Impairment impairment = options.impairment();
        impaired =
                impairment == null
                        ? null
                        : new ImpairedSink(impairment, gid, sink, System::nanoTime);
        batches = new AccessBatches(gid.toString());
        adapter =
                new Adapter(
                        new AdapterConfig(
                                gid,
                                random.nextInt(SequenceNumber.MAX + 1),
                                MAX_QUEUE_PAIRS,
                                MAX_DATAGRAMS,
                                Limits.defaults(MAX_PIECES)),
                        impaired == null ? sink : impaired,
                        new IcrcCheck(gid));
        manager = new ConnectionManager(adapter, CM_LIMITS, random);
    }

    /**
     * Prepares it for a thread, by which it can sleep: before, it has no descriptor but the socket.
     * Idempotent.
     *
     * @throws io.softdpu.linux.LinuxException if the process has no descriptors left
     */
    void prepare() {
        if (poller == null) {
            Poller made = new Poller();
            boolean added = false;
            try {
                registration = made.add(socket.fd(), Poller.IN, this::socketReady);
                poller = made;
                added = true;
            } finally {
                if (!added) {
                    made.close();
                }
            }
        }
    }

    private Poller poller() {
        return Objects.requireNonNull(poller, "prepared for its thread");
    }

    private Registration registration() {
        return Objects.requireNonNull(registration, "prepared for its thread");
    }

    ConnectionManager manager() {
        return manager;
    }

    AccessBatches batches() {
        return batches;
    }

    /** Copier of payload out of packets. */
    Copier copier() {
        return copier;
    }

    void add(NicEndpoint endpoint) {
        endpoints.add(endpoint);
    }

    void remove(NicEndpoint endpoint) {
        endpoints.remove(endpoint);
    }

    // ---- any thread ----

    /** Has the loop run a task; once it has ended, one that is a future is cancelled. */
    void post(Runnable task) {
        tasks.add(task);
        wakeIfAsleep();
        if (ended) {
            cancelTasks();
        }
    }

    private void cancelTasks() {
        Runnable task = tasks.poll();
        while (task != null) {
            if (task instanceof Future<?> awaited) {
                boolean _ = awaited.cancel(false);
            }
            task = tasks.poll();
        }
    }

    /** Wakes the loop, which looks again for what was published before this call. */
    void wakeIfAsleep() {
        VarHandle.fullFence();
        if (sleeping) {
            poller().wake();
        }
    }

    /** Ends the loop, after it has sent what waits. */
    void stop() {
        stopping = true;
        poller().wake();
    }

    // ---- its thread ----

    @Override
    public void run() {
        try {
            while (!stopping) {
                turn();
            }
            for (int i = 0; i < LAST_PASSES && hasLastWork(); i++) {
                lastTurn();
            }
        } finally {
            try {
                close();
            } finally {
                ended = true;
                cancelTasks();
            }
        }
    }

    /** A failure of the system, as for want of memory, or a defect: the other connections go on. */
    void turn() {
        try {
            passes++;
            if (!pass()) {
                sleep();
            }
            if (passes >= PASSES_PER_POLL) {
                poll(0);
            }
        } catch (RuntimeException | Error e) {
            survived(e);
            LockSupport.parkNanos(MILLI); // it may last
        }
    }

    /**
     * Runs the tasks that wait, and sends. It receives nothing, for peers could keep it busy, and
     * waits a short time for room in a full socket.
     */
    private void lastTurn() {
        try {
            boolean _ = runTasks();
            batches.begin();
            try {
                boolean _ = transmit(System.nanoTime());
                if (impaired != null) {
                    impaired.releaseAll();
                    sink.flush();
                }
            } finally {
                batches.end();
                wakeEngines();
            }
            if (sink.isBlocked()) {
                registration().setInterest(Poller.OUT);
                poll(MILLI);
            }
        } catch (RuntimeException | Error e) {
            survived(e);
        }
    }

    private boolean hasLastWork() {
        return !tasks.isEmpty()
                || adapter.isTransmitWaiting()
                || sink.isBlocked()
                || (impaired != null && impaired.hasPackets());
    }

    /** Closes socket and poller; without a thread the caller's. */
    void close() {
        Poller made = poller;
        try {
            if (made != null) {
                boolean _ = registration().remove();
            }
        } finally {
            try {
                if (made != null) {
                    made.close();
                }
            } finally {
                socket.close();
                if (recorder != null) {
                    recorder.flush();
                }
            }
        }
    }

    /** One turn; returns whether any work was done. */
    private boolean pass() {
        boolean worked = runTasks();
        batches.begin();
        try {
            worked |= receive();
            worked |= takeRequests();
            long now = System.nanoTime();
            adapter.expire(now);
            worked |= transmit(now);
        } finally {
            batches.end();
            wakeEngines(); // a failure leaves them with what came before
        }
        return worked;
    }

    private void wakeEngines() {
        for (int i = 0; i < endpoints.size(); i++) {
            try {
                endpoints.get(i).wakeEngine();
            } catch (RuntimeException | Error e) { // the others are to wake
                survived(e);
            }
        }
    }

    private boolean runTasks() {
        Runnable task = tasks.poll();
        boolean some = task != null;
        while (task != null) {
            try {
                task.run(); // most keep their exception for the engine that waits
            } catch (RuntimeException | Error e) {
                survived(e);
            }
            task = tasks.poll();
        }
        return some;
    }

    private boolean receive() {
        boolean some = false;
        for (int batch = 0; batch < BATCHES_PER_PASS; batch++) {
            int count = socket.poll(received);
            long now = System.nanoTime();
            for (int i = 0; i < count; i++) {
                receive(i, now);
            }
            some |= count > 0;
            if (count < RECEIVED_AT_ONCE) {
                break;
            }
        }
        return some;
    }

    private void receive(int index, long nowNanos) {
        if (received.isTruncated(index)) {
            tooLong++; // than any packet
            return;
        }
        try {
            if (recorder != null) {
                recorder.received(
                        received.sourceHigh(index),
                        received.sourceLow(index),
                        received.sourcePort(index),
                        receivedMemory,
                        receivedView,
                        received.offset(index),
                        received.length(index));
            }
            adapter.receive(
                    receivedMemory,
                    receivedView,
                    received.offset(index),
                    received.length(index),
                    received.sourceHigh(index),
                    received.sourceLow(index),
                    received.sourcePort(index),
                    received.isCongested(index),
                    nowNanos);
        } catch (RuntimeException | Error e) { // the packet is lost, and no other connection
            survived(e);
        }
    }

    private boolean takeRequests() {
        boolean some = false;
        for (int i = 0; i < endpoints.size(); i++) {
            some |= endpoints.get(i).takeRequests();
        }
        return some;
    }

    private boolean transmit(long nowNanos) {
        if (sink.isBlocked()) {
            sink.unblock();
        }
        if (impaired != null && impaired.hasPackets()) {
            impaired.release(nowNanos);
            sink.flush();
        }
        if (!mayTransmit()) {
            return false;
        }
        try {
            boolean _ = adapter.transmit(PACKETS_PER_PASS, nowNanos);
        } finally {
            sink.flush(); // also what others have sent before a failure
        }
        return true;
    }

    /** Whether packets of the adapter wait, and the next one could be sent. */
    private boolean mayTransmit() {
        return adapter.isTransmitWaiting()
                && !sink.isBlocked()
                && (impaired == null || impaired.isReady());
    }

    // ---- sleep ----

    private void sleep() {
        sleeping = true;
        VarHandle.fullFence();
        try {
            if (!hasWork()) {
                if (recorder != null) {
                    recorder.flush();
                }
                watchWritable(sink.isBlocked());
                poll(timeoutNanos());
            }
        } finally {
            sleeping = false;
        }
    }

    private void poll(long timeoutNanos) {
        passes = 0;
        int _ = poller().poll(timeoutNanos);
    }

    private boolean hasWork() {
        if (stopping || !tasks.isEmpty() || mayTransmit()) {
            return true;
        }
        for (int i = 0; i < endpoints.size(); i++) {
            if (endpoints.get(i).hasRequests()) {
                return true;
            }
        }
        return false;
    }

    /** Time until the next deadline; negative for none. */
    private long timeoutNanos() {
        long deadline = adapter.nextDeadline();
        boolean none = deadline == Adapter.NO_DEADLINE;
        if (impaired != null && impaired.hasPackets() && !sink.isBlocked()) {
            long due = impaired.nextNanos();
            deadline = none || due - deadline < 0 ? due : deadline;
            none = false;
        }
        return none ? -1 : Math.max(0, deadline - System.nanoTime());
    }

    private void watchWritable(boolean wanted) {
        if (blocked != wanted) {
            blocked = wanted;
            registration().setInterest(wanted ? Poller.IN | Poller.OUT : Poller.IN);
        }
    }

    private void socketReady(int events) {
        if ((events & Poller.ERR) != 0) {
            int count = socket.receiveErrors(errors);
            long now = System.nanoTime();
            for (int i = 0; i < count; i++) {
                if (errors.errno(i) == Errno.ECONNREFUSED) {
                    refused(i, now);
                }
            }
        }
    }

    private void refused(int index, long nowNanos) {
        try {
            adapter.refused(
                    new Gid(
                            errors.destinationHigh(index),
                            errors.destinationLow(index),
                            errors.destinationPort(index)),
                    errors.memory(),
                    errors.offset(index),
                    errors.length(index),
                    nowNanos);
        } catch (RuntimeException | Error e) { // as for packets
            survived(e);
        }
    }

    /** Counts a failure. The log has each whose number is a power of two: peers may cause many. */
    private void survived(Throwable failure) {
        failures++;
        if (Long.bitCount(failures) == 1) {
            try {
                LOG.log(
                        System.Logger.Level.ERROR,
                        "thread of a NIC goes on after a failure: address="
                                + gid
                                + ", failures="
                                + failures
                                + ", failure="
                                + Reason.of(failure),
                        failure);
            } catch (RuntimeException | Error e) { // no memory for the record either
                failures++;
            }
        }
    }

    /**
     * Adds what was counted, by name: of all connections, of the packets that belong to none, of
     * connection management, and of what is optional.
     */
    void count(Map<String, Long> into) {
        long[] totals = adapter.totals();
        int place = 0;
        for (ConnectionCounter each : ConnectionCounter.values()) {
            into.put(each.key(), totals[place++]);
        }
        for (Counter each : Counter.values()) {
            into.put(each.key(), adapter.count(each));
        }
        into.put("nic_too_long", tooLong);
        into.put("nic_not_sent", sink.dropped());
        for (CmCounter each : CmCounter.values()) {
            into.put(each.key(), manager.count(each));
        }
        if (impaired != null) {
            for (ImpairmentCounter each : ImpairmentCounter.values()) {
                into.put(each.key(), impaired.count(each));
            }
        }
        if (recorder != null) {
            recorder.count(into);
        }
    }

    /** Number of failures that were met: defects, or of the system. */
    long failures() {
        return failures;
    }
}
