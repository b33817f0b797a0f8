package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Job;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import io.softdpu.linux.text.Text;
import java.util.ArrayList;

/** Job queues of a context, one per work queue. Any thread, under the context's control lock. */
final class ContextJobQueues {
    private final ContextBase<?> context;
    private final ArrayList<JobQueue> jobQueues = new ArrayList<>();

    ContextJobQueues(ContextBase<?> context) {
        this.context = context;
    }

    QueueMember<Job> add(WorkQueueImpl<Job> queue) {
        synchronized (context.states().control) {
            if (context.maxWorkQueues() == 0) {
                throw new DpuException(
                        Status.NOT_SUPPORTED, "library has no jobs: context=" + context);
            }
            if (context.hasEngine()) {
                throw context.states()
                        .badState(
                                "context has a progress engine, and so no work queues",
                                ", expected=a context without an engine");
            }
            context.requireState(ContextState.RUNNING, "adding a work queue");
            if (jobQueues.size() >= context.maxWorkQueues()) {
                throw new DpuException(
                        Status.IN_USE,
                        Text.format(
                                "context is on as many work queues as it can be: context=%s,"
                                        + " queues=%d",
                                context, jobQueues.size()));
            }
            JobQueue added = context.newJobQueue(queue.depth());
            jobQueues.add(added);
            return added.attach(queue);
        }
    }

    /** Removes one; a context that has failed becomes IDLE with its last. */
    void remove(JobQueue removed) {
        synchronized (context.states().control) {
            jobQueues.remove(removed);
            if (jobQueues.isEmpty()) {
                context.states().endWithoutJobQueues();
            }
        }
    }

    /** Refuses a stop while the context is on work queues. Under the control lock. */
    void requireNone() {
        if (!jobQueues.isEmpty()) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "context is on work queues: context=%s, queues=%d",
                            context, jobQueues.size()));
        }
    }

    /** Whether the context is on no work queue. */
    boolean isEmpty() {
        synchronized (context.states().control) {
            return jobQueues.isEmpty();
        }
    }

    /** Wakes the threads that sleep on the work queues. Under the control lock. */
    void wake() {
        jobQueues.forEach(JobQueue::wake);
    }
}
