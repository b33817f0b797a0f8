package io.softdpu.core.spi.graph;

import org.jspecify.annotations.Nullable;

/** Graphs of a work queue, and their instances in flight there. The queue's thread. */
public abstract class QueueGraphs {
    /** Creates one without graphs. */
    protected QueueGraphs() {}

    /**
     * Starts nodes that are ready, and handles the end of at most one. An exception of a user node
     * is thrown after that.
     *
     * @return whether the end of a node was handled
     */
    public abstract boolean step();

    /** Whether {@link #step()} has something to do, or an instance waits to be retrieved. */
    public abstract boolean hasWork();

    /** Whether an instance has ended and waits to be retrieved. */
    public abstract boolean hasEnded();

    /** Removes the oldest instance that has ended; null if there is none. */
    public abstract @Nullable QueueInstance pollEnded();

    /** Whether a user node runs now, inside {@link #step()} or a submission. */
    public abstract boolean isRunningUserNode();

    /** A graph with a node of this context, for messages; null if there is none. */
    public abstract @Nullable String userOf(Object context);

    /** Removes all graphs from the queue; no instance is in flight. */
    public abstract void removeAll();
}
