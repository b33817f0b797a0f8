package io.softdpu.core.spi;

import java.util.ArrayList;
import java.util.List;

/**
 * Task pools of a context, in which the tasks that its user has are those that are missing. The
 * engine's thread; not for the data path.
 */
final class TaskPools {
    private final List<TaskPool<?>> pools = new ArrayList<>();

    void add(TaskPool<?> pool) {
        pools.add(pool);
    }

    void remove(TaskPool<?> pool) {
        pools.remove(pool);
    }

    /** Number of tasks allocated and not freed. */
    int allocated() {
        int allocated = 0;
        for (int i = 0; i < pools.size(); i++) {
            allocated += pools.get(i).allocated();
        }
        return allocated;
    }

    /** Stops waiting for the tasks that the user has. */
    void abandon() {
        for (TaskPool<?> pool : pools) {
            pool.abandon();
        }
    }

    /** The number of allocated tasks, and of each type: {@code 3 (2 DmaMemcpyTask, 1 ...)}. */
    String describe() {
        List<String> types = new ArrayList<>();
        for (TaskPool<?> pool : pools) {
            if (pool.allocated() > 0) {
                types.add(pool.allocated() + " " + pool.typeName());
            }
        }
        return types.isEmpty() ? "0" : allocated() + " (" + String.join(", ", types) + ")";
    }
}
