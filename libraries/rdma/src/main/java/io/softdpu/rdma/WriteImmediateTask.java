package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaWriteImmediateTask} of an {@link RdmaContext}. */
final class WriteImmediateTask extends RemoteTask implements RdmaWriteImmediateTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    WriteImmediateTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.WRITE_IMMEDIATE, RIGHT);
    }

    @Override
    public RdmaWriteImmediateTask setConnection(RdmaConnection connection) {
        use(connection, source(), destination());
        return this;
    }

    @Override
    public RdmaWriteImmediateTask setSource(Buf source) {
        use(connection(), source, destination());
        return this;
    }

    @Override
    public RdmaWriteImmediateTask setDestination(Buf destination) {
        use(connection(), source(), destination);
        return this;
    }

    @Override
    public int immediate() {
        return request.immediate;
    }

    @Override
    public RdmaWriteImmediateTask setImmediate(int immediate) {
        requireUser();
        request.immediate = immediate;
        return this;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().writeImmediate.callbackFor(this).completed(this);
    }

    @Override
    public RdmaWriteImmediateTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaWriteImmediateTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
