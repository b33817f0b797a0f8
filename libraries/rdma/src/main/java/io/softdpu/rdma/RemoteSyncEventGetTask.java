package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;

/** The {@link RdmaRemoteSyncEventGetTask} of an {@link RdmaContext}. */
final class RemoteSyncEventGetTask extends RemoteEventTask<RdmaRemoteSyncEventGetTask> implements RdmaRemoteSyncEventGetTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_READ);

    RemoteSyncEventGetTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.READ, RIGHT, "destination", rdma.maxSendBufferListLength());
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
        rdma.tasks().remoteEventGet.callbackFor(this).completed(this);
    }
}
