package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;

/** The {@link RdmaWriteImmediateTask} of an {@link RdmaContext}. */
final class WriteImmediateTask extends RemoteTask<RdmaWriteImmediateTask>
        implements RdmaWriteImmediateTask {
    static final RdmaTasks.Definition<WriteImmediateTask, RdmaWriteImmediateTask> TYPE =
            new RdmaTasks.Definition<>(RdmaTaskType.WRITE_IMMEDIATE, WriteImmediateTask::new);
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    WriteImmediateTask(RdmaContext rdma) {
        super(rdma, TYPE, RIGHT);
    }

    @Override
    public int immediate() {
        return request.immediate;
    }

    @Override
    public RdmaWriteImmediateTask setImmediate(int immediate) {
        requireUser();
        request.immediate = immediate;
        return this;
    }

    @Override
    protected void onCompleted() {
        callback().completed(this);
    }
}
