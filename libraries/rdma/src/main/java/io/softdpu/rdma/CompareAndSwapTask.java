package io.softdpu.rdma;

import io.softdpu.rdma.spi.WorkRequest;

/** The {@link RdmaCompareAndSwapTask} of an {@link RdmaContext}. */
final class CompareAndSwapTask extends AtomicTask<RdmaCompareAndSwapTask> implements RdmaCompareAndSwapTask {
    CompareAndSwapTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.COMPARE_AND_SWAP);
    }

    @Override
    public long compareData() {
        return request.operand;
    }

    @Override
    public RdmaCompareAndSwapTask setCompareData(long compareData) {
        requireUser();
        request.operand = compareData;
        return this;
    }

    @Override
    public long swapData() {
        return request.swap;
    }

    @Override
    public RdmaCompareAndSwapTask setSwapData(long swapData) {
        requireUser();
        request.swap = swapData;
        return this;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().compareAndSwap.callbackFor(this).completed(this);
    }
}
