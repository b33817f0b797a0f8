package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaWriteTask} of an {@link RdmaContext}. */
final class WriteTask extends RemoteTask implements RdmaWriteTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    WriteTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.WRITE, RIGHT);
    }

    @Override
    public RdmaWriteTask setConnection(RdmaConnection connection) {
        use(connection, source(), destination());
        return this;
    }

    @Override
    public RdmaWriteTask setSource(Buf source) {
        use(connection(), source, destination());
        return this;
    }

    @Override
    public RdmaWriteTask setDestination(Buf destination) {
        use(connection(), source(), destination);
        return this;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().write.callbackFor(this).completed(this);
    }

    @Override
    public RdmaWriteTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaWriteTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
