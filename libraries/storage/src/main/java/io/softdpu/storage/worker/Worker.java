package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.storage.WorkerReport;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the data path threads of the roles: their contexts and tasks, and what their data
 * path is made of; see the package for its phases.
 */
public abstract class Worker extends WorkerThread {
    private final long controlTimeoutNanos;
    private final ContextSet contexts = new ContextSet();
    private final WorkerStatistics statistics;
    private final DataPathLoop dataPath;
    private RetryQueue[] retryQueues = {};

    /** Operations that ended here, failed ones included. */
    protected final Counter operations;

    /** Operations that failed. */
    protected final Counter errors;

    /**
     * A worker that has not begun.
     *
     * @param role of the program, for names
     * @param slot its place
     * @param notifyControl wakes the control thread; called when a context changes its state, when
     *     the data path ends and when the worker fails
     */
    protected Worker(
            String role, WorkerSlot slot, long controlTimeoutNanos, Runnable notifyControl) {
        super(role, slot, controlTimeoutNanos, notifyControl);
        this.controlTimeoutNanos = controlTimeoutNanos;
        statistics = new WorkerStatistics(slot);
        operations = statistics.operations;
        errors = statistics.errors;
        dataPath = new DataPathLoop(this, statistics, controlTimeoutNanos);
    }

    // ---- the control thread's side

    /** Takes the worker from its configuration phase into the data path. */
    public final void startDataPath() {
        dataPath.request();
        wakeUp();
    }

    /** Whether everything that receives has been submitted. Any thread. */
    public final boolean hasDataPathBegun() {
        return dataPath.hasBegun();
    }

    /** Has the data path end once nothing is in flight. {@link #hasDataPathEnded} tells when. */
    public final void stopDataPath() {
        dataPath.stop();
        wakeUp();
    }

    /** Whether the data path has ended, or never began. Any thread. */
    public final boolean hasDataPathEnded() {
        return dataPath.hasEnded() || failure() != null;
    }

    /**
     * Has the thread end, wherever it is and whatever is in flight; what its commands made is
     * closed first. {@link #hasEnded} tells when, and the control thread is notified.
     */
    public final void beginEnd() {
        dataPath.stop();
        end();
    }

    /** What it did so far. Any thread. */
    public final WorkerReport report() {
        return statistics.report(engineOrNull());
    }

    // ---- commands: on the worker's thread

    /** Whether all contexts can do data path work. */
    public final boolean areContextsReady() {
        return contexts.areAll(ContextState.RUNNING);
    }

    /** The contexts that cannot do data path work yet, for a message; empty if all can. */
    public final String contextsNotReady() {
        return contexts.notIn(ContextState.RUNNING);
    }

    /** Whether no context is left that still has to stop. */
    public final boolean areContextsIdle() {
        return contexts.areAll(ContextState.IDLE);
    }

    /** Begins to stop all contexts; {@link #areContextsIdle} tells when that is done. */
    public final void stopContexts() {
        contexts.stop();
    }

    /** Connects a context to the engine and watches its state from now on. */
    protected final <C extends Context> C manage(C context) {
        contexts.add(context);
        context.setStateChangedCallback(this::stateChanged);
        engine().connect(context);
        return context;
    }

    /** Takes charge of a task: it is freed when its context stops, as contexts demand. */
    protected final <T extends Task> T own(T task) {
        contexts.add(task);
        return task;
    }

    /**
     * Makes a queue for tasks that each round of the data path offers again while they are refused;
     * queues in the order of their making. Before the data path begins.
     *
     * @param tasks how many there are
     */
    protected final RetryQueue retryQueue(int tasks, RetryQueue.Submission submission) {
        RetryQueue queue = new RetryQueue(tasks, submission);
        retryQueues = Arrays.copyOf(retryQueues, retryQueues.length + 1);
        retryQueues[retryQueues.length - 1] = queue;
        return queue;
    }

    /**
     * An object that a command makes.
     *
     * @throws DpuException BAD_STATE where that command has not come yet
     */
    protected static <T> T present(@Nullable T object) {
        if (object == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "worker's objects were not made: reason=wrong order of commands");
        }
        return object;
    }

    // ---- the data path

    /** Submits what receives; called once, as the data path begins. */
    protected abstract void beginDataPath();

    /** Whether the data path is to go on: nothing new is begun once it is not. */
    protected final boolean isRunning() {
        return dataPath.isRunning();
    }

    /** How many transactions are in flight: the data path does not end before there are none. */
    protected abstract int inFlight();

    /**
     * Whether all that this round waits for is one message, of a peer that has nothing else to do;
     * see {@link ProgressEngine#awaitSoon}.
     */
    protected boolean expectsMessageSoon() {
        return false;
    }

    /** Called in each round of the data path; for work that comes from the control thread. */
    protected void eachRound() {}

    /** How long a round may sleep where nothing wakes it, in nanoseconds. */
    protected long longestWaitNanos() {
        return IDLE_WAIT_NANOS;
    }

    /** Releases bufs, memory and the like; all contexts are closed. Called once, and last. */
    protected abstract void releaseObjects();

    /** Whether something waits for room in a queue. */
    protected final boolean hasRefused() {
        for (RetryQueue queue : retryQueues) {
            if (!queue.isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** Offers again what queues had no room for. */
    final void retryRefused() {
        for (RetryQueue queue : retryQueues) {
            queue.retry();
        }
    }

    /** Whether tasks end because their context was told to stop. */
    protected final boolean isStopping() {
        return contexts.isStopping();
    }

    /**
     * Whether a task was taken by its queue.
     *
     * @param what what failed otherwise, for the message
     * @return false where the queue is full; any other refusal ends the data path
     */
    protected final boolean isTaken(Status status, String what) {
        if (status == Status.AGAIN) {
            return false;
        }
        requireTaken(status, what);
        return true;
    }

    /** Ends the data path if a task was refused for which its queue must have room. */
    protected final void requireTaken(Status status, String what) {
        if (status != Status.SUCCESS) {
            taskFailed(what, status);
        }
    }

    /** Ends the data path because a task failed that must not. */
    protected final void taskFailed(String what, Status status) {
        if (contexts.isStopping()) {
            return;
        }
        fail(new DpuException(toPeerLoss(status), what + ": " + name() + ", status=" + status));
    }

    /**
     * What a flush after a fatal error says of this side is, for the session, the loss of the peer;
     * and so is a consumer that was there and is not found any more.
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
    final void engineMade(ProgressEngine created) {
        dataPath.prepare(created);
    }

    @Override
    final boolean configurationRound() {
        contexts.freeTasks();
        if (!dataPath.isPending()) {
            return false;
        }
        dataPath.run(engine());
        // No wait after it: its rounds may have taken the wake-up of a command.
        return true;
    }

    @Override
    final void takeDown(ProgressEngine present) {
        attempt(() -> stopContextsAndAwait(present));
        attempt(contexts::close);
        attempt(this::releaseObjects);
    }

    private void stopContextsAndAwait(ProgressEngine present) {
        if (!areContextsIdle()) {
            stopContexts();
        }
        // Each context gives up its peer after the control timeout, and is idle soon after that.
        Deadline deadline = Deadline.in(2 * controlTimeoutNanos);
        while (!areContextsIdle() && !deadline.hasPassed()) {
            contexts.freeTasks();
            // Goes on whatever a callback throws: there is more to be given back.
            attempt(() -> present.await(deadline.remainingNanos()));
        }
    }
}
