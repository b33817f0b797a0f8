package io.softdpu.rdma;

import io.softdpu.core.spi.TaskType;
import java.util.List;

/** Task pools and callbacks of an RDMA instance, one set per task type. */
final class RdmaTasks {
    final TaskType<SendTask, RdmaTaskCallback<RdmaSendTask>> send;
    final TaskType<ReceiveTask, RdmaTaskCallback<RdmaReceiveTask>> receive;
    final TaskType<ReadTask, RdmaTaskCallback<RdmaReadTask>> read;
    final TaskType<WriteTask, RdmaTaskCallback<RdmaWriteTask>> write;
    final TaskType<SendImmediateTask, RdmaTaskCallback<RdmaSendImmediateTask>> sendImmediate;
    final TaskType<WriteImmediateTask, RdmaTaskCallback<RdmaWriteImmediateTask>> writeImmediate;
    final TaskType<CompareAndSwapTask, RdmaTaskCallback<RdmaCompareAndSwapTask>> compareAndSwap;
    final TaskType<FetchAndAddTask, RdmaTaskCallback<RdmaFetchAndAddTask>> fetchAndAdd;
    final TaskType<RemoteSyncEventGetTask, RdmaTaskCallback<RdmaRemoteSyncEventGetTask>>
            remoteEventGet;
    final TaskType<RemoteSyncEventNotifySetTask, RdmaTaskCallback<RdmaRemoteSyncEventNotifySetTask>>
            remoteEventSet;
    final TaskType<RemoteSyncEventNotifyAddTask, RdmaTaskCallback<RdmaRemoteSyncEventNotifyAddTask>>
            remoteEventAdd;
    private final List<TaskType<?, ?>> all;

    RdmaTasks(RdmaContext rdma, RdmaCapabilities capabilities) {
        send =
                new TaskType<>(
                        "send",
                        "setSendTasks",
                        capabilities.maxTasks(RdmaTaskType.SEND),
                        () -> new SendTask(rdma));
        receive =
                new TaskType<>(
                        "receive",
                        "setReceiveTasks",
                        capabilities.maxTasks(RdmaTaskType.RECEIVE),
                        () -> new ReceiveTask(rdma));
        read =
                new TaskType<>(
                        "read",
                        "setReadTasks",
                        capabilities.maxTasks(RdmaTaskType.READ),
                        () -> new ReadTask(rdma));
        write =
                new TaskType<>(
                        "write",
                        "setWriteTasks",
                        capabilities.maxTasks(RdmaTaskType.WRITE),
                        () -> new WriteTask(rdma));
        sendImmediate =
                new TaskType<>(
                        "send with immediate",
                        "setSendImmediateTasks",
                        capabilities.maxTasks(RdmaTaskType.SEND_IMMEDIATE),
                        () -> new SendImmediateTask(rdma));
        writeImmediate =
                new TaskType<>(
                        "write with immediate",
                        "setWriteImmediateTasks",
                        capabilities.maxTasks(RdmaTaskType.WRITE_IMMEDIATE),
                        () -> new WriteImmediateTask(rdma));
        compareAndSwap =
                new TaskType<>(
                        "compare and swap",
                        "setCompareAndSwapTasks",
                        capabilities.maxTasks(RdmaTaskType.ATOMIC_COMPARE_AND_SWAP),
                        () -> new CompareAndSwapTask(rdma));
        fetchAndAdd =
                new TaskType<>(
                        "fetch and add",
                        "setFetchAndAddTasks",
                        capabilities.maxTasks(RdmaTaskType.ATOMIC_FETCH_AND_ADD),
                        () -> new FetchAndAddTask(rdma));
        remoteEventGet =
                new TaskType<>(
                        "remote sync event get",
                        "setRemoteSyncEventGetTasks",
                        capabilities.maxTasks(RdmaTaskType.REMOTE_SYNC_EVENT_GET),
                        () -> new RemoteSyncEventGetTask(rdma));
        remoteEventSet =
                new TaskType<>(
                        "remote sync event notify set",
                        "setRemoteSyncEventNotifySetTasks",
                        capabilities.maxTasks(RdmaTaskType.REMOTE_SYNC_EVENT_NOTIFY_SET),
                        () -> new RemoteSyncEventNotifySetTask(rdma));
        remoteEventAdd =
                new TaskType<>(
                        "remote sync event notify add",
                        "setRemoteSyncEventNotifyAddTasks",
                        capabilities.maxTasks(RdmaTaskType.REMOTE_SYNC_EVENT_NOTIFY_ADD),
                        () -> new RemoteSyncEventNotifyAddTask(rdma));
        all =
                List.of(
                        send,
                        receive,
                        read,
                        write,
                        sendImmediate,
                        writeImmediate,
                        compareAndSwap,
                        fetchAndAdd,
                        remoteEventGet,
                        remoteEventSet,
                        remoteEventAdd);
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
