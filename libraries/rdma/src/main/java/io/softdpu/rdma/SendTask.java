package io.softdpu.rdma;

/** The {@link RdmaSendTask} of an {@link RdmaContext}. */
final class SendTask extends MessageTask<RdmaSendTask> implements RdmaSendTask {
    static final RdmaTasks.Definition<SendTask, RdmaSendTask> TYPE =
            new RdmaTasks.Definition<>(RdmaTaskType.SEND, SendTask::new);

    SendTask(RdmaContext rdma) {
        super(rdma, TYPE);
    }

    @Override
    protected void onCompleted() {
        callback().completed(this);
    }
}
