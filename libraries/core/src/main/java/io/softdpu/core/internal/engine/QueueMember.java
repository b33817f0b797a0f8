package io.softdpu.core.internal.engine;

import io.softdpu.core.Status;

/**
 * A context as a work queue that was added to it uses it. The queue's thread.
 *
 * @param <J> the class of jobs
 */
public abstract class QueueMember<J> {
    /** The context. */
    public abstract Object context();

    /** Whether the context can be waited for in event-driven mode. */
    public abstract boolean isEventDrivenSupported();

    /** Whether the job is submitted and not yet retrieved. */
    public abstract boolean isInFlight(J job);

    /** The kind of the job and its context, for messages. */
    public abstract String describe(J job);

    /** Takes a job; the queue has room for it. See {@code WorkQueue.trySubmit}. */
    public abstract Status submit(J job);

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
    public abstract void retrieved(J job);

    /** How many of its jobs are submitted and not yet retrieved. */
    public abstract int inFlight();

    /** Ends it; nothing is in flight. */
    public abstract void remove();
}
