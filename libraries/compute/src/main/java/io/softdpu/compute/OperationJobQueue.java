package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.JobBase;
import io.softdpu.core.spi.JobQueue;
import org.jspecify.annotations.Nullable;

/** Queue of the operations of one work queue. Used by that queue's thread alone. */
abstract class OperationJobQueue extends JobQueue {
    private final ContextBase<?> context;
    private final OperationQueue queue;

    OperationJobQueue(ContextBase<?> context, int depth, long sliceBytes) {
        super(context, depth);
        this.context = context;
        this.queue = new OperationQueue(depth, sliceBytes);
    }

    @Override
    protected final @Nullable Refusal onSubmit(JobBase<?> job) {
        OperationJob<?> submitted = (OperationJob<?>) job;
        Refusal refusal = submitted.beginOn(this);
        if (refusal == null) {
            queue.add(submitted.operation());
        }
        return refusal;
    }

    @Override
    protected final boolean onProgress() {
        if (queue.isEmpty()) {
            return false;
        }
        BufOperation failed = queue.progress(copier());
        if (failed != null) {
            failed.end();
            failed.owner().ended(failed.status());
        }
        return true;
    }

    @Override
    protected final void onFlush() {
        queue.flush(Status.SHUTDOWN);
    }

    /** Completes a job of this queue; whether the context still runs. */
    final boolean ended(JobBase<?> job, Status how) {
        complete(job, how);
        return context.state() == ContextState.RUNNING;
    }
}
