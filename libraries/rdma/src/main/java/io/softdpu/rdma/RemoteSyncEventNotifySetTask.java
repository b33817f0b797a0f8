package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;

/** The {@link RdmaRemoteSyncEventNotifySetTask} of an {@link RdmaContext}. */
final class RemoteSyncEventNotifySetTask extends RemoteEventTask<RdmaRemoteSyncEventNotifySetTask> implements RdmaRemoteSyncEventNotifySetTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    RemoteSyncEventNotifySetTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.WRITE, RIGHT, "source", rdma.maxSendBufferListLength());
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
        rdma.tasks().remoteEventSet.callbackFor(this).completed(this);
    }
}
