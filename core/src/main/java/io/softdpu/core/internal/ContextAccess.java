package io.softdpu.core.internal;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ProgressEngine;
import org.jspecify.annotations.Nullable;

/** What contexts show to the engine. */
public abstract class ContextAccess {
    private static volatile @Nullable ContextAccess instance;

    /**
     * The one that {@code ContextBase} has left. While it has left none there is no context but
     * those that are not of this library: all are refused then.
     */
    public static ContextAccess get() {
        ContextAccess left = instance;
        return left == null ? new Refusal() : left;
    }

    /** Called once, by {@code ContextBase}. */
    public static void set(ContextAccess access) {
        instance = access;
    }

    /**
     * Tells a context which engine it belongs to from now on.
     *
     * @return how the engine reaches it
     * @throws DpuException INVALID_VALUE if the context is not of this library
     */
    public abstract EngineMember connect(Context context, ProgressEngine engine, EngineCore core);

    /**
     * Makes a context do the jobs of a queue.
     *
     * @return how the queue reaches it
     * @throws DpuException INVALID_VALUE if the context is not of this library
     */
    public abstract QueueMember addQueue(Context context, QueueCore queue);

    private static final class Refusal extends ContextAccess {
        @Override
        public EngineMember connect(Context context, ProgressEngine engine, EngineCore core) {
            throw refused(context);
        }

        @Override
        public QueueMember addQueue(Context context, QueueCore queue) {
            throw refused(context);
        }

        private static DpuException refused(Context context) {
            return new DpuException(
                    Status.INVALID_VALUE,
                    "not a context of this library: class=" + context.getClass().getName());
        }
    }
}
