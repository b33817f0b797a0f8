package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.CallName;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.check.Threads;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.linux.text.Text;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * State machine of a context: the only code that changes its state, and the changes that were not
 * yet delivered to its user. The engine's thread; without an engine any thread, under {@link
 * #control}.
 */
final class ContextStates {
    /** Changes of state whose callbacks may wait for a progress; see {@link #start()}. */
    private static final int MAX_UNDELIVERED = 32;

    /** Lock of changes of state: without an engine any thread may change it. */
    final Object control = new Object();

    private final ContextBase<?> context;
    private final ContextEngine engine;
    private final ContextJobQueues jobQueues;
    private final ArrayDeque<StateChange> undelivered = new ArrayDeque<>();
    private boolean delivering;
    private @Nullable StateChangedCallback callback;
    private volatile ContextState state = ContextState.IDLE;
    private volatile @Nullable DpuException failure;
    private final StopWarning stopWarning;
    private boolean stopNoticed = true;
    private volatile boolean startedBefore;
    private boolean closed;

    private record StateChange(
            StateChangedCallback callback, ContextState previous, ContextState next) {}

    ContextStates(ContextBase<?> context, ContextEngine engine, ContextJobQueues jobQueues) {
        this.context = context;
        this.engine = engine;
        this.jobQueues = jobQueues;
        this.stopWarning = new StopWarning(this, engine);
    }

    // ---- calls of the user ----

    Status start() {
        engine.requireOwner();
        synchronized (control) {
            requireConfigurable();
            requireDriver();
            if (undelivered.size() > MAX_UNDELIVERED) {
                throw badState(
                        "too many changes of state without a progress",
                        ", expected=ProgressEngine.progress first");
            }
            context.checkConfiguration();
            ContextState first = begin();
            startedBefore = true;
            transition(first);
            return first == ContextState.RUNNING ? Status.SUCCESS : Status.IN_PROGRESS;
        }
    }

    /** Begins to use device, representor and engine; if it throws it has given them back. */
    private ContextState begin() {
        boolean begun = false;
        try {
            context.hold();
            engine.enter();
            failure = null;
            ContextState first = context.onStart();
            begun = true;
            return first;
        } finally {
            if (!begun) {
                context.letGo();
                leaveIfIdle();
            }
        }
    }

    Status stop() {
        engine.requireOwner();
        synchronized (control) {
            switch (state) {
                case IDLE -> {
                    requireOpen();
                    return Status.SUCCESS;
                }
                case STOPPING -> {
                    return Status.IN_PROGRESS;
                }
                case STARTING, RUNNING -> {
                    jobQueues.requireNone();
                    context.checkStop();
                    transition(ContextState.STOPPING);
                }
            }
            if (!engine.isProgressing() && engine.inFlight() == 0 && context.onStop()) {
                transition(ContextState.IDLE);
                return Status.SUCCESS;
            }
            return Status.IN_PROGRESS;
        }
    }

    ContextState state() {
        return state;
    }

    boolean wasStarted() {
        return startedBefore;
    }

    @Nullable DpuException failure() {
        return failure;
    }

    void setCallback(@Nullable StateChangedCallback newCallback) {
        engine.requireOwner();
        synchronized (control) {
            requireConfigurable();
            callback = newCallback;
        }
    }

    boolean hasCallback() {
        return callback != null;
    }

    void close() {
        if (closed) {
            return;
        }
        engine.requireOwner();
        if (state != ContextState.IDLE) {
            context.checkCloseOfStarted();
        }
        if (engine.isConnected() && !engine.isProgressing()) {
            new DrivenClose(this, engine).run();
            return;
        }
        synchronized (control) {
            if (closed) {
                return; // by another thread meanwhile
            }
            stop();
            if (state != ContextState.IDLE) {
                DpuException refusal = inUse("context has to be stopped first");
                engine.reportLeaks();
                throw refusal;
            }
            end();
        }
    }

    /** Releases the resources of a context that is IDLE; once. */
    void end() {
        engine.reportLeaks();
        closed = true;
        engine.leave();
        undelivered.clear();
        context.onDestroy();
    }

    // ---- calls of the library ----

    void started() {
        engine.requireProgressing();
        transition(ContextState.RUNNING);
    }

    void fatal(DpuException reason) {
        engine.requireOwner();
        synchronized (control) {
            switch (state) {
                case IDLE, STOPPING -> {}
                case STARTING, RUNNING -> {
                    failure = reason;
                    transition(ContextState.STOPPING);
                    jobQueues.wake(); // their jobs are to be flushed
                }
            }
        }
    }

    boolean isClosed() {
        return closed;
    }

    private void requireOpen() {
        if (closed) {
            throw badState("context is closed", ", expected=a context that is open");
        }
    }

    void requireConfigurable() {
        requireOpen();
        if (state != ContextState.IDLE) {
            throw badState(
                    "context is started",
                    ", call="
                            + CallName.of(ContextStates.class, Context.class, ContextEngine.class)
                            + ", expected="
                            + ContextState.IDLE
                            + ", before start or after stop");
        }
    }

    void require(ContextState expected, String call) {
        if (state != expected) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "%s needs another state: context=%s, state=%s%s, expected=%s",
                            call, context, state, failureText(), expected),
                    failure);
        }
    }

    /** The refusal of a submission, unless it is RUNNING. */
    Refusal notRunning() {
        return Refusal.of(
                Status.BAD_STATE,
                failure,
                "context is not running: state=%s%s, expected=%s",
                state,
                failureText(),
                ContextState.RUNNING);
    }

    /** The failure for messages: {@code ", failure=CONNECTION_RESET"}; empty without one. */
    private String failureText() {
        DpuException known = failure;
        return known == null ? "" : ", failure=" + known.status();
    }

    // ---- for the engine and the work queues ----

    /** Does the work of the current state, and delivers changes of state; inside progress. */
    boolean progress() {
        boolean progressed = deliverChanges();
        try {
            progressed |= progressInState();
        } catch (RuntimeException e) {
            progressFailed(e);
            progressed = true;
        }
        progressed |= deliverChanges();
        return progressed;
    }

    /**
     * Fails a context whose library has thrown in its progress (exceptions of users' callbacks are
     * caught by the library), for example because the memory of a copy was freed.
     */
    void progressFailed(RuntimeException thrown) {
        fatal(Failures.of(thrown));
        context.callbackFailed(thrown);
    }

    /** Whether there is work that requires progress without a doorbell. */
    boolean isUnsettled() {
        return !undelivered.isEmpty() || !stopNoticed;
    }

    /** Before a sleep of the engine: it has to end for the warning of a stop that lasts. */
    void arm() {
        if (state == ContextState.STOPPING) {
            stopWarning.arm();
        }
    }

    /** Continues a stop that may have waited for a task, which was freed. */
    void taskFreed() {
        if (state == ContextState.STOPPING) {
            stopNoticed = false;
            engine.changed();
        }
    }

    /**
     * Moves a failed context to IDLE when it is on no work queue any more. Under the control lock.
     */
    void endWithoutJobQueues() {
        if (state == ContextState.STOPPING && context.onStop()) {
            transition(ContextState.IDLE);
        }
    }

    /** The state, the tasks, and the events that the context waits for, for messages. */
    String describe() {
        return StateText.of(context);
    }

    /**
     * Whether it is about to start or to stop and waits for an event other than the end and the
     * freeing of its tasks.
     */
    boolean awaitsEvents() {
        return switch (state) {
            case IDLE, RUNNING -> false;
            case STARTING, STOPPING -> context.describeAwaited() != null;
        };
    }

    /** The refusal to close the context; its cause is where one of its tasks was allocated. */
    DpuException inUse(String reason) {
        return new DpuException(
                Status.IN_USE, reason + ": " + describe(), engine.oldestAllocation());
    }

    /**
     * The exception for a call in the wrong state.
     *
     * @param expected the end of the message: {@code , expected=IDLE}
     */
    DpuException badState(String reason, String expected) {
        return new DpuException(
                Status.BAD_STATE,
                Text.format(
                        "%s: context=%s, state=%s%s%s",
                        reason, context, state, failureText(), expected),
                failure);
    }

    /** The exception for a call that needs an engine, from a context that is on none. */
    DpuException noEngine() {
        return badState(
                "context has no progress engine",
                ", expected=ProgressEngine.connect, or ProgressEngine.start, first");
    }

    // ---- internal ----

    /** Refuses a start without an engine if the library has no jobs. */
    private void requireDriver() {
        if (engine.isConnected()) {
            if (engine.impl().isClosed()) {
                throw badState(
                        "engine of the context is closed",
                        ", engineThread="
                                + Threads.describe(engine.impl().owner())
                                + ", expected=an engine that is open");
            }
        } else if (context.maxWorkQueues() == 0) {
            throw noEngine();
        } else if (callback != null) {
            throw badState(
                    "callback for states needs a progress engine, and the context has none",
                    ", expected=ProgressEngine.connect first, or no callback");
        }
    }

    /** Changes the state; called by all code that does. */
    private void transition(ContextState next) {
        ContextState previous = state;
        if (!previous.mayBecome(next)) {
            throw new IllegalStateException(
                    Text.format(
                            "no such transition: context=%s, from=%s, to=%s",
                            context, previous, next));
        }
        state = next;
        engine.setTakesTasks(next == ContextState.RUNNING);
        stopNoticed = next != ContextState.STOPPING;
        if (next == ContextState.STOPPING) {
            stopWarning.stopping();
        } else if (previous == ContextState.STOPPING) {
            stopWarning.ended();
        }
        engine.changed(); // a callback waits for progress, or the work of a start or a stop
        if (next == ContextState.IDLE) {
            context.letGo();
        }
        if (callback != null) {
            undelivered.add(new StateChange(callback, previous, next));
        }
        settle();
    }

    private boolean progressInState() {
        return switch (state) {
            case IDLE -> false;
            case STARTING, RUNNING -> context.onProgress();
            case STOPPING -> {
                stopNoticed = true;
                stopWarning.check();
                boolean progressed = context.onProgress();
                if (state == ContextState.STOPPING && context.onStop() && engine.inFlight() == 0) {
                    transition(ContextState.IDLE);
                    progressed = true;
                }
                yield progressed;
            }
        };
    }

    /** Delivers changes of state to the user; inside progress. Does nothing inside its callback. */
    boolean deliverChanges() {
        if (delivering) {
            return false;
        }
        delivering = true;
        boolean delivered = false;
        while (!undelivered.isEmpty()) {
            StateChange change = undelivered.remove();
            delivered = true;
            try {
                change.callback().onStateChanged(context, change.previous(), change.next());
            } catch (Throwable e) {
                context.callbackFailed(e);
            }
        }
        delivering = false;
        settle();
        return delivered;
    }

    private void settle() {
        boolean started = state == ContextState.STARTING || state == ContextState.RUNNING;
        engine.setSteady(started && undelivered.isEmpty());
        leaveIfIdle();
    }

    /** The engine does not reference a context that it has nothing to do for. */
    private void leaveIfIdle() {
        if (state == ContextState.IDLE && undelivered.isEmpty()) {
            engine.leave();
        }
    }
}
