package io.softdpu.comch;

import io.softdpu.core.execution.Task;

/**
 * Is told that a task is done. Runs inside progress; the task is the user's again: it may be
 * submitted anew, freed, or kept.
 *
 * @param <T> the type of the task
 */
@FunctionalInterface
public interface ComchTaskCallback<T extends Task> {
    /**
     * A task is done.
     *
     * @param task the task; its {@link Task#status()} says how it ended
     */
    void completed(T task);
}
