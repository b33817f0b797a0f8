package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaReadTask} of an {@link RdmaContext}. */
final class ReadTask extends RemoteTask implements RdmaReadTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_READ);

    ReadTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.READ, RIGHT);
    }

    @Override
    public RdmaReadTask setConnection(RdmaConnection connection) {
        use(connection, source(), destination());
        return this;
    }

    @Override
    public RdmaReadTask setSource(Buf source) {
        use(connection(), source, destination());
        return this;
    }

    @Override
    public RdmaReadTask setDestination(Buf destination) {
        use(connection(), source(), destination);
        return this;
    }

    @Override
    public long resultLength() {
        return request.resultLengthBytes;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().read.callbackFor(this).completed(this);
    }

    @Override
    public RdmaReadTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaReadTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
