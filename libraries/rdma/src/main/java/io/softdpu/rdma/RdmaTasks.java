package io.softdpu.rdma;

import io.softdpu.core.spi.TaskSet;
import java.util.List;

/** Tasks of an RDMA instance, by type. */
final class RdmaTasks {
    /** Tasks of one type that an instance can have; more is a mistake. */
    private static final int LIMIT = 1 << 16;

    final TaskSet<SendTask, RdmaTaskCallback<RdmaSendTask>> send;
    final TaskSet<ReceiveTask, RdmaTaskCallback<RdmaReceiveTask>> receive;
    final TaskSet<ReadTask, RdmaTaskCallback<RdmaReadTask>> read;
    final TaskSet<WriteTask, RdmaTaskCallback<RdmaWriteTask>> write;
    private final List<TaskSet<?, ?>> all;

    RdmaTasks(RdmaContext rdma, RdmaCapabilities capabilities) {
        send = new TaskSet<>("send", LIMIT, () -> new SendTask(rdma));
        receive =
                new TaskSet<>(
                        "receive", capabilities.maxReceiveTasks(), () -> new ReceiveTask(rdma));
        read = new TaskSet<>("read", LIMIT, () -> new ReadTask(rdma));
        write = new TaskSet<>("write", LIMIT, () -> new WriteTask(rdma));
        all = List.of(send, receive, read, write);
    }

    boolean isAnyConfigured() {
        return all.stream().anyMatch(TaskSet::isConfigured);
    }

    void makePools() {
        all.forEach(TaskSet::makePool);
    }

    void dropPools() {
        all.forEach(TaskSet::dropPool);
    }

    /** Whether no task of any type is in the user's hands. */
    boolean areAllFreed() {
        return all.stream().allMatch(TaskSet::allFreed);
    }
}
