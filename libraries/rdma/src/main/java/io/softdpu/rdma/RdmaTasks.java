package io.softdpu.rdma;

import io.softdpu.core.execution.Task;
import io.softdpu.core.spi.TaskType;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Task pools and callbacks of an RDMA instance, by task type; those that were not used have none.
 */
final class RdmaTasks {
    private final RdmaContext rdma;
    private final Map<RdmaTaskType, TaskType<?, ?>> types = new EnumMap<>(RdmaTaskType.class);

    /**
     * A task type with its classes. Each class of tasks has one.
     *
     * @param maker creates a task
     * @param <V> the class of the tasks
     * @param <T> their public interface
     */
    record Definition<V extends RdmaTask<T>, T extends Task>(
            RdmaTaskType type, Function<RdmaContext, V> maker) {}

    RdmaTasks(RdmaContext rdma) {
        this.rdma = rdma;
    }

    /** Number, callbacks and pool of the tasks of a type. */
    @SuppressWarnings("unchecked") // made here, and each class of tasks has one definition
    <V extends RdmaTask<T>, T extends Task> TaskType<V, RdmaTaskCallback<T>> of(
            Definition<V, T> definition) {
        RdmaTaskType type = definition.type();
        TaskType<?, ?> found = types.get(type);
        if (found == null) {
            found =
                    new TaskType<V, RdmaTaskCallback<T>>(
                            type.label,
                            type.setter,
                            rdma.capabilities().maxTasks(type),
                            () -> definition.maker().apply(rdma));
            types.put(type, found);
        }
        return (TaskType<V, RdmaTaskCallback<T>>) found;
    }

    boolean isAnyConfigured() {
        return types.values().stream().anyMatch(TaskType::isConfigured);
    }

    void makePools() {
        types.values().forEach(TaskType::makePool);
    }

    void dropPools() {
        types.values().forEach(TaskType::dropPool);
    }

    /** Whether all tasks of all types have been freed. */
    boolean areAllFreed() {
        return types.values().stream().allMatch(TaskType::allFreed);
    }
}
