package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Interrupts;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The {@link ComchStream} context: finds the peer's consumer, and starts and stops the two halves
 * in order. A producer and a consumer on the same engine do the work; this context has none of its
 * own while it is RUNNING.
 */
final class StreamContext extends ContextBase<ComchStream> implements ComchStream {
    private static final System.Logger LOG = System.getLogger(ComchStream.class.getName());
    private static final long DEFAULT_BUFFER_BYTES = 64 << 10;
    private static final int DEFAULT_BUFFERS = 16;

    /**
     * Part of the control timeout that the peer has to release the buffers if delivering has taken
     * all of it: a close() that drives the engine waits for little longer than that timeout.
     */
    private static final int RELEASE_PART = 10;

    private enum Phase {
        /** STARTING and RUNNING. */
        OPEN,
        /** STOPPING: what was sent waits for buffers of the peer. */
        DELIVERING,
        /** STOPPING: both halves end, and the peer's. */
        ENDING
    }

    private final ComchConnection connection;

    /** Null for a connection that was not established. */
    private final @Nullable ConsumerRegistry registry;

    private final AtomicBoolean peersPosted = new AtomicBoolean();
    private long bufferBytes;
    private int sendCount;
    private int receiveCount;
    private @Nullable ComchStreamCallback readyCallback;
    private @Nullable StreamSends sends;
    private @Nullable StreamReceives receives;

    /** Only ends the engine's sleep: {@link #onStop} compares the time itself. */
    private @Nullable EngineTimer endTimer;

    private Phase phase = Phase.OPEN;
    private long deadlineNanos;

    /** Messages of the last run that have not reached the peer. */
    private long undelivered;

    /** The peer's consumer; 0 until RUNNING. */
    private int peerConsumer;

    /** Whether the peer's consumer has ended. */
    private boolean peerEnded;

    /** Whether the peer has stopped, and this side takes what has arrived before it does. */
    private boolean drains;

    /** Whether something has happened that the next pass handles. */
    private boolean passRequested;

    StreamContext(ComchConnection connection, @Nullable ConsumerRegistry registry) {
        super("comch stream", connection.toString(), connection.endpoint().device());
        this.connection = connection;
        this.registry = registry;
        ComchCapabilities capabilities = connection.context().capabilities();
        bufferBytes = Math.min(DEFAULT_BUFFER_BYTES, maxBufferBytes(capabilities));
        sendCount = Math.min(DEFAULT_BUFFERS, capabilities.maxProducerTasks());
        receiveCount = Math.min(DEFAULT_BUFFERS, capabilities.maxConsumerTasks());
    }

    private static long maxBufferBytes(ComchCapabilities capabilities) {
        return Math.min(
                capabilities.maxProducerBufferBytes(), capabilities.maxConsumerBufferBytes());
    }

    // ---- configuration ----

    @Override
    public ComchStream setBufferBytes(long sizeBytes) {
        requireConfigurable();
        long limit = maxBufferBytes(connection.context().capabilities());
        if (sizeBytes < 1 || sizeBytes > limit) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "out of range: bufferSizeBytes=%d, expected=1 to %d",
                            sizeBytes, limit));
        }
        bufferBytes = sizeBytes;
        return this;
    }

    @Override
    public long bufferBytes() {
        return bufferBytes;
    }

    @Override
    public ComchStream setSendBuffers(int count) {
        requireConfigurable();
        EndpointContext.requireRange(
                "sendBuffers", count, connection.context().capabilities().maxProducerTasks());
        sendCount = count;
        return this;
    }

    @Override
    public int sendBuffers() {
        return sendCount;
    }

    @Override
    public ComchStream setReceiveBuffers(int count) {
        requireConfigurable();
        EndpointContext.requireRange(
                "receiveBuffers", count, connection.context().capabilities().maxConsumerTasks());
        receiveCount = count;
        return this;
    }

    @Override
    public int receiveBuffers() {
        return receiveCount;
    }

    @Override
    public ComchStream setReadyCallback(@Nullable ComchStreamCallback callback) {
        requireConfigurable();
        readyCallback = callback;
        return this;
    }

    @Override
    public ComchConnection connection() {
        return connection;
    }

    // ---- use ----

    @Override
    public @Nullable ComchSendBuffer tryClaim() {
        requireOwnerThread();
        return sends != null && takesTasks() && !drains ? sends.claim() : null;
    }

    @Override
    public ComchSendBuffer claim(Duration timeout) {
        requireOwnerThread();
        long timeoutNanos = Arguments.nanos(timeout, "timeout");
        requireStarted(sends, "claim");
        ComchSendBuffer free = tryClaim();
        if (free == null) { // only a wait reads the clock
            long begin = System.nanoTime();
            boolean late = false;
            while ((free = tryClaim()) == null) {
                requireNoEnd();
                if (late) {
                    throw noSendBuffer(timeoutNanos);
                }
                late = awaitEvent("claim", "a free send buffer", begin, timeoutNanos);
            }
        }
        return free;
    }

    @Override
    public @Nullable ComchReceiveBuffer tryReceive() {
        requireOwnerThread();
        return receives == null ? null : receives.take();
    }

    @Override
    public @Nullable ComchReceiveBuffer receive(Duration timeout) {
        requireOwnerThread();
        long timeoutNanos = Arguments.nanos(timeout, "timeout");
        requireStarted(receives, "receive");
        ComchReceiveBuffer next = tryReceive();
        if (next == null) { // only a wait reads the clock
            long begin = System.nanoTime();
            boolean late = false;
            while ((next = tryReceive()) == null && state() != ContextState.IDLE) {
                if (late) {
                    throw timeOut("no message arrived", timeoutNanos, "");
                }
                late = awaitEvent("receive", "a message", begin, timeoutNanos);
            }
            if (next == null) {
                throwFailure("receive");
            }
        }
        return next;
    }

    @Override
    public long undeliveredMessages() {
        return sends == null ? undelivered : sends.undelivered();
    }

    private void requireNoEnd() {
        ContextState state = state();
        if (state == ContextState.STARTING || state == ContextState.RUNNING) {
            return;
        }
        throwFailure("claim");
        throw new DpuException(
                Status.SHUTDOWN,
                Text.format(
                        "stream has ended: stream=%s, state=%s, expected=RUNNING", this, state));
    }

    private void throwFailure(String call) {
        DpuException failure = failure();
        if (failure != null) {
            throw new DpuException(
                    failure.status(),
                    Text.format(
                            "%s has failed: stream=%s, reason=%s",
                            call, this, failure.getMessage()),
                    failure);
        }
    }

    /** Refuses a call before the first start, and after the close of a stream without failure. */
    private void requireStarted(@Nullable Object half, String call) {
        if (half == null && state() == ContextState.IDLE) {
            throwFailure(call);
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "%s needs a stream that was started: stream=%s, state=%s,"
                                    + " expected=ProgressEngine.start first",
                            call, this, state()));
        }
    }

    /**
     * Progresses the engine until something happens; whether the timeout has passed. Allocates
     * nothing.
     *
     * @throws DpuException CONNECTION_ABORTED if the thread is interrupted and there is no work
     */
    private boolean awaitEvent(String call, String awaited, long beginNanos, long timeoutNanos) {
        // A timeout of centuries would wrap: the loop of the caller waits again.
        boolean worked =
                services().awaitUntil(beginNanos + Math.min(timeoutNanos, Long.MAX_VALUE / 2));
        if (!worked && timeoutNanos != 0 && Interrupts.isPending()) {
            throw Interrupts.ended(
                    "ComchStream." + call,
                    Text.format("awaited=%s, stream=%s, state=%s", awaited, this, state()));
        }
        return System.nanoTime() - beginNanos >= timeoutNanos;
    }

    private DpuException noSendBuffer(long timeoutNanos) {
        if (state() == ContextState.STARTING) {
            return timeOut(
                    "no send buffer is free",
                    timeoutNanos,
                    ", " + describeAwaited() + ", expected=the peer to start its stream");
        }
        StreamSends half = sending();
        int claimed = half.claimed();
        return timeOut(
                "no send buffer is free",
                timeoutNanos,
                Text.format(
                        ", sendBuffers=%d, waitingForPeer=%d, claimed=%d, expected=%s",
                        sendCount,
                        sendCount - claimed,
                        claimed,
                        claimed < sendCount
                                ? "the peer to close() received buffers"
                                : "send() or close() of claimed buffers"));
    }

    private DpuException timeOut(String reason, long timeoutNanos, String more) {
        return new DpuException(
                Status.TIME_OUT,
                Text.format(
                        "%s in time: timeoutMillis=%d, stream=%s, state=%s%s",
                        reason, timeoutNanos / 1_000_000, this, state(), more));
    }

    // ---- the context ----

    @Override
    protected void checkConfiguration() {
        // Everything has a default.
    }

    @Override
    protected ContextState onStart() {
        phase = Phase.OPEN;
        peerConsumer = 0;
        peerEnded = false;
        drains = false;
        ConsumerRegistry entered = registry;
        if (entered == null || !connection.isConnected()) {
            closeHalves();
            undelivered = 0;
            post(() -> fatal(connection.endedBeforeStream()));
            return ContextState.STARTING;
        }
        entered.enter(this);
        boolean begun = false;
        try {
            closeHalves();
            undelivered = 0;
            endTimer = services().timer(this::requestPass); // can fail, like what follows
            begin(services().engine(), entered);
            begun = true;
        } finally {
            if (!begun) {
                closeContexts();
                closeHalves();
                entered.leave(this);
            }
        }
        peersChanged();
        return ContextState.STARTING;
    }

    private void begin(ProgressEngine engine, ConsumerRegistry entered) {
        StreamReceives receiving = new StreamReceives(this, entered, receiveCount, bufferBytes);
        receives = receiving;
        StreamSends sending = new StreamSends(this, entered, sendCount, bufferBytes);
        sends = sending;
        engine.connect(receiving.consumer());
        engine.connect(sending.producer());
        try {
            receiving.consumer().start();
            sending.producer().start();
        } catch (DpuException e) {
            if (connection.isConnected()) {
                throw e;
            }
            // It has just ended, on a thread of its own; a consumer that was started ends, too.
            post(() -> fatal(connection.endedBeforeStream()));
        }
    }

    @Override
    protected boolean onProgress() {
        if (!passRequested) {
            return false;
        }
        passRequested = false;
        ContextState state = state();
        if (state == ContextState.STOPPING) {
            return true;
        }
        if (drains) {
            stopIfDrained();
        } else if (!isHalfFailed()) {
            if (state == ContextState.STARTING) {
                runIfPeerIsReady();
            } else {
                sending().offerFree();
            }
        }
        return true;
    }

    /** Fails the stream if one half has; whether it has. */
    private boolean isHalfFailed() {
        DpuException failure = receiving().consumer().failure();
        if (failure == null) {
            failure = sending().producer().failure();
        }
        if (failure != null) {
            fatal(failure);
        }
        return failure != null;
    }

    private void runIfPeerIsReady() {
        int[] peers = connection.remoteConsumers();
        if (peers.length == 1
                && receiving().consumer().state() == ContextState.RUNNING
                && sending().producer().state() == ContextState.RUNNING) {
            peerConsumer = peers[0];
            sending().open(peerConsumer);
            receiving().open();
            started();
        }
    }

    @Override
    protected boolean onStop() {
        if (!isProgressing()) {
            return false;
        }
        if (sends == null) { // started on a connection that had ended
            return true;
        }
        if (phase == Phase.OPEN) {
            phase = Phase.DELIVERING;
            deadlineNanos = System.nanoTime() + connection.services().controlTimeoutNanos();
            timer().setAt(deadlineNanos);
        }
        boolean mayWait = failure() == null && System.nanoTime() - deadlineNanos < 0;
        if (phase == Phase.DELIVERING) {
            if (mayWait && !peerEnded && sending().isWaiting()) {
                return false;
            }
            phase = Phase.ENDING;
            sending().end();
            receiving().end(releaseTimeoutNanos());
        }
        if (sending().producer().state() != ContextState.IDLE
                || receiving().consumer().state() != ContextState.IDLE
                || (mayWait && peerConsumer != 0 && !peerEnded)) {
            return false;
        }
        finishStop();
        return true;
    }

    /** The rest of the control timeout, and at least a part of it. */
    private long releaseTimeoutNanos() {
        return Math.max(
                deadlineNanos - System.nanoTime(),
                connection.services().controlTimeoutNanos() / RELEASE_PART);
    }

    private void finishStop() {
        timer().cancel();
        closeContexts();
        entered().leave(this);
        if (undeliveredMessages() > 0) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "stream has stopped before the peer took all messages: undeliveredMessages={0},"
                            + " stream={1}, failure={2}",
                    undeliveredMessages(),
                    this,
                    failure() == null ? "none" : failure());
        }
    }

    @Override
    protected boolean onArm() {
        return passRequested;
    }

    @Override
    protected long stopWarningNanos() {
        return connection.services().controlTimeoutNanos();
    }

    @Override
    protected @Nullable String describeAwaited() {
        if (state() == ContextState.STARTING) {
            return "awaited=stream of the peer, peerConsumers="
                    + connection.remoteConsumers().length;
        }
        if (sends == null) { // started on a connection that had ended: nothing is awaited
            return null;
        }
        if (phase != Phase.ENDING) {
            return Text.format(
                    "awaited=receive buffers of the peer, for what was sent, waiting=%d,"
                            + " expected=the peer to progress its engine and to close() received"
                            + " buffers",
                    sending().waiting());
        }
        return Text.format(
                "awaited=end of the peer's stream, producer=%s, consumer=%s, expected=the peer to"
                        + " progress its engine, as by awaitNotification, or to end",
                sending().producer().state(), receiving().consumer().state());
    }

    @Override
    protected void onDestroy() {
        closeHalves();
    }

    // ---- from the connection's engine ----

    /** The peer's consumers have changed. */
    void peersChanged() {
        if (peersPosted.compareAndSet(false, true)) { // or a peer could fill the mailbox
            post(() -> {
                peersPosted.set(false);
                checkPeers();
            });
        }
    }

    void postFatal(DpuException reason) {
        post(() -> {
            // Work posted to a closed engine runs on the posting thread, which may not touch the
            // context; the context is IDLE then.
            if (state() != ContextState.IDLE && !drains) {
                fatal(reason);
            }
        });
    }

    private void checkPeers() {
        if (state() == ContextState.IDLE) {
            return;
        }
        requestPass();
        if (peerConsumer == 0) {
            return;
        }
        int[] peers = connection.remoteConsumers();
        boolean found = false;
        for (int peer : peers) {
            found |= peer == peerConsumer;
        }
        peerEnded = !found;
        if (state() != ContextState.RUNNING) {
            return;
        }
        if (found && peers.length > 1) {
            fatal(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "peer has other consumers beside its stream: consumers=%d, expected=1,"
                                    + " connection=%s",
                            peers.length, connection));
        } else if (!found && entered().hasEnded(peerConsumer)) {
            peerStopped();
        } // else the connection ends, which is reported next
    }

    /** The peer has stopped its stream: all of its messages are in buffers of this side. */
    private void peerStopped() {
        // At once: a consumer that fails, since the connection ends next, delivers nothing more.
        receiving().end(connection.services().controlTimeoutNanos());
        drains = true;
        stopIfDrained();
    }

    /**
     * Stops once the consumer has delivered all: one of the last may say that a message is lost.
     */
    private void stopIfDrained() {
        if (sending().isWaiting()) {
            fatal(
                    Status.SHUTDOWN,
                    "peer has stopped its stream before it took all messages: connection="
                            + connection);
        } else if (receiving().consumer().state() == ContextState.IDLE) {
            stop();
        }
    }

    // ---- for both halves ----

    /** Makes the next pass look for changes. */
    void requestPass() {
        passRequested = true;
    }

    /** The program has returned a buffer after it has found none: the next pass offers it. */
    void bufferFreed() {
        requestPass();
        workAdded();
    }

    boolean isStopping() {
        return state() == ContextState.STOPPING;
    }

    void requireThread() {
        requireOwnerThread();
    }

    void requireRunning(String call) {
        requireState(ContextState.RUNNING, call);
    }

    /** The peer has given up a message that it could not send. */
    void messageLost() {
        fatal(
                Status.IO_FAILED,
                Text.format(
                        "peer has given up a message: connection=%s, bufferSizeBytes=%d,"
                                + " expected=the same buffer size on both sides",
                        connection, bufferBytes));
    }

    void failed(Status status, String reason) {
        fatal(status, reason);
    }

    /** Calls the user. Inside progress. */
    void ready() {
        if (readyCallback != null) {
            try {
                readyCallback.onReady(this);
            } catch (Throwable e) {
                callbackFailed(e);
            }
        }
    }

    /**
     * Reports that the memory of a buffer cannot end with its use; null without a sanitizer, where
     * it does not end.
     */
    @Nullable Runnable memoryMisused() {
        return isSanitized()
                ? () ->
                        bufMisused(
                                "memory of a buffer is accessed while the program's use of it ends:"
                                        + " stream="
                                        + this
                                        + ", expected=the end of each access before send(),"
                                        + " close() or the end of the stream")
                : null;
    }

    // ---- private ----

    private StreamSends sending() {
        return Objects.requireNonNull(sends, "made at start");
    }

    private StreamReceives receiving() {
        return Objects.requireNonNull(receives, "made at start");
    }

    private ConsumerRegistry entered() {
        return Objects.requireNonNull(registry, "was entered at start");
    }

    private EngineTimer timer() {
        return Objects.requireNonNull(endTimer, "made at start");
    }

    /** Closes the producer and the consumer, which are IDLE. */
    private void closeContexts() {
        if (sends != null) {
            sends.producer().close();
        }
        if (receives != null) {
            receives.consumer().close();
        }
    }

    /** Releases the memory: messages that were not taken are lost. */
    private void closeHalves() {
        if (sends != null) {
            undelivered = sends.undelivered();
            sends.close();
            sends = null;
        }
        if (receives != null) {
            receives.close();
            receives = null;
        }
    }
}
