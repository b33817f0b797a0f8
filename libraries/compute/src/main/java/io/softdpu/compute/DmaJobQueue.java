package io.softdpu.compute;

import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.JobBase;

/** Queue of the copies of one work queue. Used by that queue's thread alone. */
final class DmaJobQueue extends OperationJobQueue {
    DmaJobQueue(DmaContext dma, int depth) {
        super(dma, depth, Copier.SLICE_BYTES);
    }

    @Override
    protected boolean accepts(JobBase<?> job) {
        return job instanceof MemcpyJob;
    }
}
