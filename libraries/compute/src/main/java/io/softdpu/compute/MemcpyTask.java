package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link DmaMemcpyTask}. */
final class MemcpyTask extends OperationTask<DmaMemcpyTask> implements DmaMemcpyTask {
    private final DmaContext dma;
    private final Copy copy;

    MemcpyTask(DmaContext dma) {
        super(dma);
        this.dma = dma;
        this.copy = new Copy(this::copyEnded, dma);
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
}
