package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link DmaMemcpyTask}. */
final class MemcpyTask extends OperationTask implements DmaMemcpyTask {
    private final DmaContext dma;
    private final Copy copy;

    MemcpyTask(DmaContext dma) {
        super(dma);
        this.dma = dma;
        this.copy = new Copy(this::copyEnded, dma);
    }

    @Override
    public DmaMemcpyTask setSource(Buf source) {
        putSource(source);
        return this;
    }

    @Override
    public DmaMemcpyTask setDestination(Buf destination) {
        putDestination(destination);
        return this;
    }

    private boolean copyEnded(Status ended) {
        complete(ended);
        return dma.mayProcessMore();
    }

    @Override
    protected @Nullable Refusal onSubmit() {
        Refusal refusal = copy.begin(source(), destination());
        if (refusal == null) {
            dma.add(copy);
        }
        return refusal;
    }

    @Override
    protected void onCompleted() {
        dma.completed(this);
    }

    @Override
    public DmaMemcpyTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public DmaMemcpyTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
