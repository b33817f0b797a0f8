package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaRemoteSyncEventGetTask} of an {@link RdmaContext}. */
final class RemoteSyncEventGetTask extends RemoteEventTask implements RdmaRemoteSyncEventGetTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_READ);

    RemoteSyncEventGetTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.READ, RIGHT, "destination", rdma.maxSendBufferListLength());
    }

    @Override
    public RdmaRemoteSyncEventGetTask setConnection(RdmaConnection connection) {
        use(connection, event(), local());
        return this;
    }

    @Override
    public RdmaRemoteSyncEventGetTask setEvent(RemoteSyncEvent event) {
        use(connection(), event, local());
        return this;
    }

    @Override
    public Buf destination() {
        return local();
    }

    @Override
    public RdmaRemoteSyncEventGetTask setDestination(Buf destination) {
        use(connection(), event(), destination);
        return this;
    }

    @Override
    public long resultLength() {
        return request.resultLengthBytes;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().remoteEventGet.callbackFor(this).completed(this);
    }

    @Override
    public RdmaRemoteSyncEventGetTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaRemoteSyncEventGetTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
