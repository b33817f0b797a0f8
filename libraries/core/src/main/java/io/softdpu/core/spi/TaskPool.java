package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.linux.text.Text;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Pool of a context's tasks of one type, which are all created at start.
 *
 * <p>A stack, so that the task used last, which is still in the cache, is used next. Belongs to the
 * thread of the context's engine.
 *
 * @param <T> the type of the tasks
 */
public final class TaskPool<T extends TaskBase<?>> {
    private final TaskBase<?>[] free;
    private final ContextEngine engine;
    private final String setter;
    private final String typeName;
    private int available;
    private boolean abandoned;

    /** Number of tasks in flight; for a sanitizer only. */
    int checkedInFlight;

    /**
     * Creates the tasks.
     *
     * @param count number of tasks, at least 1
     * @param setter the method of the context that sets this number, for messages
     * @param maker creates one
     * @throws DpuException INVALID_VALUE if the count is not positive
     */
    public TaskPool(int count, String setter, Supplier<T> maker) {
        if (count < 1) {
            throw new DpuException(
                    Status.INVALID_VALUE, "number of tasks is not positive: count=" + count);
        }
        this.setter = setter;
        free = new TaskBase<?>[count];
        for (int i = 0; i < count; i++) {
            T task = maker.get();
            task.setPool(this);
            free[i] = task;
        }
        available = count;
        typeName = free[0].typeName();
        engine = free[0].engine();
        engine.pools().add(this);
    }

    /**
     * Allocates a task, if one is free: user data 0, status SUCCESS, the rest as set by {@link
     * TaskBase#onFree}.
     *
     * @return null if all are in use
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public @Nullable T tryAllocate() {
        engine.requireOwner();
        if (available == 0) {
            return null;
        }
        @SuppressWarnings("unchecked") // only what the maker made is in the array
        T task = (T) free[--available];
        task.handOut();
        return task;
    }

    /**
     * Requires that a task was allocated: for {@code allocate} by {@code tryAllocate}.
     *
     * @param task what {@link #tryAllocate} has returned, as the user sees it
     * @throws DpuException NO_MEMORY if it is null, under a sanitizer with the place of the oldest
     *     allocation as its cause
     */
    public <U extends Task> U requireAllocated(@Nullable U task) {
        if (task != null) {
            return task;
        }
        throw new DpuException(
                Status.NO_MEMORY,
                Text.format(
                                "all tasks are in use: tasks=%d, task=%s, context=%s",
                                free.length, typeName, engine.context())
                        + ", expected=a task freed in its callback, or a larger count in "
                        + setter,
                engine.oldestAllocation(this));
    }

    /** Number of free tasks. */
    public int available() {
        return available;
    }

    /** Number of tasks. */
    public int total() {
        return free.length;
    }

    /** Number of tasks allocated and not freed. */
    int allocated() {
        return free.length - available;
    }

    /** The name of its tasks for users; all are of one type. */
    String typeName() {
        return typeName;
    }

    /** Whether all tasks are in the pool, or were {@linkplain #abandon abandoned}. */
    public boolean allFreed() {
        return abandoned || available == free.length;
    }

    /** Stops waiting for tasks that the user has not freed: the context is closed without them. */
    void abandon() {
        abandoned = true;
    }

    /** Ends the pool: its context does not count its tasks any more. */
    void drop() {
        engine.pools().remove(this);
    }

    void put(TaskBase<?> task) {
        free[available++] = task;
    }
}
