package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.Task;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Task type of a context: number of tasks, callbacks, and while the context is started their pool.
 * Belongs to the thread of the context's engine.
 *
 * @param <T> the library's class of these tasks
 * @param <C> the library's callback for them
 */
public final class TaskType<T extends TaskBase<?>, C> {
    private final String type;
    private final String setter;
    private final int limit;
    private final Supplier<T> maker;
    private int count;
    private @Nullable C onSuccess;
    private @Nullable C onFailure;
    private @Nullable TaskPool<T> pool;

    /**
     * Creates a task type that is not configured.
     *
     * @param type its name, for messages: {@code send}
     * @param setter the method of the context that configures it, for messages: {@code
     *     setSendTasks}
     * @param limit limit of tasks
     * @param maker creates a task
     */
    public TaskType(String type, String setter, int limit, Supplier<T> maker) {
        this.type = type;
        this.setter = setter;
        this.limit = limit;
        this.maker = maker;
    }

    /**
     * Sets the number of tasks from the next start on, and the callbacks; replaces the
     * configuration before.
     *
     * @throws DpuException INVALID_VALUE if the count is not 1 to the limit, or a callback is null
     */
    public void configure(int newCount, C newOnSuccess, C newOnFailure) {
        if (newCount < 1 || newCount > limit) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "number of tasks out of range: type=%s, count=%d, expected=1 to %d",
                            type, newCount, limit));
        }
        Arguments.notNull(newOnSuccess, "onSuccess");
        Arguments.notNull(newOnFailure, "onFailure");
        onSuccess = newOnSuccess;
        onFailure = newOnFailure;
        count = newCount;
    }

    /** Whether it was configured. */
    public boolean isConfigured() {
        return count > 0;
    }

    /**
     * Refuses a start without configuration.
     *
     * @param context for the message
     * @throws DpuException BAD_STATE
     */
    public void requireConfigured(ContextBase<?> context) {
        if (count == 0) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "mandatory item is missing: item=%s tasks, context=%s, expected=%s,"
                                    + " before start",
                            type, context, setter));
        }
    }

    /** The configured number of tasks; 0 if not configured. */
    public int count() {
        return count;
    }

    /** Creates the tasks, if configured; at start. */
    public void makePool() {
        if (count > 0) {
            pool = new TaskPool<>(count, setter, maker);
        }
    }

    /** Drops the tasks; at the end of a stop, when all are freed. */
    public void dropPool() {
        TaskPool<T> dropped = pool;
        if (dropped != null) {
            dropped.drop();
            pool = null;
        }
    }

    /** Whether all tasks are in the pool. */
    public boolean allFreed() {
        TaskPool<T> tasks = pool;
        return tasks == null || tasks.allFreed();
    }

    /**
     * Allocates a task, if one is free.
     *
     * @return null if all are in use
     * @throws DpuException BAD_STATE if none were configured before start; else as {@link
     *     TaskPool#tryAllocate}
     */
    public @Nullable T tryAllocate() {
        return pool().tryAllocate();
    }

    /**
     * Requires that a task was allocated: for {@code allocate} by {@code tryAllocate}.
     *
     * @param task what {@link #tryAllocate} has returned, as the user sees it
     * @throws DpuException NO_MEMORY if it is null, as {@link TaskPool#requireAllocated}
     */
    public <U extends Task> U requireAllocated(@Nullable U task) {
        return pool().requireAllocated(task);
    }

    /** The callback for a completed task, by its status. */
    public C callbackFor(TaskBase<?> task) {
        return Objects.requireNonNull(
                task.hasSucceeded() ? onSuccess : onFailure, "configured before start");
    }

    private TaskPool<T> pool() {
        TaskPool<T> tasks = pool;
        if (tasks == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "task type was not configured: type=%s, count=0, expected=%s, before"
                                    + " start",
                            type, setter));
        }
        return tasks;
    }
}
