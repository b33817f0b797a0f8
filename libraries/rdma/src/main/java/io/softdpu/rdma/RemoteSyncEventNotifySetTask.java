package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;

/** The {@link RdmaRemoteSyncEventNotifySetTask} of an {@link RdmaContext}. */
final class RemoteSyncEventNotifySetTask extends RemoteEventTask<RdmaRemoteSyncEventNotifySetTask>
        implements RdmaRemoteSyncEventNotifySetTask {
    static final RdmaTasks.Definition<
                    RemoteSyncEventNotifySetTask, RdmaRemoteSyncEventNotifySetTask>
            TYPE =
                    new RdmaTasks.Definition<>(
                            RdmaTaskType.REMOTE_SYNC_EVENT_NOTIFY_SET,
                            RemoteSyncEventNotifySetTask::new);
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    RemoteSyncEventNotifySetTask(RdmaContext rdma) {
        super(rdma, TYPE, RIGHT, "source", rdma.maxSendBufferListLength());
    }

    @Override
    public Buf source() {
        return local();
    }

    @Override
    public RdmaRemoteSyncEventNotifySetTask setSource(Buf source) {
        return use(connection(), event(), source);
    }

    @Override
    protected void onCompleted() {
        callback().completed(this);
    }
}
