package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.spi.JobBase;
import io.softdpu.core.spi.JobQueue;
import org.jspecify.annotations.Nullable;

/** Queue of the copies of one work queue. Used by that queue's thread alone. */
final class DmaJobQueue extends JobQueue {
    private final DmaContext dma;
    private final CopyQueue queue;

    DmaJobQueue(DmaContext dma, int depth) {
        super(dma, depth);
        this.dma = dma;
        this.queue = new CopyQueue(depth);
    }

    @Override
    protected boolean accepts(JobBase job) {
        return job instanceof MemcpyJob;
    }

    @Override
    protected @Nullable Refusal onSubmit(JobBase job) {
        MemcpyJob memcpy = (MemcpyJob) job;
        Refusal refusal = memcpy.begin(this);
        if (refusal == null) {
            queue.add(memcpy.copy());
        }
        return refusal;
    }

    @Override
    protected boolean onProgress() {
        if (queue.isEmpty()) {
            return false;
        }
        Copy failed = queue.progress(copier());
        if (failed != null) {
            failed.end();
            failed.owner().copied(failed.status());
        }
        return true;
    }

    @Override
    protected void onFlush() {
        queue.flush(Status.SHUTDOWN);
    }

    /** Completes a job of this queue; whether the context still runs. */
    boolean ended(MemcpyJob job, Status how) {
        complete(job, how);
        return dma.state() == ContextState.RUNNING;
    }
}
