package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;

/** The {@link RdmaReadTask} of an {@link RdmaContext}. */
final class ReadTask extends RemoteTask<RdmaReadTask> implements RdmaReadTask {
    static final RdmaTasks.Definition<ReadTask, RdmaReadTask> TYPE =
            new RdmaTasks.Definition<>(RdmaTaskType.READ, ReadTask::new);
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_READ);

    ReadTask(RdmaContext rdma) {
        super(rdma, TYPE, RIGHT);
    }

    @Override
    public long resultLength() {
        return request.resultLengthBytes;
    }

    @Override
    protected void onCompleted() {
        callback().completed(this);
    }
}
