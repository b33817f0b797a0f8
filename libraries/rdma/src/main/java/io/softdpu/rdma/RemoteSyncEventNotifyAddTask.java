package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaRemoteSyncEventNotifyAddTask} of an {@link RdmaContext}. */
final class RemoteSyncEventNotifyAddTask extends RemoteEventTask
        implements RdmaRemoteSyncEventNotifyAddTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_ATOMIC);

    RemoteSyncEventNotifyAddTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.FETCH_AND_ADD, RIGHT, "result", 1);
    }

    @Override
    public RdmaRemoteSyncEventNotifyAddTask setConnection(RdmaConnection connection) {
        use(connection, event(), local());
        return this;
    }

    @Override
    public RdmaRemoteSyncEventNotifyAddTask setEvent(RemoteSyncEvent event) {
        use(connection(), event, local());
        return this;
    }

    @Override
    public Buf result() {
        return local();
    }

    @Override
    public RdmaRemoteSyncEventNotifyAddTask setResult(Buf result) {
        use(connection(), event(), result);
        return this;
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
        rdma.tasks().remoteEventAdd.callbackFor(this).completed(this);
    }

    @Override
    public RdmaRemoteSyncEventNotifyAddTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaRemoteSyncEventNotifyAddTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
