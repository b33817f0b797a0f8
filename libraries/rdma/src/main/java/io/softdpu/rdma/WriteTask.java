package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;

/** The {@link RdmaWriteTask} of an {@link RdmaContext}. */
final class WriteTask extends RemoteTask<RdmaWriteTask> implements RdmaWriteTask {
    static final RdmaTasks.Definition<WriteTask, RdmaWriteTask> TYPE =
            new RdmaTasks.Definition<>(RdmaTaskType.WRITE, WriteTask::new);
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    WriteTask(RdmaContext rdma) {
        super(rdma, TYPE, RIGHT);
    }

    @Override
    protected void onCompleted() {
        callback().completed(this);
    }
}
