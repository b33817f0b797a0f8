package io.softdpu.rdma;

import io.softdpu.core.memory.Buf;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaSendImmediateTask} of an {@link RdmaContext}. */
final class SendImmediateTask extends MessageTask implements RdmaSendImmediateTask {
    SendImmediateTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.SEND_IMMEDIATE);
    }

    @Override
    public RdmaSendImmediateTask setConnection(RdmaConnection connection) {
        use(connection);
        return this;
    }

    @Override
    public RdmaSendImmediateTask setSource(@Nullable Buf source) {
        read(source);
        return this;
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
        rdma.tasks().sendImmediate.callbackFor(this).completed(this);
    }

    @Override
    public RdmaSendImmediateTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaSendImmediateTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
