package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;

/** The {@link RdmaRemoteSyncEventGetTask} of an {@link RdmaContext}. */
final class RemoteSyncEventGetTask extends RemoteEventTask<RdmaRemoteSyncEventGetTask>
        implements RdmaRemoteSyncEventGetTask {
    static final RdmaTasks.Definition<RemoteSyncEventGetTask, RdmaRemoteSyncEventGetTask> TYPE =
            new RdmaTasks.Definition<>(
                    RdmaTaskType.REMOTE_SYNC_EVENT_GET, RemoteSyncEventGetTask::new);
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_READ);

    RemoteSyncEventGetTask(RdmaContext rdma) {
        super(rdma, TYPE, RIGHT, "destination", rdma.maxSendBufferListLength());
    }

    @Override
    public Buf destination() {
        return local();
    }

    @Override
    public RdmaRemoteSyncEventGetTask setDestination(Buf destination) {
        return use(connection(), event(), destination);
    }

    @Override
    public long resultLength() {
        return request.resultLengthBytes;
    }

    @Override
    protected void onCompleted() {
        callback().completed(this);
    }
}
