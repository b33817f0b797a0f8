package io.softdpu.comch;

import io.softdpu.core.execution.Task;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

/**
 * Tasks of a pass of progress that one callback gets together. The engine's thread; allocates
 * nothing after its construction.
 *
 * @param <T> type of the tasks, as users know it
 */
final class CompletedTasks<T extends Task> {
    private final ComchBatchCallback<T> callback;
    private final T[] tasks;
    private final IntConsumer counter;
    private final Consumer<Throwable> callbackFailed;
    private int count;

    /**
     * Creates an empty collection.
     *
     * @param tasks as long as the number of tasks of the context
     * @param counter told how many tasks are complete, before their callback
     * @param callbackFailed told of exceptions of the callback
     */
    CompletedTasks(
            ComchBatchCallback<T> callback,
            T[] tasks,
            IntConsumer counter,
            Consumer<Throwable> callbackFailed) {
        this.callback = callback;
        this.tasks = tasks;
        this.counter = counter;
        this.callbackFailed = callbackFailed;
    }

    /** The callback for a task that a sanitizer delivers by itself. */
    static <T extends Task> ComchTaskCallback<T> single(
            ComchBatchCallback<T> callback, IntFunction<T[]> newArray) {
        T[] one = newArray.apply(1);
        return task -> {
            one[0] = task;
            callback.completed(one, 1);
        };
    }

    @SuppressWarnings("ReferenceEquality") // tasks are objects, not values
    void add(T task) {
        if (tasks[count] != task) { // often the same as before, and a load costs less than a store
            tasks[count] = task;
        }
        count++;
    }

    /** Runs the callback for all of them, if there are any; none is left then. */
    void deliver() {
        int delivered = count;
        if (delivered == 0) {
            return;
        }
        count = 0;
        counter.accept(delivered);
        try {
            callback.completed(tasks, delivered);
        } catch (Throwable e) {
            callbackFailed.accept(e);
        }
    }
}
