package io.softdpu.compute;

import io.softdpu.core.execution.Task;

/**
 * Is told of the end of a task; runs inside {@code progress()} of the engine. Inside the callback
 * the task and its bufs are the user's again: submit it anew, keep it, or free it.
 *
 * @param <T> the kind of task
 */
@FunctionalInterface
public interface DmaTaskCallback<T extends Task> {
    /** A task has ended; {@link Task#status()} says how. */
    void completed(T task);
}
