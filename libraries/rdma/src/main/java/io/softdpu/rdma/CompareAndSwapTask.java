package io.softdpu.rdma;

import io.softdpu.core.memory.Buf;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaCompareAndSwapTask} of an {@link RdmaContext}. */
final class CompareAndSwapTask extends AtomicTask implements RdmaCompareAndSwapTask {
    CompareAndSwapTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.COMPARE_AND_SWAP);
    }

    @Override
    public RdmaCompareAndSwapTask setConnection(RdmaConnection connection) {
        use(connection, destination(), result());
        return this;
    }

    @Override
    public RdmaCompareAndSwapTask setDestination(Buf destination) {
        use(connection(), destination, result());
        return this;
    }

    @Override
    public RdmaCompareAndSwapTask setResult(Buf result) {
        use(connection(), destination(), result);
        return this;
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
        rdma.tasks().compareAndSwap.callbackFor(this).completed(this);
    }

    @Override
    public RdmaCompareAndSwapTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaCompareAndSwapTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
