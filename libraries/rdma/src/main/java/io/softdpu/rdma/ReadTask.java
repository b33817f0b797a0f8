package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;

/** The {@link RdmaReadTask} of an {@link RdmaContext}. */
final class ReadTask extends RemoteTask<RdmaReadTask> implements RdmaReadTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_READ);

    ReadTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.READ, RIGHT);
    }

    @Override
    public long resultLength() {
        return request.resultLengthBytes;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().read.callbackFor(this).completed(this);
    }
}
