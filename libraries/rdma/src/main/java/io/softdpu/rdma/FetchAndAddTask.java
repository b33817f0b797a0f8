package io.softdpu.rdma;

import io.softdpu.rdma.spi.WorkRequest;

/** The {@link RdmaFetchAndAddTask} of an {@link RdmaContext}. */
final class FetchAndAddTask extends AtomicTask<RdmaFetchAndAddTask> implements RdmaFetchAndAddTask {
    FetchAndAddTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.FETCH_AND_ADD);
    }

    @Override
    public long addData() {
        return request.operand;
    }

    @Override
    public RdmaFetchAndAddTask setAddData(long addData) {
        requireUser();
        request.operand = addData;
        return this;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().fetchAndAdd.callbackFor(this).completed(this);
    }
}
