package io.softdpu.core.sync;

import io.softdpu.core.execution.Task;

/**
 * Callback for completed tasks; runs inside {@code progress()} of the engine. In it the task
 * belongs to the user again, who submits it again, keeps it, or frees it.
 *
 * @param <T> the type of task
 */
@FunctionalInterface
public interface SyncEventTaskCallback<T extends Task> {
    /** Called with a completed task; {@link Task#status()} is its result. */
    void completed(T task);
}
