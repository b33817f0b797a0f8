package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventContext;

/** Signals in asynchronous mode: each operation is a job, whose end the queue is polled for. */
final class JobSignals implements EventSignals {
    private static final System.Logger LOG = System.getLogger(JobSignals.class.getName());

    private final SyncEventContext context;
    private final WorkQueue queue;
    private final boolean atomic;
    private final Deadline deadline;
    private final JobEvent ended = JobEvent.create();

    JobSignals(SyncEvent event, SyncEventSettings settings, Deadline deadline) {
        this.context = event.asContext();
        this.atomic = settings.isAtomic();
        this.deadline = deadline;
        context.start(); // without an engine: its operations are jobs
        queue = WorkQueue.create(settings.queueDepth());
        queue.add(context);
        LOG.log(
                System.Logger.Level.DEBUG,
                "event started: mode=asynchronous, depth=" + queue.depth() + ", atomic=" + atomic);
    }

    @Override
    public long signal(long value) {
        if (atomic) {
            return run(context.createAddJob(1), "addition") + 1;
        }
        run(context.createSetJob(value), "set");
        return value;
    }

    @Override
    public long awaitGreater(long threshold) {
        return run(context.createWaitGreaterJob(threshold, SyncEvent.ALL_BITS), "wait");
    }

    /** Submits a job, polls until it has ended, and returns its result. */
    private long run(Job job, String operation) {
        queue.submit(job);
        while (true) {
            switch (queue.progressRetrieve(ended)) {
                case SUCCESS -> {
                    return ended.result();
                }
                case AGAIN -> {
                    deadline.check("end of the job: operation=" + operation);
                    Thread.onSpinWait();
                }
                case IO_FAILED ->
                        throw new DpuException(
                                ended.status(), "job has failed: operation=" + operation);
                default ->
                        throw new DpuException(
                                Status.UNEXPECTED, "queue has failed: operation=" + operation);
            }
        }
    }

    @Override
    public void close() {
        queue.close();
        context.stop();
    }
}
