package io.softdpu.core.internal.sanitizer;

import org.jspecify.annotations.Nullable;

/** Completed task whose callback a {@link CompletionShuffler} has not run yet. */
public abstract class HeldTask {
    /** Passes of progress that it was held for. */
    int passes;

    boolean delivered;

    /** Tasks with the same key are delivered in the order of completion; null for no order. */
    public abstract @Nullable Object orderKey();

    /** Whether it may wait for a later task of its group that may not. */
    public abstract boolean mayWait();

    /** The group, a context. */
    public abstract Object group();

    /** Order of submission within its group. */
    public abstract long sequence();

    /** Runs its callback. */
    public abstract void deliver();
}
