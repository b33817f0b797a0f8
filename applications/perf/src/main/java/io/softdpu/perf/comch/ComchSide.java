package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.EngineTurns;
import io.softdpu.perf.pair.InactivePeer;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.pair.ResourceStack;
import io.softdpu.perf.pair.SharedLine;
import io.softdpu.perf.pair.SideDevice;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Base of both sides of a measurement: an engine, an endpoint with a connection, and what carries
 * its messages.
 *
 * <p>Belongs to the thread that makes it.
 */
abstract class ComchSide implements AutoCloseable {
    /** Name of the server. */
    static final String SERVER = "perf";

    /**
     * Timeout of stopping all contexts after {@link #abort}, while a user waits: together with what
     * {@link ComchSession} allows the other process it is less than the time that a signal waits.
     */
    static final long ABORTED_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Send tasks for the messages by which the two sides agree. */
    static final int CONTROL_TASKS = 4;

    final ComchPlan plan;
    final Device device;
    final ProgressEngine engine;
    private final EngineTurns turns;
    private final @Nullable SharedLine sharedLine;
    private final MessagePath path;
    private final ResourceStack resources = new ResourceStack();
    private final long silenceTimeoutNanos;
    private @Nullable ComchEndpoint endpoint;
    private @Nullable ComchConnection connection;
    private boolean closing;
    private long closingSince;
    private volatile @Nullable String abortReason;

    /**
     * Opens the machine and the device, and pins the calling thread if the plan names processors:
     * it stays pinned.
     *
     * @param pair the devices of both sides
     * @param silenceTimeoutNanos time limit for the next message of the peer, while one is due
     */
    ComchSide(ComchPlan plan, ComchPair pair, Path fabric, Side side, long silenceTimeoutNanos) {
        this.plan = plan;
        this.silenceTimeoutNanos = silenceTimeoutNanos;
        this.path = pathOf(plan);
        try {
            device =
                    SideDevice.open(
                            resources, side, pair, fabric, plan.importLimitBytes(), plan.cpus());
            engine = keep(ProgressEngine.create());
            turns = plan.turnsOf(engine, plan.waiting());
            sharedLine =
                    plan.isLineTimed() ? keep(new SharedLine(SharedLine.fileOf(fabric))) : null;
        } catch (RuntimeException e) {
            resources.closeAfter(e);
            throw e;
        }
    }

    /**
     * Called for each measured message that was received, before its buffer is posted again: a
     * reply is sent first.
     *
     * @param stamp the time of sending at the beginning of the message; 0 if it has none
     */
    abstract void received(long stamp);

    /** Called for each other message of the peer on the basic path. */
    abstract void receivedControl(String message);

    /** Why this side is to end; null while it is not. Any thread. */
    final @Nullable String abortReason() {
        return abortReason;
    }

    /** The line that both sides have mapped: there where {@link ComchPlan#isLineTimed}. */
    final SharedLine sharedLine() {
        return Objects.requireNonNull(sharedLine);
    }

    /** The number after the word with which a control message of the peer begins. */
    static long numberIn(String message, String word) {
        try {
            return Long.parseLong(message, word.length(), message.length(), 10);
        } catch (NumberFormatException e) {
            throw unexpected(message, word + "and a number", e);
        }
    }

    /** The error for a control message of the peer. */
    static DpuException unexpected(
            String message, String expected, @Nullable NumberFormatException cause) {
        return new DpuException(
                Status.UNEXPECTED,
                "control message of the peer is illegal: message="
                        + ForeignText.escapeAndCut(message)
                        + ", expected="
                        + expected,
                cause);
    }

    // ---- setup

    /** Configures, connects and starts the server or client. */
    final void startEndpoint(ComchEndpoint created) {
        endpoint = created;
        keep(() -> stop(created));
        // While the peer populates its memory it does not answer.
        created.setControlTimeout(Duration.ofNanos(plan.deadlineNanos() / 2));
        created.setSendTasks(CONTROL_TASKS, ComchSendTask::free, ComchSendTask::free);
        created.setMessageCallback((_, message) -> receivedBasic(message));
        path.configure(created);
        engine.connect(created);
        created.start();
    }

    /** Prepares the receipt of messages. */
    final void receive(ComchConnection over) {
        connection = over;
        path.receive(over);
    }

    /** Waits until the peer receives messages, and prepares their sending. */
    final void produce(ComchConnection over) {
        connection = over;
        path.produce(over);
    }

    private MessagePath pathOf(ComchPlan of) {
        if (of.mode() == ComchMode.CONTROL || of.mode() == ComchMode.IDLE) {
            return new BasicPath(of);
        }
        return of.isStream() ? new StreamPath(this) : new TaskPath(this);
    }

    private void receivedBasic(MemorySegment message) {
        if (plan.mode() != ComchMode.CONTROL || !BasicPath.isMeasured(message)) {
            receivedControl(StandardCharsets.UTF_8.decode(message.asByteBuffer()).toString());
        } else if (!closing) {
            plan.requireSize(message.byteSize());
            received(0);
        }
    }

    // ---- the data path

    /** As {@link MessagePath#allSent}. */
    final boolean allSent() {
        return path.allSent();
    }

    /** As {@link MessagePath#trySend}. */
    final boolean trySend(long stamp) {
        return path.trySend(stamp);
    }

    /**
     * Ends the current wait of this side with CONNECTION_ABORTED, and all later ones. Any thread.
     */
    public final void abort(String reason) {
        abortReason = reason;
        engine.wake();
    }

    /** Runs the engine once, waiting as the plan says; returns whether any work was done. */
    final boolean turn() {
        checkAbort();
        return turns.turn();
    }

    /**
     * Sleeps on the engine's event handle until there is work or the time has passed, and does the
     * work.
     */
    final void sleep(long nanos) {
        checkAbort();
        PerfWait.EVENT.turn(engine, Duration.ofNanos(nanos));
    }

    private void checkAbort() {
        String reason = abortReason;
        if (reason != null) {
            throw new DpuException(Status.CONNECTION_ABORTED, reason);
        }
    }

    /**
     * Checks, in a wait without the engine, that neither this side is to end nor the peer has.
     *
     * @throws DpuException CONNECTION_ABORTED, CONNECTION_RESET
     */
    final void checkMeanwhile() {
        checkAbort();
        engine.progress();
        checkPeer();
    }

    /** Time of {@link System#nanoTime} until which the peer may send nothing. */
    final long deadlineAfter(long nowNanos) {
        return nowNanos + silenceTimeoutNanos;
    }

    /**
     * Checks, while its next message is due, that the peer has neither ended nor been silent for
     * too long.
     *
     * @param awaited the message, for the error
     * @throws DpuException CONNECTION_RESET if the peer has ended, TIME_OUT
     */
    final void checkSilence(Supplier<String> awaited, long deadlineNanos) {
        checkPeer();
        if (System.nanoTime() - deadlineNanos > 0) {
            throw InactivePeer.of(peerName(), awaited.get(), silenceTimeoutNanos);
        }
    }

    /** The other side, for messages: its connection, or what makes one. */
    Object peerName() {
        return connection == null ? "a client of " + SERVER : connection;
    }

    /**
     * Runs the engine until a condition holds.
     *
     * @param what the condition, for the error
     * @throws DpuException CONNECTION_RESET if the peer has ended, TIME_OUT
     */
    final void until(String what, BooleanSupplier condition) {
        until(() -> what, condition);
    }

    /** As {@link #until(String, BooleanSupplier)}, with a text that is made only for the error. */
    final void until(Supplier<String> what, BooleanSupplier condition) {
        long deadline = deadlineAfter(System.nanoTime());
        while (!condition.getAsBoolean()) {
            turn();
            // Also after work, which may be no more than retries of a connect.
            if (!condition.getAsBoolean()) {
                checkSilence(what, deadline);
            }
        }
    }

    /** Throws if the peer has ended, or this side's endpoint has failed. */
    void checkPeer() {
        ComchEndpoint own = endpoint;
        DpuException failure = own == null ? null : own.failure();
        if (failure != null) {
            throw failure;
        }
        if (!isConnected()) {
            throw new DpuException(Status.CONNECTION_RESET, "peer has ended: peer=" + connection);
        }
    }

    /** Whether the connection exists, or has not been established yet. */
    final boolean isConnected() {
        return connection == null || connection.isConnected();
    }

    /** Sends a message on the control path. */
    final void sendControl(String message) {
        checkPeer();
        ComchSendTask task =
                Objects.requireNonNull(endpoint)
                        .allocateSendTask(Objects.requireNonNull(connection));
        task.setMessage(message.getBytes(StandardCharsets.UTF_8));
        Status status = task.trySubmit();
        if (status != Status.SUCCESS) {
            task.free();
            throw MessagePath.refused(status, Objects.requireNonNull(connection));
        }
    }

    // ---- closing

    /** Whether {@link #close} has begun. */
    final boolean isClosing() {
        return closing;
    }

    /** Keeps a resource, to be closed with this side before those that were kept earlier. */
    final <T extends AutoCloseable> T keep(T resource) {
        return resources.keep(resource);
    }

    /** Stops a context, within the timeout of all of them, and closes it. */
    final void stop(Context context) {
        context.stop();
        while (context.state() != ContextState.IDLE && mayWait()) {
            path.freeIdle(); // also what completes while the context stops
            engine.await(EngineTurns.TURN);
        }
        context.close();
    }

    /** Whether the timeout, which is one for all contexts together, has not passed. */
    private boolean mayWait() {
        return System.nanoTime() - closingSince
                < (abortReason == null ? plan.deadlineNanos() : ABORTED_NANOS);
    }

    /** Closes all in reverse order; the first failure is thrown after the rest was closed. */
    @Override
    public void close() {
        closing = true;
        closingSince = System.nanoTime();
        resources.close();
    }
}
