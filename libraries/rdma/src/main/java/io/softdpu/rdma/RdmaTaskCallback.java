package io.softdpu.rdma;

import io.softdpu.core.execution.Task;

/**
 * Callback for completed tasks; runs inside {@code progress()} of the engine. From the callback on
 * the task and its bufs belong to the user again, who may resubmit, keep, or free it.
 *
 * @param <T> the kind of task
 */
@FunctionalInterface
public interface RdmaTaskCallback<T extends Task> {
    /** Handles a completed task; {@link Task#status()} is its result. */
    void completed(T task);
}
