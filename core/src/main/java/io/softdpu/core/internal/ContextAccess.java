package io.softdpu.core.internal;

import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.spi.ContextBase;
import org.jspecify.annotations.Nullable;

/** What contexts show to the engine. */
public abstract class ContextAccess {
    private static volatile @Nullable ContextAccess instance;

    /** The one that {@code ContextBase} has left. */
    public static ContextAccess get() {
        return ClassLoading.access(ContextBase.class, () -> instance);
    }

    /** Called once, by {@code ContextBase}. */
    public static void set(ContextAccess access) {
        instance = access;
    }

    /**
     * Tells a context which engine it belongs to from now on.
     *
     * @return how the engine reaches it
     */
    public abstract EngineMember connect(Context context, ProgressEngine engine, EngineCore core);

    /**
     * Makes a context do the jobs of a queue.
     *
     * @return how the queue reaches it
     */
    public abstract QueueMember addQueue(Context context, QueueCore queue);
}
