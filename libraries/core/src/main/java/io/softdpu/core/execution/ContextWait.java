package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Interrupts;
import io.softdpu.core.check.Threads;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.core.spi.graph.EngineMember;
import io.softdpu.core.spi.graph.GraphEngine;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Loops around the await of an engine that wait for a condition or for a state of a context, and
 * end with an error when it cannot be expected any more. The engine's thread, outside callbacks.
 */
final class ContextWait {
    private final EngineImpl impl;

    ContextWait(EngineImpl impl) {
        this.impl = impl;
    }

    /** See {@link ProgressEngine#runUntil}. */
    void runUntil(BooleanSupplier condition, Duration timeout, Context[] contexts) {
        requireCallable("runUntil");
        Arguments.notNull(condition, "condition");
        long timeoutNanos = Arguments.nanos(timeout, "timeout");
        for (Context context : Arguments.notNull(contexts, "contexts")) {
            requireProgressedHere(context);
        }
        if (!await("runUntil", condition, timeoutNanos, contexts)) {
            throwInterrupted(timeoutNanos, "runUntil", "a condition", contexts);
            throw timeOut("condition does not hold", timeout, describe(contexts));
        }
    }

    /** See {@link ProgressEngine#start}. */
    void start(ProgressEngine engine, Context context, Duration timeout) {
        requireCallable("start");
        long timeoutNanos = Arguments.nanos(timeout, "timeout");
        EngineMember member = member(context);
        if (!isHere(member)) {
            engine.connect(context);
        }
        switch (context.state()) {
            case IDLE, STOPPING -> context.start();
            case STARTING, RUNNING -> {}
        }
        if (!await("start", member.startWait(), timeoutNanos, context)) {
            throwInterrupted(timeoutNanos, "start", "RUNNING", context);
            throw timeOut("context does not start", timeout, member.describeStart());
        }
    }

    /** See {@link ProgressEngine#stop}. */
    void stop(Context context, Duration timeout) {
        requireCallable("stop");
        long timeoutNanos = Arguments.nanos(timeout, "timeout");
        EngineMember member = member(context);
        if (context.state() == ContextState.IDLE) {
            return;
        }
        if (!isHere(member)) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "context is not connected to this engine: context=%s, engineThread=%s",
                            context, Threads.describe(impl.owner())));
        }
        context.stop();
        if (!await("stop", () -> context.state() == ContextState.IDLE, timeoutNanos)) {
            throwInterrupted(timeoutNanos, "stop", "IDLE", context);
            throw timeOut("context does not stop", timeout, member.describeWork());
        }
    }

    private void throwInterrupted(
            long timeoutNanos, String call, String awaited, Context... contexts) {
        if (timeoutNanos != 0 && Interrupts.isPending()) {
            throw Interrupts.ended(
                    "ProgressEngine." + call, "awaited=" + awaited + ", " + describe(contexts));
        }
    }

    /**
     * Progresses until the condition holds; false if the timeout is over, or if the thread is
     * interrupted and there is no work.
     *
     * @param call the call, for the message
     * @throws DpuException if one of the contexts has ended
     */
    private boolean await(
            String call, BooleanSupplier condition, long timeoutNanos, Context... contexts) {
        long begin = System.nanoTime();
        long leftNanos = timeoutNanos;
        boolean ended = false;
        while (!condition.getAsBoolean()) {
            for (Context context : contexts) {
                requireRunning(context, call);
            }
            if (ended) {
                return false;
            }
            boolean worked = impl.awaitOrInterrupt(leftNanos);
            leftNanos = Math.max(0, timeoutNanos - (System.nanoTime() - begin));
            ended = leftNanos == 0 || (!worked && Interrupts.isPending());
        }
        return true;
    }

    /**
     * Refuses a context that this engine does not progress: nothing would end a sleep of the wait
     * when it fails. One that is IDLE on no engine is refused later, since it is not running.
     */
    @SuppressWarnings("ReferenceEquality") // engines are compared by identity
    private void requireProgressedHere(Context context) {
        GraphEngine other = member(context).engine(); // refuses null, and a foreign class
        if (other == impl || (other == null && context.state() == ContextState.IDLE)) {
            return;
        }
        throw new DpuException(
                Status.NOT_PERMITTED,
                other == null
                        ? Text.format(
                                "context is on work queues, whose failure an engine does not"
                                    + " notice: context=%s, expected=WorkQueue.progressRetrieve",
                                context)
                        : Text.format(
                                "context is not connected to this engine, which does not notice its"
                                    + " failure: context=%s, engineThread=%s, expected=runUntil of"
                                    + " its engine",
                                context, Threads.describe(other.owner())));
    }

    @SuppressWarnings("ReferenceEquality") // as above
    private boolean isHere(EngineMember member) {
        return member.engine() == impl;
    }

    private static void requireRunning(Context context, String call) {
        ContextState state = context.state();
        if (state == ContextState.RUNNING || state == ContextState.STARTING) {
            return;
        }
        DpuException failure = context.failure();
        if (failure != null) {
            throw new DpuException(
                    failure.status(),
                    Text.format(
                            "%s has failed: context=%s, reason=%s",
                            call, context, failure.getMessage()),
                    failure);
        }
        throw new DpuException(
                Status.BAD_STATE,
                member(context).wasStarted()
                        ? Text.format(
                                "context has stopped: context=%s, state=%s, expected=RUNNING",
                                context, state)
                        : Text.format(
                                "context was not started: context=%s, state=%s,"
                                        + " expected=ProgressEngine.start first",
                                context, state));
    }

    private void requireCallable(String operation) {
        impl.requireOwner();
        impl.requireOutside(operation);
        impl.requireOpen();
    }

    private static EngineMember member(Context context) {
        Arguments.notNull(context, "context");
        return ContextAccess.of(Context.class, ProgressEngine.class, Job.class).member(context);
    }

    private String describe(Context[] contexts) {
        if (contexts.length == 0) {
            return impl.describeAllWork();
        }
        List<String> described = new ArrayList<>();
        for (Context context : contexts) {
            described.add(member(context).describeWork());
        }
        return String.join("; ", described);
    }

    private static DpuException timeOut(String reason, Duration timeout, String work) {
        return new DpuException(
                Status.TIME_OUT,
                Text.format(
                        "%s in time: timeoutMillis=%d, %s",
                        reason, Arguments.nanos(timeout, "timeout") / 1_000_000, work));
    }
}
