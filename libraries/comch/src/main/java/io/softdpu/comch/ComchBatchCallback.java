package io.softdpu.comch;

import io.softdpu.core.execution.Task;

/**
 * Callback for the tasks that one pass of progress has completed, in place of a {@link
 * ComchTaskCallback} for each.
 *
 * @param <T> type of the tasks
 */
@FunctionalInterface
public interface ComchBatchCallback<T extends Task> {
    /**
     * Tasks were completed; each is owned by the user again, also after an exception of the
     * callback, and has its own {@link Task#status()}. Runs inside progress, on the engine's
     * thread.
     *
     * <p>An exception of it is thrown by progress after the pass.
     *
     * @param tasks the tasks in order of completion, elements 0 to count - 1. The array is the
     *     library's: read it during the call only. It may be given to {@link
     *     io.softdpu.core.execution.Context#trySubmitAll}, which may accept fewer: copy the others
     *     out, or free them
     * @param count number of tasks, 1 or more; always 1 under a sanitizer
     */
    void completed(T[] tasks, int count);
}
