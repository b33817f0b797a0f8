package io.softdpu.rdma;

import java.util.List;

/** Tasks of an RDMA instance, by type. */
final class RdmaTasks {
    /** Tasks of one type that an instance can have; more is a mistake. */
    private static final int LIMIT = 1 << 16;

    final TaskSet<RdmaSendTask> send;
    final TaskSet<RdmaReceiveTask> receive;
    final TaskSet<RdmaReadTask> read;
    final TaskSet<RdmaWriteTask> write;
    private final List<TaskSet<?>> all;

    RdmaTasks(RdmaCapabilities capabilities) {
        send = new TaskSet<>(RdmaTaskType.SEND, LIMIT, RdmaSendTask::new);
        receive =
                new TaskSet<>(
                        RdmaTaskType.RECEIVE, capabilities.maxReceiveTasks(), RdmaReceiveTask::new);
        read = new TaskSet<>(RdmaTaskType.READ, LIMIT, RdmaReadTask::new);
        write = new TaskSet<>(RdmaTaskType.WRITE, LIMIT, RdmaWriteTask::new);
        all = List.of(send, receive, read, write);
    }

    boolean isAnyConfigured() {
        return all.stream().anyMatch(TaskSet::isConfigured);
    }

    void makePools(Rdma rdma) {
        all.forEach(tasks -> tasks.makePool(rdma));
    }

    void dropPools() {
        all.forEach(TaskSet::dropPool);
    }

    /** Whether no task of any type is in the user's hands. */
    boolean areAllFreed() {
        return all.stream().allMatch(TaskSet::allFreed);
    }
}
