package io.softdpu.rdma;

/** The {@link RdmaSendImmediateTask} of an {@link RdmaContext}. */
final class SendImmediateTask extends MessageTask<RdmaSendImmediateTask>
        implements RdmaSendImmediateTask {
    static final RdmaTasks.Definition<SendImmediateTask, RdmaSendImmediateTask> TYPE =
            new RdmaTasks.Definition<>(RdmaTaskType.SEND_IMMEDIATE, SendImmediateTask::new);

    SendImmediateTask(RdmaContext rdma) {
        super(rdma, TYPE);
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
        callback().completed(this);
    }
}
