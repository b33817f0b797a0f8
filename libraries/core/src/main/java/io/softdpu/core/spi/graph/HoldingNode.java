package io.softdpu.core.spi.graph;

import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * Node of a graph instance, as the task or job that it holds uses it. The thread of the engine or
 * work queue.
 */
public abstract class HoldingNode {
    /** Creates a node that holds nothing. */
    protected HoldingNode() {}

    /**
     * The task or job that it has submitted has ended and belongs to the node again. Called in
     * place of the user's callback, and of the retrieval by the user.
     */
    public abstract void ended(Status how);

    /**
     * The same for a task that ends as one of several, while its library may not call users yet:
     * the node handles it later.
     */
    public abstract void endedWithOthers(Status how);

    /**
     * Whether the operands may not be changed now: the instance is in flight, and no user node
     * runs.
     */
    public abstract boolean isFixed();

    /** The node and its instance, for messages: {@code node=..., instance=...}. */
    public abstract String describe();

    /** Reports a mistake of the program to the sanitizer, if one is on. */
    public abstract void misused(String what);

    /** Stack trace of the creation of the instance; null without a sanitizer. */
    public abstract @Nullable Throwable allocatedAt();
}
