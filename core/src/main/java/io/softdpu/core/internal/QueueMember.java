package io.softdpu.core.internal;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Job;

/** What a work queue does with a context that it was added to. The queue's thread. */
public abstract class QueueMember {
    /** The context. */
    public abstract Context context();

    /** Takes a job; the queue has room for it. See {@code WorkQueue.trySubmit}. */
    public abstract Status submit(Job job);

    /**
     * Does what can be done now.
     *
     * @return whether anything was done
     */
    public abstract boolean progress();

    /** The library itself has failed: the context ends, by itself, and says why. */
    public abstract void failed(RuntimeException thrown);

    /** Asks to be woken; true if there is something to do already. */
    public abstract boolean arm();

    /** Takes {@link #arm()} back. */
    public abstract void disarm();

    /** The user has this job again. */
    public abstract void retrieved(Job job);

    /** How many of its jobs are submitted and not yet retrieved. */
    public abstract int inFlight();

    /** Ends it; nothing is in flight. */
    public abstract void remove();
}
