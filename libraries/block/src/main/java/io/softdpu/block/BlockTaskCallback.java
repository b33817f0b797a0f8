package io.softdpu.block;

import io.softdpu.core.execution.Task;

/**
 * Callback for completed tasks; runs inside {@code progress()} of the engine. In it the task and
 * its buf belong to the user again, who submits it again, keeps it, or frees it.
 *
 * @param <T> the type of task
 */
@FunctionalInterface
public interface BlockTaskCallback<T extends Task> {
    /** Called with a completed task; {@link Task#status()} is its result. */
    void completed(T task);
}
