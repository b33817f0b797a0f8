package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;

/** The {@link RdmaWriteTask} of an {@link RdmaContext}. */
final class WriteTask extends RemoteTask<RdmaWriteTask> implements RdmaWriteTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    WriteTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.WRITE, RIGHT);
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().write.callbackFor(this).completed(this);
    }
}
