package io.softdpu.rdma;

import io.softdpu.core.memory.Buf;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaSendTask} of an {@link RdmaContext}. */
final class SendTask extends MessageTask implements RdmaSendTask {
    SendTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.SEND);
    }

    @Override
    public RdmaSendTask setConnection(RdmaConnection connection) {
        use(connection);
        return this;
    }

    @Override
    public RdmaSendTask setSource(@Nullable Buf source) {
        read(source);
        return this;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().send.callbackFor(this).completed(this);
    }

    @Override
    public RdmaSendTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaSendTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
