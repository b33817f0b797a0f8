package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaRemoteSyncEventNotifySetTask} of an {@link RdmaContext}. */
final class RemoteSyncEventNotifySetTask extends RemoteEventTask
        implements RdmaRemoteSyncEventNotifySetTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    RemoteSyncEventNotifySetTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.WRITE, RIGHT, "source", rdma.maxSendBufferListLength());
    }

    @Override
    public RdmaRemoteSyncEventNotifySetTask setConnection(RdmaConnection connection) {
        use(connection, event(), local());
        return this;
    }

    @Override
    public RdmaRemoteSyncEventNotifySetTask setEvent(RemoteSyncEvent event) {
        use(connection(), event, local());
        return this;
    }

    @Override
    public Buf source() {
        return local();
    }

    @Override
    public RdmaRemoteSyncEventNotifySetTask setSource(Buf source) {
        use(connection(), event(), source);
        return this;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().remoteEventSet.callbackFor(this).completed(this);
    }

    @Override
    public RdmaRemoteSyncEventNotifySetTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaRemoteSyncEventNotifySetTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
