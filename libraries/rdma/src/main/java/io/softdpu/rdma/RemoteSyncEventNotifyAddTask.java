package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;

/** The {@link RdmaRemoteSyncEventNotifyAddTask} of an {@link RdmaContext}. */
final class RemoteSyncEventNotifyAddTask extends RemoteEventTask<RdmaRemoteSyncEventNotifyAddTask>
        implements RdmaRemoteSyncEventNotifyAddTask {
    static final RdmaTasks.Definition<
                    RemoteSyncEventNotifyAddTask, RdmaRemoteSyncEventNotifyAddTask>
            TYPE =
                    new RdmaTasks.Definition<>(
                            RdmaTaskType.REMOTE_SYNC_EVENT_NOTIFY_ADD,
                            RemoteSyncEventNotifyAddTask::new);
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_ATOMIC);

    RemoteSyncEventNotifyAddTask(RdmaContext rdma) {
        super(rdma, TYPE, RIGHT, "result", 1);
    }

    @Override
    public Buf result() {
        return local();
    }

    @Override
    public RdmaRemoteSyncEventNotifyAddTask setResult(Buf result) {
        return use(connection(), event(), result);
    }

    @Override
    public long addData() {
        return request.operand;
    }

    @Override
    public RdmaRemoteSyncEventNotifyAddTask setAddData(long addData) {
        requireUser();
        request.operand = addData;
        return this;
    }

    @Override
    protected void onCompleted() {
        callback().completed(this);
    }
}
