package io.softdpu.rdma;

import io.softdpu.rdma.spi.WorkRequest;

/** The {@link RdmaSendImmediateTask} of an {@link RdmaContext}. */
final class SendImmediateTask extends MessageTask<RdmaSendImmediateTask> implements RdmaSendImmediateTask {
    SendImmediateTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.SEND_IMMEDIATE);
    }

    @Override
    public int immediate() {
        return request.immediate;
    }

    @Override
    public RdmaSendImmediateTask setImmediate(int immediate) {
        requireUser();
        request.immediate = immediate;
        return this;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().sendImmediate.callbackFor(this).completed(this);
    }
}
