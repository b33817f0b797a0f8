package io.softdpu.rdma.roce.nic;

import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.memory.AccessBatches;
import io.softdpu.linux.Errno;
import io.softdpu.linux.ReceivedDatagrams;
import io.softdpu.linux.ReceivedErrors;
import io.softdpu.linux.UdpSocket;
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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Loop of a NIC: receives packets by batches, takes the requests of the engines, and sends.
 *
 * <p>One thread at a time does so, the {@linkplain Ownership owner}: programs that poll, by {@link
 * #drive} a batch at a time, or else the thread of the NIC. That {@linkplain NicSleep sleeps} while
 * there is nothing to do, until a packet, a deadline or a task wakes it. While programs drive, it
 * leaves the packets to them.
 *
 * <p>All fields that are not said to be others' belong to the owner. Allocates nothing per packet
 * and request.
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

    /** Packets that a program sends in a pass: as many as it receives at most. */
    private static final int PACKETS_PER_PROGRAM = RECEIVED_AT_ONCE;

    /** Passes that a program makes for others, which publish while it drives. */
    private static final int PASSES_PER_PROGRAM = 4;

    /** Requests that are taken in a pass: the queues of all connections may be full. */
    static final int REQUESTS_PER_PASS = 1024;

    /**
     * Requests that the packets of a pass complete, beside those of the last one: each packet may
     * end a connection whose queue is full.
     */
    static final int COMPLETIONS_PER_PASS = 1024;

    /** Deadlines that are served in a pass: peers can bring many connections to theirs at once. */
    private static final int EXPIRED_PER_PASS = 64;

    /** Passes at the end, after which nothing more is sent. */
    private static final int LAST_PASSES = 1000;

    private static final int MAX_PIECES = 64;

    /**
     * An address may take as many places as it leaves: those of three machines with 250 clients
     * each that start at once are enough.
     */
    private static final int MAX_REQUESTS = 1 << 10;

    private static final int MAX_CONNECTIONS = 1 << 12;
    private static final int MAX_QUEUE_PAIRS = 1 << 14;
    private static final int MAX_DATAGRAMS = 1 << 10;

    private static final long MILLI = 1_000_000;

    /** Between two repeats of a message of connection management. */
    private static final long LONGEST_REPEAT_NANOS = 500 * MILLI;

    /** Of {@link NicOptions#ackTimeout}. */
    private static final long TIME_UNIT_NANOS = 4096;

    static final CmLimits CM_LIMITS =
            new CmLimits(
                    MAX_REQUESTS,
                    MAX_CONNECTIONS,
                    20 * MILLI,
                    LONGEST_REPEAT_NANOS,
                    20_000 * MILLI,
                    2_000 * MILLI,
                    1_000 * MILLI);

    private final Gid gid;
    private final RecentInterface network;
    private final UdpSocket socket;
    private final ReceivedDatagrams received;
    private final MemorySegment receivedMemory;
    private final ByteBuffer receivedView;
    private final ReceivedErrors errors;

    /** Of all packets; null without a capture. */
    private final @Nullable Recorder recorder;

    private final SendFailures sendFailures;
    private final SocketSink sink;

    /** Between the adapter and that; null without an impairment. */
    private final @Nullable ImpairedSink impaired;

    private final Adapter adapter;
    private final ConnectionManager manager;
    private final AccessBatches batches;
    private final Copier copier = new Copier();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Ownership ownership = new Ownership();

    /** Changed by the thread as the owner, so that it may also look at them without. */
    private final List<NicEndpoint> endpoints;

    /** Of the thread. */
    private final NicSleep sleep;

    /** Time of the pass under way. */
    private long now;

    /** Of the packets that were received last, their number and that of those which are handled. */
    private int receivedCount;

    private int handled;

    /** Requests that were completed since the pass began to handle packets. */
    private int completed;

    /** Whether an engine could not be woken: the next turn does that again. */
    private boolean isWakeLeft;

    private long failures;
    private long tooLong;

    /** Place of the endpoint whose requests were taken last. */
    private int lastTaken;

    private volatile boolean stopping;
    private volatile boolean ended;

    /**
     * A loop that does not run yet; it owns the socket.
     *
     * @param gid with the socket's port
     */
    NicLoop(Gid gid, UdpSocket socket, NicOptions options, RandomGenerator random) {
        List<NicEndpoint> none = new ArrayList<>();
        this(gid, socket, options, random, none, new NicSleep(none));
    }

    /** One with another sleep, beside the same endpoints. */
    NicLoop(
            Gid gid,
            UdpSocket socket,
            NicOptions options,
            RandomGenerator random,
            List<NicEndpoint> endpoints,
            NicSleep sleep) {
        this.endpoints = endpoints;
        this.sleep = sleep;
        this.gid = gid;
        network = new RecentInterface(gid);
        this.socket = socket;
        received = socket.newReceived(RECEIVED_AT_ONCE, Headers.MAX_PACKET_BYTES);
        receivedMemory = received.memory();
        receivedView = receivedMemory.asByteBuffer();
        errors = socket.newErrors(ERRORS_AT_ONCE, QUOTED_BYTES);
        CaptureWriter capture = options.capture();
        recorder = capture == null ? null : new Recorder(capture, gid);
        sendFailures = new SendFailures(recentNanos(options));
        sink = new SocketSink(socket, gid, recorder, sendFailures);
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
        sleep.prepare(socket.fd());
    }

    /** Twice the longest time between two repeats of a packet, or of a message. */
    private static long recentNanos(NicOptions options) {
        return 2 * Math.max(TIME_UNIT_NANOS << options.ackTimeout(), LONGEST_REPEAT_NANOS);
    }

    /** Packets that the system has refused to send. */
    SendFailures sendFailures() {
        return sendFailures;
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

    /** Has the thread run a task; once it has ended, one that is a future is cancelled. */
    void post(Runnable task) {
        tasks.add(task);
        sleep.wake();
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

    /** Ends the loop, after it has sent what waits. */
    void stop() {
        stopping = true;
        sleep.wake();
    }

    // ---- programs ----

    /**
     * Drives it for a batch, if no other thread does; otherwise what was published comes to the
     * batch of that one. The same while tasks wait, which come before packets: one that gives up a
     * connection is not overtaken by the answer that establishes it.
     *
     * <p>After the driver has armed its wake-up it leaves all that comes later to the thread. Waits
     * for no other thread, unless the buffer of a capture is full. The engine's thread, outside all
     * callbacks of the NIC.
     *
     * @param driver the endpoint of the engine
     * @param handsOver whether it has published something
     */
    void drive(NicEndpoint driver, boolean handsOver) {
        if (!tasks.isEmpty()) {
            return; // the thread is awake for them, and takes what was published behind them
        }
        boolean notes = handsOver || driver.isArmed();
        if (notes ? !ownership.acquireOrNote() : !ownership.tryAcquire()) {
            return;
        }
        boolean owned = true;
        boolean wakes = false;
        try {
            for (int passes = 1; owned; passes++) {
                wakes |= programPass(driver, passes > 1);
                owned = !ownership.release();
                if (owned && passes == PASSES_PER_PROGRAM) {
                    boolean _ = ownership.leave();
                    owned = false;
                    wakes = true; // for the rest
                }
            }
        } finally {
            if (owned) { // an error at the end of the program's stack, which may have no call left
                ownership.word = Ownership.FREE;
                wakes = true;
            }
            ownership.unparkWaiting();
            if (wakes) {
                sleep.wake();
            }
        }
    }

    /**
     * A pass of a program.
     *
     * @param forOthers whether another engine has published something in the last one
     * @return whether the thread is to wake
     */
    private boolean programPass(NicEndpoint driver, boolean forOthers) {
        try {
            boolean toSleep = driver.isArmed();
            send(driver);
            boolean _ = pass(1, toSleep ? PACKETS_PER_PROGRAM : 0, driver);
            if (!forOthers) { // once per call: one alone is no poll
                driver.driven(now);
            }
            if (toSleep || forOthers) {
                sleep.watchForSleepers();
            }
            if (!isSleepTooLong(toSleep) && !isWakeLeft) {
                return false;
            }
        } catch (RuntimeException | Error e) { // as on its thread, which has a turn then
            survived(e);
        }
        sleep.end();
        return true;
    }

    /**
     * Sends before it receives: the program sees what has come before the answers to that are sent,
     * by its next progress and with what it says itself.
     */
    private void send(NicEndpoint driver) {
        if (!hasRequests() && !hasPackets()) {
            return;
        }
        now = System.nanoTime();
        batches.begin();
        try {
            boolean _ = takeRequests();
            boolean _ = transmit(PACKETS_PER_PROGRAM);
        } finally {
            batches.end();
            wakeEngines(driver);
        }
    }

    /** Whether the thread would miss what is due; what waits for it is due now. */
    private boolean isSleepTooLong(boolean toSleep) {
        boolean recorded = recorder != null && recorder.hasPackets(); // the thread writes them
        boolean waits =
                mayTransmit() || sink.isBlocked() || recorded || hasRequests() || hasReceived();
        return sleep.isTooLong(now, waits ? now : nextDeadline(), toSleep);
    }

    // ---- its thread ----

    @Override
    public void run() {
        ownership.open(Thread.currentThread());
        try {
            while (!stopping) {
                turn();
            }
            ownership.acquire(); // without end
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

    /**
     * A turn of the thread, and the sleep behind it. A failure of the system, as for want of
     * memory, or a defect: the other connections go on.
     */
    void turn() {
        boolean failed = false;
        boolean rests = false;
        ownership.acquire();
        try {
            sleep.end();
            rests = !work();
            failed = isWakeLeft;
        } catch (RuntimeException | Error e) {
            survived(e);
            failed = true;
        }
        boolean noted = ownership.leave();
        try {
            if (rests && !noted) {
                sleep();
            } else {
                sleep.skip();
            }
        } catch (RuntimeException | Error e) {
            ownership.acquire(); // for the count; the next turn sees what a note is for
            survived(e);
            boolean _ = ownership.leave();
            failed = true;
        }
        if (failed) {
            LockSupport.parkNanos(MILLI); // it may last
        }
    }

    /** Works; whether there may be more to do. */
    private boolean work() {
        boolean worked;
        boolean leaves;
        try {
            worked = runTasks();
            // Behind the tasks: an engine that they kept from driving has armed before.
            sleep.look(System.nanoTime());
            leaves = sleep.leavesPackets();
            worked |= pass(BATCHES_PER_PASS, PACKETS_PER_PASS, null);
            // Behind what the peers have sent before they were gone.
            if (!hasReceived() && sleep.takeErrors()) {
                takeErrors();
                worked = true;
            }
        } finally {
            wakeEngines(null); // also by tasks and errors there may be news
        }
        if (stopping || isWakeLeft || !tasks.isEmpty() || (!leaves && (worked || hasWork()))) {
            return true;
        }
        sleep.plan(now, nextDeadline(), sink.isBlocked());
        return false;
    }

    /** Sleeps; what comes since the turn ends it. Does not own the word. */
    private void sleep() {
        flushCapture();
        sleep.begin();
        while (sleep.awaitEvent() && !stopping && tasks.isEmpty()) {
            flushCapture();
        }
    }

    /**
     * Writes what waits for the capture, also what programs have recorded: so these write to the
     * file only if the buffer is full before the next sleep. Needs no ownership.
     */
    private void flushCapture() {
        if (recorder != null) {
            recorder.flush();
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
                now = System.nanoTime();
                boolean _ = transmit(PACKETS_PER_PASS);
                if (impaired != null) {
                    impaired.releaseAll();
                    sink.flush();
                }
            } finally {
                batches.end();
                wakeEngines(null);
            }
            if (sink.isBlocked()) {
                sleep.awaitRoom(MILLI);
            }
        } catch (RuntimeException | Error e) {
            survived(e);
        }
    }

    private boolean hasLastWork() {
        return !tasks.isEmpty() || hasPackets();
    }

    /** Closes socket and poller; without a thread the caller's. */
    void close() {
        try {
            sleep.close();
        } finally {
            socket.close();
            if (recorder != null) {
                recorder.flush();
            }
        }
    }

    /**
     * One turn of the adapter.
     *
     * @param maxBatches limit of batches that are received
     * @param maxPackets limit of packets that are sent behind what was received
     * @param driver whose engine looks for news itself; null for none
     * @return whether any work was done
     */
    private boolean pass(int maxBatches, int maxPackets, @Nullable NicEndpoint driver) {
        if (!hasReceived()) {
            // What polls do not tell is thrown where there should be a packet.
            takeBatch(driver == null && sleep.hasPackets());
        }
        now = System.nanoTime();
        if (batches.isUnderWay()) {
            batches.end(); // an error at the end of a program's stack has left it
        }
        boolean worked = hasReceived();
        if (!worked && !hasRequests() && !hasPackets() && !isDue()) {
            return false;
        }
        batches.begin();
        try {
            receive(maxBatches);
            worked |= takeRequests();
            adapter.expire(now, EXPIRED_PER_PASS);
            worked |= maxPackets > 0 && transmit(maxPackets);
        } finally {
            batches.end();
            wakeEngines(driver); // a failure leaves them with what came before
        }
        return worked;
    }

    /** Next deadline of the adapter, or of a packet that an impairment delays. */
    private long nextDeadline() {
        long deadline = adapter.nextDeadline();
        if (impaired == null || !impaired.hasPackets() || sink.isBlocked()) {
            return deadline;
        }
        long released = impaired.nextNanos();
        boolean first = deadline == Adapter.NO_DEADLINE || released - deadline < 0;
        return first ? released : deadline;
    }

    private boolean isDue() {
        long deadline = nextDeadline();
        return deadline != Adapter.NO_DEADLINE && now - deadline >= 0;
    }

    private void wakeEngines(@Nullable NicEndpoint driver) {
        isWakeLeft = false;
        for (int i = 0; i < endpoints.size(); i++) {
            NicEndpoint each = endpoints.get(i);
            try {
                if (each == driver) {
                    each.forgetNews();
                } else {
                    each.wakeEngine();
                }
            } catch (RuntimeException | Error e) { // the others are to wake
                isWakeLeft = true;
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

    /** Whether packets were received that are not handled. */
    private boolean hasReceived() {
        return handled < receivedCount;
    }

    private void receive(int maxBatches) {
        completed = 0;
        for (int batch = 1; ; batch++) {
            while (hasReceived() && completed < COMPLETIONS_PER_PASS) {
                receive(handled++, now);
            }
            if (hasReceived() || receivedCount < RECEIVED_AT_ONCE || batch == maxBatches) {
                break;
            }
            takeBatch(false);
            now = System.nanoTime();
        }
    }

    private void takeBatch(boolean awaited) {
        handled = 0;
        receivedCount = 0; // also if it throws
        receivedCount = awaited ? socket.receive(received) : socket.poll(received);
    }

    /** A request was completed. */
    void countCompletion() {
        completed++;
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

    /** Takes some requests, from each endpoint by turns. */
    private boolean takeRequests() {
        int taken = 0;
        int count = endpoints.size();
        for (int i = 0; i < count && taken < REQUESTS_PER_PASS; i++) {
            lastTaken = lastTaken < count - 1 ? lastTaken + 1 : 0;
            taken += endpoints.get(lastTaken).takeRequests(REQUESTS_PER_PASS - taken);
        }
        return taken > 0;
    }

    private boolean transmit(int maxPackets) {
        boolean transmitted = transmitPackets(maxPackets);
        SocketSink.TooLong packet = sink.takeTooLong();
        if (packet != null) {
            endConnectionOf(packet);
        }
        return transmitted;
    }

    /**
     * Ends the connection of a packet that the interface would not take at its next repeat either.
     * Programs may not tell the reason. Looks at the interface itself, since an ICMP error that
     * anybody may send makes the next packet to any peer fail in the same way: such a packet counts
     * as lost.
     */
    private void endConnectionOf(SocketSink.TooLong packet) {
        LocalInterface own = network.recent();
        if (own == null || !own.isTooLong(packet.bytes(), gid.isIpv4())) {
            return;
        }
        String details =
                "mtuBytes="
                        + own.mtuBytes()
                        + ", interface="
                        + own.name()
                        + ", packetBytes="
                        + packet.bytes();
        manager.tooLong(packet.peer(), packet.queuePair(), details, now);
        LOG.log(
                System.Logger.Level.WARNING,
                "packet of a connection is too long for the interface: address="
                        + gid
                        + ", peer="
                        + packet.peer()
                        + ", "
                        + details);
    }

    private boolean transmitPackets(int maxPackets) {
        if (sink.isBlocked()) {
            sink.unblock();
        }
        if (impaired != null && impaired.hasPackets()) {
            impaired.release(now);
            sink.flush();
        }
        if (!mayTransmit()) {
            return false;
        }
        try {
            boolean _ = adapter.transmit(maxPackets, now);
        } finally {
            sink.flush(); // also what others have sent before a failure
        }
        return true;
    }

    /** Whether packets wait: for their turn, for room in the socket, or for the end of a delay. */
    private boolean hasPackets() {
        return adapter.isTransmitWaiting()
                || sink.isBlocked()
                || (impaired != null && impaired.hasPackets());
    }

    /** Whether packets of the adapter wait, and the next one could be sent. */
    private boolean mayTransmit() {
        return adapter.isTransmitWaiting()
                && !sink.isBlocked()
                && (impaired == null || impaired.isReady());
    }

    private boolean hasWork() {
        return stopping || !tasks.isEmpty() || mayTransmit() || hasRequests() || hasReceived();
    }

    private boolean hasRequests() {
        for (int i = 0; i < endpoints.size(); i++) {
            if (endpoints.get(i).hasRequests()) {
                return true;
            }
        }
        return false;
    }

    private void takeErrors() {
        int count = socket.receiveErrors(errors);
        long received = System.nanoTime();
        for (int i = 0; i < count; i++) {
            if (errors.errno(i) == Errno.ECONNREFUSED) {
                refused(i, received);
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
                        "NIC goes on after a failure: address="
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
        sendFailures.count(into);
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
