package io.softdpu.rdma;

import io.softdpu.core.memory.Buf;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaFetchAndAddTask} of an {@link RdmaContext}. */
final class FetchAndAddTask extends AtomicTask implements RdmaFetchAndAddTask {
    FetchAndAddTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.FETCH_AND_ADD);
    }

    @Override
    public RdmaFetchAndAddTask setConnection(RdmaConnection connection) {
        use(connection, destination(), result());
        return this;
    }

    @Override
    public RdmaFetchAndAddTask setDestination(Buf destination) {
        use(connection(), destination, result());
        return this;
    }

    @Override
    public RdmaFetchAndAddTask setResult(Buf result) {
        use(connection(), destination(), result);
        return this;
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
        rdma.tasks().fetchAndAdd.callbackFor(this).completed(this);
    }

    @Override
    public RdmaFetchAndAddTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaFetchAndAddTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
