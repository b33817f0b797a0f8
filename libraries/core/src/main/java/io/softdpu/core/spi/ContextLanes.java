package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Job;
import io.softdpu.core.internal.engine.QueueCore;
import io.softdpu.core.internal.engine.QueueMember;
import java.util.ArrayList;

/** Work queues that a context is on, as one lane each. Any thread, under the context's control. */
final class ContextLanes {
    private final ContextBase context;
    private final ArrayList<JobLane> lanes = new ArrayList<>();

    ContextLanes(ContextBase context) {
        this.context = context;
    }

    QueueMember<Job> add(QueueCore<Job> queue) {
        synchronized (context.states().control) {
            if (context.maxWorkQueues() == 0) {
                throw new DpuException(
                        Status.NOT_SUPPORTED, "library knows no jobs: context=" + context);
            }
            if (context.hasEngine()) {
                throw context.states()
                        .badState("context has a progress engine, and so no work queues");
            }
            context.requireState(ContextState.RUNNING, "adding a work queue");
            if (lanes.size() >= context.maxWorkQueues()) {
                throw new DpuException(
                        Status.IN_USE,
                        "context is on as many work queues as it can be: context=%s, queues=%d"
                                .formatted(context, lanes.size()));
            }
            JobLane lane = context.newJobLane(queue.depth());
            lanes.add(lane);
            return lane.attach(queue);
        }
    }

    /** A context that has failed is IDLE when its last lane is removed. */
    void remove(JobLane lane) {
        synchronized (context.states().control) {
            lanes.remove(lane);
            if (lanes.isEmpty()) {
                context.states().endWithoutLanes();
            }
        }
    }

    /** Refuses a stop while there are lanes. In control. */
    void requireNone() {
        if (!lanes.isEmpty()) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "context is on work queues: context=%s, queues=%d"
                            .formatted(context, lanes.size()));
        }
    }

    /** Ends the sleeps of the queues. In control. */
    void wake() {
        lanes.forEach(JobLane::wake);
    }
}
