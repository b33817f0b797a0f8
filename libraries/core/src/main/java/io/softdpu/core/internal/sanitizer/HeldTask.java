package io.softdpu.core.internal.sanitizer;

import org.jspecify.annotations.Nullable;

/** A task that is done and whose callback a {@link Disorder} has not run yet. */
public abstract class HeldTask {
    /** Passes of progress that it was held for. */
    int passes;

    boolean delivered;

    /** Those with the same key are delivered in the order in which they came; null for none. */
    public abstract @Nullable Object orderKey();

    /** Whether it may wait for a later one of its group that may not. */
    public abstract boolean mayWait();

    /** The group, a context. */
    public abstract Object group();

    /** When it was submitted, compared with the others of its group. */
    public abstract long sequence();

    /** Runs its callback. */
    public abstract void deliver();
}
