package io.softdpu.rdma;

import io.softdpu.core.spi.TaskType;
import java.util.List;

/** Task pools and callbacks of an RDMA instance, one set per task type. */
final class RdmaTasks {
    /** Largest number of tasks of one type that can be configured. */
    private static final int LIMIT = 1 << 16;

    final TaskType<SendTask, RdmaTaskCallback<RdmaSendTask>> send;
    final TaskType<ReceiveTask, RdmaTaskCallback<RdmaReceiveTask>> receive;
    final TaskType<ReadTask, RdmaTaskCallback<RdmaReadTask>> read;
    final TaskType<WriteTask, RdmaTaskCallback<RdmaWriteTask>> write;
    private final List<TaskType<?, ?>> all;

    RdmaTasks(RdmaContext rdma, RdmaCapabilities capabilities) {
        send = new TaskType<>("send", "setSendTasks", LIMIT, () -> new SendTask(rdma));
        receive =
                new TaskType<>(
                        "receive",
                        "setReceiveTasks",
                        capabilities.maxReceiveTasks(),
                        () -> new ReceiveTask(rdma));
        read = new TaskType<>("read", "setReadTasks", LIMIT, () -> new ReadTask(rdma));
        write = new TaskType<>("write", "setWriteTasks", LIMIT, () -> new WriteTask(rdma));
        all = List.of(send, receive, read, write);
    }

    boolean isAnyConfigured() {
        return all.stream().anyMatch(TaskType::isConfigured);
    }

    void makePools() {
        all.forEach(TaskType::makePool);
    }

    void dropPools() {
        all.forEach(TaskType::dropPool);
    }

    /** Whether all tasks of all types have been freed. */
    boolean areAllFreed() {
        return all.stream().allMatch(TaskType::allFreed);
    }
}
