package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Interrupts;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.internal.engine.EngineImpl;
import org.jspecify.annotations.Nullable;

/**
 * Close of a context that is on an engine, outside callbacks: stops it and drives the engine until
 * it is IDLE. The engine's thread.
 *
 * <p>Callbacks of all contexts of the engine run meanwhile. They may close this context, and their
 * exceptions are thrown when it is closed, since they must not leave it open.
 */
final class DrivenClose {
    private static final long LIMIT_NANOS = 5_000_000_000L;

    /**
     * Limit while the library waits for a peer. By default libraries stop waiting after 5 s, and
     * then the context is IDLE: with equal limits it would depend on chance which comes first.
     */
    private static final long PEER_LIMIT_NANOS = LIMIT_NANOS + 1_000_000_000L;

    /**
     * Limit on a thread that is interrupted: long enough for an end that is orderly, short enough
     * for programs that are told to end. Also the longest sleep, so that an interrupt is noticed.
     */
    private static final long INTERRUPTED_LIMIT_NANOS = 500_000_000L;

    /** Passes of progress for the end of a context that waits for no task any more. */
    private static final int LAST_PASSES = 4;

    private static final int MAX_SUPPRESSED = 8;

    private final ContextStates states;
    private final ContextEngine engine;
    private final EngineImpl impl;

    /** The first exception of a callback. */
    private @Nullable Throwable thrown;

    /** The state when the tasks that the user has were given up; null until then. */
    private @Nullable String abandonedWork;

    private @Nullable Throwable abandonedAllocation;

    DrivenClose(ContextStates states, ContextEngine engine) {
        this.states = states;
        this.engine = engine;
        this.impl = engine.impl();
    }

    void run() {
        states.stop(); // refused while other contexts are active on it: those are closed first
        awaitIdle();
        if (!isIdle()) {
            endWithoutTasks();
        }
        DpuException refusal = refusal();
        if (isIdle()) {
            endOnce();
        }
        if (refusal != null) {
            throw withSuppressed(refusal);
        }
        throwKept();
    }

    private boolean isIdle() {
        return states.state() == ContextState.IDLE;
    }

    private void awaitIdle() {
        long begin = System.nanoTime();
        while (!isIdle()) {
            long waitedNanos = System.nanoTime() - begin;
            long leftNanos = LIMIT_NANOS - waitedNanos;
            if (leftNanos <= 0 && states.awaitsEvents()) {
                leftNanos = PEER_LIMIT_NANOS - waitedNanos;
            }
            if (Interrupts.isPending()) {
                leftNanos = Math.min(leftNanos, INTERRUPTED_LIMIT_NANOS - waitedNanos);
            }
            if (leftNanos <= 0) {
                return;
            }
            try {
                if (!waitsForItsUserOnly()) {
                    long sliceNanos = Math.min(leftNanos, INTERRUPTED_LIMIT_NANOS);
                    boolean _ = impl.awaitUninterrupted(sliceNanos);
                } else if (isQuiet() && !isIdle()) {
                    abandonTasks();
                }
            } catch (RuntimeException | Error e) {
                keep(e);
            }
        }
    }

    /**
     * Whether its user has tasks, and no context of the engine has one in flight or waits for a
     * peer. Then no callback is due that could free them, and their user is in this call.
     */
    private boolean waitsForItsUserOnly() {
        return abandonedWork == null
                && engine.pools().allocated() > 0
                && impl.inFlight() == 0
                && !impl.awaitsEvents();
    }

    /** Whether no callback is left to be run. */
    private boolean isQuiet() {
        boolean worked = impl.progress(); // after a notification of selected contexts alone
        return !worked && !impl.progress();
    }

    /** Stops waiting for the tasks that the user has: they are lost, and nothing else is. */
    private void abandonTasks() {
        abandonedWork = states.describe();
        abandonedAllocation = engine.oldestAllocation();
        engine.pools().abandon();
    }

    /**
     * Ends the context after the limit if it waits only for tasks that its user has, so that its
     * engine and device can be closed.
     */
    private void endWithoutTasks() {
        if (engine.inFlight() > 0 || states.awaitsEvents()) {
            return;
        }
        if (abandonedWork == null && engine.pools().allocated() > 0) {
            abandonTasks();
        }
        for (int i = 0; i < LAST_PASSES && !isIdle(); i++) {
            try {
                boolean _ = impl.progress();
            } catch (RuntimeException | Error e) {
                keep(e);
            }
        }
    }

    /** Why the call fails; null if it does not. */
    private @Nullable DpuException refusal() {
        if (!isIdle()) {
            return new DpuException(
                    Status.IN_USE,
                    "context does not stop: "
                            + states.describe()
                            + (Interrupts.isPending() ? ", thread=interrupted" : ""),
                    engine.oldestAllocation());
        }
        return abandonedWork == null
                ? null
                : new DpuException(
                        Status.IN_USE,
                        "context was closed, but tasks were not freed: " + abandonedWork,
                        abandonedAllocation);
    }

    /** Ends the context, unless a callback has closed it. */
    private void endOnce() {
        if (!states.isClosed()) {
            states.end();
        }
    }

    @SuppressWarnings("ReferenceEquality") // the same object cannot suppress itself
    private void keep(Throwable e) {
        if (thrown == null) {
            thrown = e;
        } else if (thrown != e && thrown.getSuppressed().length < MAX_SUPPRESSED) {
            thrown.addSuppressed(e);
        }
    }

    private DpuException withSuppressed(DpuException refusal) {
        if (thrown != null) {
            refusal.addSuppressed(thrown);
        }
        return refusal;
    }

    private void throwKept() {
        switch (thrown) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException("not thrown by progress", thrown);
        }
    }
}
