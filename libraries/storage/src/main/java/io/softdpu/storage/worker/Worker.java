package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.storage.RdmaCounters;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.wire.IoType;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the data path threads of the roles: contexts, tasks, and data path loop; see the
 * package for its phases.
 */
public abstract class Worker extends WorkerThread {
    private final long controlTimeoutNanos;
    private final ContextSet contexts = new ContextSet();
    private final WorkerStatistics statistics;
    private final DataPathLoop dataPath;
    private RetryQueue[] retryQueues = {};

    /** Its RDMA connections, once they are connected. */
    private @Nullable RdmaPair served;

    /** Failed operations. */
    protected final Counter errors;

    /**
     * Creates a worker that has not begun.
     *
     * @param role of the program, for names
     * @param slot index and CPU binding
     * @param notifyControl wakes the control thread; called when a context changes its state, when
     *     the data path ends and when the worker fails
     */
    protected Worker(
            String role, WorkerSlot slot, long controlTimeoutNanos, Runnable notifyControl) {
        super(role, slot, controlTimeoutNanos, notifyControl);
        this.controlTimeoutNanos = controlTimeoutNanos;
        statistics = new WorkerStatistics(slot);
        errors = statistics.errors;
        dataPath = new DataPathLoop(this, statistics, slot.waitMode(), controlTimeoutNanos);
    }

    // ---- the control thread's side

    /** Starts the data path. */
    public final void startDataPath() {
        dataPath.request();
        wakeUp();
    }

    /** Whether all receive tasks have been submitted. Any thread. */
    public final boolean hasDataPathBegun() {
        return dataPath.hasBegun();
    }

    /**
     * Requests the end of the data path once nothing is in flight; see {@link #hasDataPathEnded}.
     */
    public final void stopDataPath() {
        dataPath.stop();
        wakeUp();
    }

    /** Whether the data path has ended, or never began. Any thread. */
    public final boolean hasDataPathEnded() {
        return dataPath.hasEnded() || failure() != null;
    }

    /**
     * Requests the end of the thread in any phase, also with transactions in flight; it closes the
     * objects of its commands first. At its end {@link #hasEnded} is true, and the control thread
     * is notified.
     */
    public final void beginEnd() {
        dataPath.stop();
        end();
    }

    /** The current report. Any thread. */
    public final WorkerReport report() {
        return statistics.report(engineOrNull());
    }

    // ---- commands, on the worker's thread

    /** Records the provider of RDMA connections, which are connected, for the report. */
    protected final void servedBy(RdmaPair pair) {
        served = pair;
        statistics.servedBy(pair.provider(), pair.pathMtuBytes());
    }

    /** Whether all contexts are RUNNING. */
    public final boolean areContextsReady() {
        return contexts.areAll(ContextState.RUNNING);
    }

    /** The contexts that are not RUNNING, for a message; empty if all are. */
    public final String contextsNotReady() {
        return contexts.notIn(ContextState.RUNNING);
    }

    /** Whether all contexts are IDLE. */
    public final boolean areContextsIdle() {
        return contexts.areAll(ContextState.IDLE);
    }

    /** Begins to stop all contexts; see {@link #areContextsIdle}. */
    public final void stopContexts() {
        contexts.stop();
    }

    /** Connects a context to the engine and monitors its state. */
    public final <C extends Context> C manage(C context) {
        contexts.add(context);
        context.setStateChangedCallback(this::stateChanged);
        engine().connect(context);
        return context;
    }

    /** Registers a task, which is freed when its context stops. */
    public final <T extends Task> T track(T task) {
        contexts.add(task);
        return task;
    }

    /**
     * Creates a queue of submissions that each round of the data path retries; queues are retried
     * in the order of creation. Before the data path begins.
     *
     * @param tasks number of tasks
     */
    public final RetryQueue retryQueue(int tasks, RetryQueue.Submission submission) {
        RetryQueue queue = new RetryQueue(tasks, submission, statistics.refusedSubmissions);
        retryQueues = Arrays.copyOf(retryQueues, retryQueues.length + 1);
        retryQueues[retryQueues.length - 1] = queue;
        return queue;
    }

    /**
     * Returns an object that a command creates.
     *
     * @throws DpuException BAD_STATE if that command was not executed yet
     */
    protected static <T> T require(@Nullable T object) {
        if (object == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "worker's objects were not created: reason=wrong order of commands");
        }
        return object;
    }

    // ---- the data path

    /** Submits the receive tasks; called once, at the begin of the data path. */
    protected abstract void beginDataPath();

    /**
     * Counts a completed operation.
     *
     * @param type READ or WRITE; RESULT if it is neither, or not known
     * @param payloadBytes the bytes that it has moved; 0 for a failed one
     */
    protected final void completed(IoType type, long payloadBytes) {
        statistics.completed(type, payloadBytes);
    }

    /** Tasks that a full work queue refused at first. */
    protected final long refusedSubmissions() {
        return statistics.refusedSubmissions.get();
    }

    /** Called once, at the end of the data path, however it ended. */
    protected void endDataPath() {}

    /** Whether new transactions may be started. */
    protected final boolean isRunning() {
        return dataPath.isRunning();
    }

    /** Number of transactions in flight; the data path ends when it is 0. */
    protected abstract int inFlight();

    /** Called in each round of the data path; for work of the control thread. */
    protected void onRound() {}

    /**
     * Progresses the engine, and sleeps if it has no work: until an event, until work of the worker
     * itself is due, or for a second. Not called with {@link io.softdpu.storage.WaitMode#BUSY}.
     *
     * @param longest the longest sleep
     */
    protected void awaitWork(ProgressEngine engine, Duration longest) {
        engine.await(shorter(longest, IDLE_WAIT));
    }

    /** The shorter one; allocates nothing. */
    protected static Duration shorter(Duration first, Duration second) {
        return first.compareTo(second) < 0 ? first : second;
    }

    /** Releases bufs and memory, after all contexts were closed. Called once. */
    protected abstract void releaseObjects();

    /** What the provider of its RDMA connections has counted; at the end of the data path. */
    final RdmaCounters rdmaCounters() {
        RdmaPair pair = served;
        return pair == null ? RdmaCounters.NONE : pair.counters();
    }

    /** Retries rejected submissions. */
    final void retryPending() {
        for (RetryQueue queue : retryQueues) {
            queue.retry();
        }
    }

    /** Whether tasks fail because their contexts are being stopped. */
    public final boolean isStopping() {
        return contexts.isStopping();
    }

    /**
     * Checks the status of a submission.
     *
     * @param what description of a failure, for the message
     * @return false if the work queue is full; any other failure ends the data path
     */
    protected final boolean isAccepted(Status status, String what) {
        if (status == Status.AGAIN) {
            return false;
        }
        requireAccepted(status, what);
        return true;
    }

    /** Ends the data path if a submission failed whose work queue cannot be full. */
    protected final void requireAccepted(Status status, String what) {
        if (status != Status.SUCCESS) {
            taskFailed(what, status);
        }
    }

    /** Ends the data path because of a failed task. */
    protected final void taskFailed(String what, Status status) {
        if (contexts.isStopping()) {
            return;
        }
        fail(new DpuException(toPeerLoss(status), what + ": " + name() + ", status=" + status));
    }

    /**
     * Maps statuses of a flush after a fatal error, and of a consumer that has expired, to
     * CONNECTION_RESET: for the session they mean the loss of the peer.
     */
    private static Status toPeerLoss(Status status) {
        return switch (status) {
            case CONNECTION_ABORTED, NOT_CONNECTED, NOT_FOUND, SHUTDOWN -> Status.CONNECTION_RESET;
            default -> status;
        };
    }

    private void stateChanged(Context context, ContextState previous, ContextState next) {
        if (next == ContextState.STOPPING && !contexts.isStopping()) {
            DpuException reason = context.failure();
            fail(
                    new DpuException(
                            reason == null ? Status.UNEXPECTED : toPeerLoss(reason.status()),
                            "context stopped by itself: "
                                    + name()
                                    + ", context="
                                    + context
                                    + ", reason="
                                    + (reason == null ? "unknown" : reason.getMessage()),
                            reason));
        }
        notifyControl();
    }

    // ---- phases

    @Override
    final boolean configurationRound() {
        contexts.freeTasks();
        if (!dataPath.isPending()) {
            return false;
        }
        dataPath.run(engine());
        // No wait after it: its rounds may have consumed the wake-up of a command.
        return true;
    }

    @Override
    final void tearDown(ProgressEngine present) {
        attempt(() -> stopContextsAndAwait(present));
        attempt(contexts::close);
        attempt(this::releaseObjects);
    }

    private void stopContextsAndAwait(ProgressEngine present) {
        if (!areContextsIdle()) {
            stopContexts();
        }
        // Each context stops waiting for its peer after the control timeout, and is idle soon
        // after.
        Deadline deadline = Deadline.in(Duration.ofNanos(2 * controlTimeoutNanos));
        while (!areContextsIdle() && !deadline.hasPassed()) {
            contexts.freeTasks();
            // Continues after exceptions of callbacks, since other resources have to be released.
            attempt(() -> present.await(deadline));
        }
    }
}
