package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.core.spi.TaskPool;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one type: how many, whom to tell, and while the instance is started their pool.
 *
 * @param <T> the type of task
 */
final class TaskSet<T extends TaskBase> {
    private final RdmaTaskType type;
    private final int limit;
    private final Function<Rdma, T> maker;
    private int count;
    private @Nullable RdmaTaskCallback<T> onSuccess;
    private @Nullable RdmaTaskCallback<T> onFailure;
    private @Nullable TaskPool<T> pool;

    TaskSet(RdmaTaskType type, int limit, Function<Rdma, T> maker) {
        this.type = type;
        this.limit = limit;
        this.maker = maker;
    }

    void configure(
            int newCount, RdmaTaskCallback<T> newOnSuccess, RdmaTaskCallback<T> newOnFailure) {
        if (newCount < 1 || newCount > limit) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "number of tasks out of range: type="
                            + type
                            + ", count="
                            + newCount
                            + ", limit="
                            + limit);
        }
        Arguments.notNull(newOnSuccess, "onSuccess");
        Arguments.notNull(newOnFailure, "onFailure");
        onSuccess = newOnSuccess;
        onFailure = newOnFailure;
        count = newCount;
    }

    boolean isConfigured() {
        return count > 0;
    }

    int count() {
        return count;
    }

    void makePool(Rdma rdma) {
        if (count > 0) {
            pool = new TaskPool<>(count, () -> maker.apply(rdma));
        }
    }

    void dropPool() {
        pool = null;
    }

    /** Whether no task is in the user's hands. */
    boolean allFreed() {
        TaskPool<T> tasks = pool;
        return tasks == null || tasks.available() == tasks.total();
    }

    T allocate() {
        TaskPool<T> tasks = pool;
        if (tasks == null) {
            throw new DpuException(
                    Status.BAD_STATE, "task type was not configured before start: type=" + type);
        }
        return tasks.allocate();
    }

    void completed(T task) {
        RdmaTaskCallback<T> callback = task.status() == Status.SUCCESS ? onSuccess : onFailure;
        if (callback != null) {
            callback.completed(task);
        }
    }
}
