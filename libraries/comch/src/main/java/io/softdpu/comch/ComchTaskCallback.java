package io.softdpu.comch;

import io.softdpu.core.execution.Task;

/**
 * Callback for completed tasks. Runs inside progress; the task belongs to the user again: it may be
 * resubmitted, freed, or kept.
 *
 * @param <T> the type of the task
 */
@FunctionalInterface
public interface ComchTaskCallback<T extends Task> {
    /**
     * Handles a completed task.
     *
     * @param task the task; {@link Task#status()} is its result
     */
    void completed(T task);
}
