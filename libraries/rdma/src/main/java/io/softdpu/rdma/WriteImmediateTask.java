package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;

/** The {@link RdmaWriteImmediateTask} of an {@link RdmaContext}. */
final class WriteImmediateTask extends RemoteTask<RdmaWriteImmediateTask> implements RdmaWriteImmediateTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    WriteImmediateTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.WRITE_IMMEDIATE, RIGHT);
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
}
