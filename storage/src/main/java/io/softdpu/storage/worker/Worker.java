package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.control.Deadline;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A data path thread; see the package for its phases. */
public abstract class Worker {
    /** How long a worker without work sleeps at most; whatever happens wakes it earlier. */
    private static final long IDLE_WAIT_NANOS = 1_000_000_000L;

    /** Delay before what a queue had no room for is offered again, where nothing else happens. */
    private static final long RETRY_WAIT_NANOS = 100_000L;

    private final System.Logger log;
    private final String role;
    private final WorkerSlot core;
    private final long controlTimeoutNanos;
    private final Runnable notifyControl;
    private final Thread thread;

    private final CommandSlot commands = new CommandSlot();
    private final Object engineLock = new Object();
    private final CountDownLatch engineReady = new CountDownLatch(1);
    private volatile @Nullable ProgressEngine engine;

    /** Ends a wait that nothing else ends, while a queue has refused something. */
    private @Nullable EngineTimer retryTimer;

    private volatile boolean ending;
    private volatile boolean ended;
    private volatile boolean startRequested;
    private volatile boolean run;
    private volatile boolean dataPathBegun;
    private volatile boolean dataPathEnded;
    private volatile @Nullable DpuException failure;
    private volatile @Nullable WorkerReport finalReport;

    private final ContextSet contexts = new ContextSet();

    /** Operations that ended here, failed ones included. */
    protected final Counter operations = new Counter();

    /** Operations that failed. */
    protected final Counter errors = new Counter();

    private long startNanos;
    private long startHits;
    private long startMisses;
    private long startAllocated;

    /**
     * A worker that has not begun.
     *
     * @param role of the program, for names
     * @param core its place
     * @param notifyControl wakes the control thread; called when a context changes its state, when
     *     the data path ends and when the worker fails
     */
    protected Worker(
            String role, WorkerSlot core, long controlTimeoutNanos, Runnable notifyControl) {
        this.role = role;
        this.core = core;
        this.controlTimeoutNanos = controlTimeoutNanos;
        this.notifyControl = notifyControl;
        this.log = System.getLogger("io.softdpu.storage." + role);
        this.thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("softdpu-" + role + "-" + core.index())
                        .unstarted(this::threadProcedure);
    }

    // ---- the control thread's side

    /**
     * Starts the thread and waits until its engine is there.
     *
     * @throws DpuException TIME_OUT, or why it could not begin; NO_MEMORY where the machine has no
     *     room for another thread
     */
    public final void start() {
        try {
            thread.start();
        } catch (OutOfMemoryError e) { // what the JVM makes of any failure here
            throw new DpuException(
                    Status.NO_MEMORY,
                    "worker's thread cannot be started: " + name() + ", reason=" + e.getMessage(),
                    e);
        }
        await(engineReady, "worker did not begin");
        throwFailure();
    }

    /**
     * Has the worker's thread do something, and waits until it is done. Not while the data path
     * runs.
     *
     * @throws DpuException what the command threw; why the worker had failed before; TIME_OUT
     */
    public final void execute(Runnable action) {
        throwFailure();
        try {
            if (commands.execute(action, controlTimeoutNanos, this::wake)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DpuException(
                    Status.CONNECTION_ABORTED, "control thread was interrupted: " + name(), e);
        }
        throwFailure();
        throw new DpuException(
                Status.TIME_OUT,
                "worker did not carry out a command: "
                        + name()
                        + ", waited_ms="
                        + controlTimeoutNanos / 1_000_000);
    }

    /** As {@link #execute}, for a command that has a result. */
    public final <T> T query(Supplier<T> question) {
        var answer =
                new Object() {
                    @Nullable T value;
                };
        execute(() -> answer.value = question.get());
        T value = answer.value;
        if (value == null) {
            throw new DpuException(Status.UNEXPECTED, "worker gave no answer: " + name());
        }
        return value;
    }

    /** Takes the worker from its configuration phase into the data path. */
    public final void startDataPath() {
        run = true;
        startRequested = true;
        wake();
    }

    /** Whether everything that receives has been submitted. Any thread. */
    public final boolean hasDataPathBegun() {
        return dataPathBegun;
    }

    /** Has the data path end once nothing is in flight. {@link #hasDataPathEnded} tells when. */
    public final void stopDataPath() {
        run = false;
        wake();
    }

    /** Whether the data path has ended, or never began. */
    public final boolean hasDataPathEnded() {
        return dataPathEnded || !startRequested || failure != null;
    }

    /** Why the worker failed, or null. Any thread. */
    public final @Nullable DpuException failure() {
        return failure;
    }

    /** Throws why the worker failed, if it did. */
    public final void throwFailure() {
        DpuException reason = failure;
        if (reason != null) {
            throw new DpuException(reason.status(), String.valueOf(reason.getMessage()), reason);
        }
    }

    /**
     * Has the thread end, wherever it is and whatever is in flight; what its commands made is
     * closed first. {@link #hasEnded} tells when, and the control thread is notified.
     */
    public final void beginEnd() {
        ending = true;
        run = false;
        wake();
    }

    /** Whether the thread has ended, or never began. */
    public final boolean hasEnded() {
        return ended || thread.getState() == Thread.State.NEW;
    }

    /** What it did so far. Any thread. */
    public final WorkerReport report() {
        WorkerReport last = finalReport;
        if (last != null) {
            return last;
        }
        ProgressEngine present = engine;
        return new WorkerReport(
                core.index(),
                core.cpu().toString(),
                operations.get(),
                errors.get(),
                0,
                0,
                present == null ? 0 : present.payloadBytesCopied(),
                present == null ? 0 : present.messageBytesCopied(),
                0,
                0);
    }

    /** Its index. */
    public final int core() {
        return core.index();
    }

    // ---- the worker's side

    /** Submits what receives; called once, as the data path begins. */
    protected abstract void beginDataPath();

    /** Whether the data path is to go on: nothing new is begun once it is not. */
    protected final boolean isRunning() {
        return run;
    }

    /** How many transactions are in flight: the data path does not end before there are none. */
    protected abstract int inFlight();

    /** Whether something waits for room in a queue. */
    protected abstract boolean hasRefused();

    /** Offers again what a queue had no room for. */
    protected abstract void retryRefused();

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

    /** The engine; on the worker's thread. */
    protected final ProgressEngine engine() {
        return present(engine);
    }

    private <T> T present(@Nullable T made) {
        if (made == null) {
            throw new DpuException(Status.BAD_STATE, "worker has not begun: " + name());
        }
        return made;
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

    /** Whether tasks end because their context was told to stop. */
    protected final boolean isStopping() {
        return contexts.isStopping();
    }

    /** Ends the data path with this reason; the first counts. */
    protected final void fail(DpuException reason) {
        if (failure == null) {
            failure = reason;
            log.log(System.Logger.Level.DEBUG, "Core: " + core.index() + " failed: " + reason);
            notifyControl.run();
        }
    }

    /** Ends the data path because a task failed that must not. */
    protected final void taskFailed(String what, Status status) {
        if (contexts.isStopping()) {
            return;
        }
        fail(new DpuException(peersEnd(status), what + ": " + name() + ", status=" + status));
    }

    /**
     * What a flush after a fatal error says of this side is, for the session, the peer's end; and
     * so is a consumer that was there and is not found any more.
     */
    private static Status peersEnd(Status status) {
        return switch (status) {
            case CONNECTION_ABORTED, NOT_CONNECTED, NOT_FOUND, SHUTDOWN -> Status.CONNECTION_RESET;
            default -> status;
        };
    }

    /** Wakes the control thread. */
    protected final void notifyControl() {
        notifyControl.run();
    }

    private void threadProcedure() {
        // Nothing may escape: an exception that ended this thread in silence would hang the others.
        try {
            ProgressEngine created = ProgressEngine.create(core.pollers(), core.cpu());
            engine = created;
            // Nothing to do in it: the round after the wait that it ends offers all again.
            retryTimer = created.timer(() -> {});
            engineReady.countDown();
            configurationPhase();
        } catch (RuntimeException | Error e) {
            fail(asDpuException(e));
        } finally {
            engineReady.countDown();
            try {
                takeDown();
            } finally {
                ended = true;
                notifyControl.run();
            }
        }
    }

    private void configurationPhase() {
        while (!ending) {
            commands.process();
            contexts.freeTasks();
            if (startRequested && !dataPathEnded) {
                dataPath();
            } else {
                // Yields for a while, then sleeps; a command, a doorbell or a state ends it. Not
                // after the data path, whose rounds may have taken the wake-up of a command.
                engine().await(IDLE_WAIT_NANOS);
            }
        }
    }

    private void dataPath() {
        log.log(System.Logger.Level.INFO, "Core: " + core.index() + " running");
        ProgressEngine engine = engine();
        startHits = engine.hits();
        startMisses = engine.misses();
        startNanos = System.nanoTime();
        startAllocated = AllocationMeter.currentThreadBytes();
        try {
            beginDataPath();
            dataPathBegun = true;
            notifyControl.run();
            while (run && failure == null) {
                round(engine, Long.MAX_VALUE);
            }
            Deadline deadline = Deadline.in(controlTimeoutNanos);
            // A session that is given up does not wait for answers: their sender may be why.
            while (failure == null && !ending && inFlight() != 0) {
                round(engine, deadline.remainingNanos());
                if (deadline.hasPassed() && inFlight() != 0) {
                    fail(
                            new DpuException(
                                    Status.TIME_OUT,
                                    "transactions did not end: "
                                            + name()
                                            + ", in_flight="
                                            + inFlight()));
                }
            }
        } catch (RuntimeException | Error e) {
            fail(asDpuException(e));
        }
        finalReport = dataPathReport(engine);
        dataPathEnded = true;
        log.log(System.Logger.Level.INFO, "Core: " + core.index() + " complete");
        notifyControl.run();
    }

    private void round(ProgressEngine engine, long waitNanos) {
        eachRound();
        if (hasRefused()) {
            retryRefused();
        }
        planRetry(present(retryTimer));
        long timeoutNanos = Math.min(waitNanos, longestWaitNanos());
        if (expectsMessageSoon()) {
            engine.awaitSoon(timeoutNanos);
        } else {
            engine.await(timeoutNanos);
        }
    }

    /** One that is set stays: while other messages come, each round has offered all again. */
    private void planRetry(EngineTimer timer) {
        if (!hasRefused()) {
            timer.cancel();
        } else if (!timer.isSet()) {
            timer.set(RETRY_WAIT_NANOS);
        }
    }

    private WorkerReport dataPathReport(ProgressEngine engine) {
        long allocated = AllocationMeter.currentThreadBytes() - startAllocated;
        return new WorkerReport(
                core.index(),
                core.cpu().toString(),
                operations.get(),
                errors.get(),
                engine.hits() - startHits,
                engine.misses() - startMisses,
                engine.payloadBytesCopied(),
                engine.messageBytesCopied(),
                allocated,
                System.nanoTime() - startNanos);
    }

    private void takeDown() {
        ProgressEngine present = engine;
        if (present == null) {
            return;
        }
        try {
            if (!areContextsIdle()) {
                stopContexts();
            }
            // Each context gives up its peer after the control timeout, and is idle soon after
            // that.
            Deadline deadline = Deadline.in(2 * controlTimeoutNanos);
            while (!areContextsIdle() && !deadline.hasPassed()) {
                contexts.freeTasks();
                flush(present, deadline.remainingNanos());
            }
        } catch (RuntimeException | Error e) {
            fail(asDpuException(e));
        }
        giveBack(contexts::close);
        giveBack(this::releaseObjects);
        giveBack(() -> closeEngine(present));
    }

    /** One thing that cannot be given back keeps nothing else. */
    private void giveBack(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            fail(asDpuException(e));
        }
    }

    /** Progress that goes on whatever a callback throws: there is more to be given back. */
    private void flush(ProgressEngine present, long timeoutNanos) {
        try {
            present.await(timeoutNanos);
        } catch (RuntimeException | Error e) {
            fail(asDpuException(e));
        }
    }

    private void stateChanged(Context context, ContextState previous, ContextState next) {
        if (next == ContextState.STOPPING && !contexts.isStopping()) {
            DpuException reason = context.failure();
            fail(
                    new DpuException(
                            reason == null ? Status.UNEXPECTED : peersEnd(reason.status()),
                            "context stopped by itself: "
                                    + name()
                                    + ", context="
                                    + context
                                    + ", reason="
                                    + (reason == null ? "unknown" : reason.getMessage()),
                            reason));
        }
        notifyControl.run();
    }

    /** Ends the worker's sleep, for something that {@link #eachRound} looks at. */
    protected final void wakeUp() {
        wake();
    }

    /** Under a lock, so that nobody wakes an engine that is being closed. */
    private void wake() {
        synchronized (engineLock) {
            ProgressEngine present = engine;
            if (present != null) {
                present.wake();
            }
        }
    }

    private void closeEngine(ProgressEngine present) {
        synchronized (engineLock) {
            engine = null;
            present.close();
        }
    }

    private void await(CountDownLatch latch, String what) {
        try {
            if (!latch.await(controlTimeoutNanos, TimeUnit.NANOSECONDS)) {
                throw new DpuException(Status.TIME_OUT, what + ": " + name());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DpuException(
                    Status.CONNECTION_ABORTED, "control thread was interrupted: " + name(), e);
        }
    }

    private DpuException asDpuException(Throwable problem) {
        return problem instanceof DpuException known
                ? known
                : new DpuException(
                        Status.UNEXPECTED,
                        "worker failed: " + name() + ", reason=" + problem,
                        problem);
    }

    private String name() {
        return "role=" + role + ", core=" + core.index();
    }
}
