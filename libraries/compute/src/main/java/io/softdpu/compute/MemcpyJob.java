package io.softdpu.compute;

import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link DmaMemcpyJob}. */
final class MemcpyJob extends OperationJob<DmaMemcpyJob> implements DmaMemcpyJob {
    private final Copy copy;

    MemcpyJob(DmaContext dma, Buf source, Buf destination) {
        super(dma, Dma.MEMCPY_JOB, source, destination);
        this.copy = new Copy(this::completed, dma);
    }

    @Override
    @Nullable Refusal begin(OperationJobQueue submittedTo) {
        return copy.begin(source(), destination());
    }

    @Override
    BufOperation operation() {
        return copy;
    }
}
