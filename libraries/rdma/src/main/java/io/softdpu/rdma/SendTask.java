package io.softdpu.rdma;

import io.softdpu.rdma.spi.WorkRequest;

/** The {@link RdmaSendTask} of an {@link RdmaContext}. */
final class SendTask extends MessageTask<RdmaSendTask> implements RdmaSendTask {
    SendTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.SEND);
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().send.callbackFor(this).completed(this);
    }
}
