package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.StateChangedCallback;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * State machine of a context: the one place where its state changes, and the changes of which its
 * user has not been told. The engine's thread; without an engine any thread, under {@link
 * #control}.
 */
final class ContextStates {
    /** Changes of state whose callbacks may wait for a progress; see {@link #start()}. */
    private static final int MAX_UNDELIVERED = 32;

    /** Held where the state changes: without an engine any thread may do that. */
    final Object control = new Object();

    private final ContextBase context;
    private final ContextEngine engine;
    private final ContextLanes lanes;
    private final ArrayDeque<StateChange> undelivered = new ArrayDeque<>();
    private @Nullable StateChangedCallback callback;
    private volatile ContextState state = ContextState.IDLE;
    private volatile @Nullable DpuException failure;
    private boolean stopNoticed = true;
    private boolean closed;

    private record StateChange(
            StateChangedCallback callback, ContextState previous, ContextState next) {}

    ContextStates(ContextBase context, ContextEngine engine, ContextLanes lanes) {
        this.context = context;
        this.engine = engine;
        this.lanes = lanes;
    }

    // ---- the user's calls ----

    Status start() {
        engine.requireOwner();
        synchronized (control) {
            requireConfigurable();
            requireDriver();
            if (undelivered.size() > MAX_UNDELIVERED) {
                throw badState("too many changes of state without a progress");
            }
            context.checkConfiguration();
            failure = null;
            ContextState first = context.onStart();
            transition(first);
            return first == ContextState.RUNNING ? Status.SUCCESS : Status.IN_PROGRESS;
        }
    }

    Status stop() {
        engine.requireOwner();
        synchronized (control) {
            switch (state) {
                case IDLE, STOPPING -> throw badState("context is not started");
                case STARTING, RUNNING -> {
                    lanes.requireNone();
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
        synchronized (control) {
            closeInControl();
        }
    }

    private void closeInControl() {
        if (closed) {
            return; // by another thread meanwhile
        }
        if (state == ContextState.STARTING || state == ContextState.RUNNING) {
            stop();
        }
        engine.reportLeaks();
        if (state != ContextState.IDLE) {
            throw new DpuException(
                    Status.IN_USE,
                    "context has to be stopped first: context=%s, state=%s, inFlightTasks=%d"
                            .formatted(context, state, engine.inFlight()));
        }
        closed = true;
        engine.disconnect();
        undelivered.clear();
        context.destroy();
    }

    // ---- the library's calls ----

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
                    lanes.wake(); // their jobs are to be flushed
                }
            }
        }
    }

    void requireConfigurable() {
        if (closed) {
            throw badState("context is closed");
        }
        if (state != ContextState.IDLE) {
            throw badState("context is started");
        }
    }

    void require(ContextState expected, String call) {
        if (state != expected) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "%s needs another state: expected=%s, context=%s, state=%s"
                            .formatted(call, expected, context, state));
        }
    }

    // ---- for the engine and the work queues ----

    /** Does the work that the state asks for, and tells of its changes; inside progress. */
    boolean progress() {
        boolean progressed = deliverChanges();
        try {
            progressed |= progressInState();
        } catch (RuntimeException e) {
            // Not a user's callback, which is caught where it is called: the library itself
            // cannot go on, for example because the memory under a copy is gone.
            fatal(Failures.of(e));
            context.callbackFailed(e);
            progressed = true;
        }
        progressed |= deliverChanges();
        return progressed;
    }

    /** Whether there is something to do that needs a progress of its own, whatever rings. */
    boolean isUnsettled() {
        return !undelivered.isEmpty() || !stopNoticed;
    }

    /** A task was freed, for which a stop may have waited. */
    void taskFreed() {
        if (state == ContextState.STOPPING) {
            stopNoticed = false;
            engine.ring();
        }
    }

    /** A context that has failed is IDLE when it is on no work queue any more. In control. */
    void endWithoutLanes() {
        if (state == ContextState.STOPPING && context.onStop()) {
            transition(ContextState.IDLE);
        }
    }

    DpuException badState(String reason) {
        return new DpuException(
                Status.BAD_STATE, "%s: context=%s, state=%s".formatted(reason, context, state));
    }

    // ---- inside ----

    /** Refuses a start where neither an engine nor work queues would make the context go on. */
    private void requireDriver() {
        if (engine.isConnected()) {
            engine.core().requireOpen();
        } else if (context.maxWorkQueues() == 0) {
            throw badState("context has no progress engine");
        } else if (callback != null) {
            throw badState("callback needs a progress engine, and the context has none");
        }
    }

    /** The one place where the state changes. */
    private void transition(ContextState next) {
        ContextState previous = state;
        if (!previous.mayBecome(next)) {
            throw new IllegalStateException(
                    "no such transition: context=%s, from=%s, to=%s"
                            .formatted(context, previous, next));
        }
        state = next;
        engine.takeTasks(next == ContextState.RUNNING);
        stopNoticed = next != ContextState.STOPPING;
        engine.ring(); // a callback waits for progress, or the work of a start or a stop
        if (callback != null) {
            undelivered.add(new StateChange(callback, previous, next));
        }
    }

    private boolean progressInState() {
        return switch (state) {
            case IDLE -> false;
            case STARTING, RUNNING -> context.onProgress();
            case STOPPING -> {
                stopNoticed = true;
                boolean progressed = context.onProgress();
                if (state == ContextState.STOPPING && context.onStop() && engine.inFlight() == 0) {
                    transition(ContextState.IDLE);
                    progressed = true;
                }
                yield progressed;
            }
        };
    }

    private boolean deliverChanges() {
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
        return delivered;
    }
}
