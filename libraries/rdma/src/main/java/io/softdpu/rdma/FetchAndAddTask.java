package io.softdpu.rdma;

/** The {@link RdmaFetchAndAddTask} of an {@link RdmaContext}. */
final class FetchAndAddTask extends AtomicTask<RdmaFetchAndAddTask> implements RdmaFetchAndAddTask {
    static final RdmaTasks.Definition<FetchAndAddTask, RdmaFetchAndAddTask> TYPE =
            new RdmaTasks.Definition<>(RdmaTaskType.ATOMIC_FETCH_AND_ADD, FetchAndAddTask::new);

    FetchAndAddTask(RdmaContext rdma) {
        super(rdma, TYPE);
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
        callback().completed(this);
    }
}
