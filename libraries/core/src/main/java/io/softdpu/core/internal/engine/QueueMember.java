package io.softdpu.core.internal.engine;

import io.softdpu.core.check.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * Context as a work queue uses it. The queue's thread.
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

    /** Whether the job has to be refused, since the user does not have it. */
    public abstract boolean isTaken(J job);

    /** The kind of the job and its context, for messages. */
    public abstract String describe(J job);

    /**
     * Submits a job; the queue is not full. See {@code WorkQueue.trySubmit}.
     *
     * @return null if it was accepted, else why not
     */
    public abstract @Nullable Refusal submit(J job);

    /**
     * Submits a job for the node of a graph that holds it; a place of the queue was reserved.
     *
     * @return null if it was accepted, else why not
     */
    public abstract @Nullable Refusal submitNode(J job);

    /** Keeps the reason why a job was refused, for its user. Allocates nothing. */
    public abstract void refused(J job, Refusal refusal);

    /**
     * Does the work that can be done now.
     *
     * @return whether anything was done
     */
    public abstract boolean progress();

    /** Fails the context because of a defect of the library. */
    public abstract void failed(RuntimeException thrown);

    /** Requests a wake-up; true if there is work already. */
    public abstract boolean arm();

    /** Cancels {@link #arm()}. */
    public abstract void disarm();

    /**
     * This job was retrieved: it belongs to its user again, or to the node of a graph, which is
     * told.
     *
     * @return whether it belongs to its user
     */
    public abstract boolean retrieved(J job);

    /** Number of its jobs submitted and not yet retrieved. */
    public abstract int inFlight();

    /** Removes it from the context; no job is in flight. */
    public abstract void remove();
}
