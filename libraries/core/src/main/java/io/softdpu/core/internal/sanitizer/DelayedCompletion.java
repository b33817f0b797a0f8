package io.softdpu.core.internal.sanitizer;

import org.jspecify.annotations.Nullable;

/** Completion of a task that a {@link CompletionShuffler} delays. */
public abstract class DelayedCompletion {
    /** Passes of progress that it was delayed for. */
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
