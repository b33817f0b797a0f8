package io.softdpu.rdma;

/** The {@link RdmaCompareAndSwapTask} of an {@link RdmaContext}. */
final class CompareAndSwapTask extends AtomicTask<RdmaCompareAndSwapTask>
        implements RdmaCompareAndSwapTask {
    static final RdmaTasks.Definition<CompareAndSwapTask, RdmaCompareAndSwapTask> TYPE =
            new RdmaTasks.Definition<>(
                    RdmaTaskType.ATOMIC_COMPARE_AND_SWAP, CompareAndSwapTask::new);

    CompareAndSwapTask(RdmaContext rdma) {
        super(rdma, TYPE);
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
        callback().completed(this);
    }
}
