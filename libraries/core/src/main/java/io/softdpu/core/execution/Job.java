package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * A piece of work for a {@link WorkQueue} (Core guide, section 3.4): what is to be done, by which
 * context, and what the user wants to recognise it by. The older form of a {@link Task}.
 *
 * <p>A job is made by the context that will do it, before the data path begins; it is set up,
 * submitted, retrieved, and then set up and submitted again. From a successful submit until it is
 * retrieved it belongs to the library, with the bufs that it was given: no change, no second submit
 * (IN_USE). A job is the user's own object: nothing has to be given back.
 *
 * <p>Thread: one at a time; while it is in flight, that of the queue.
 */
public interface Job {
    /** The context that does the work. */
    Context context();

    /** What kind of work it is. */
    JobType type();

    /**
     * How the job ended the last time: SUCCESS, or exactly what went wrong; SUCCESS before it was
     * ever retrieved.
     */
    Status status();

    /** Whether it is submitted and not yet retrieved. */
    boolean isInFlight();

    /** The number that the user has attached; 0 at first. */
    long userData();

    /**
     * Attaches a number, for example an index.
     *
     * @throws DpuException IN_USE if it is in flight
     */
    void setUserData(long userData);

    /** The object that the user has attached; null at first. */
    @Nullable Object userObject();

    /**
     * Attaches an object; null for none.
     *
     * @throws DpuException IN_USE if it is in flight
     */
    void setUserObject(@Nullable Object userObject);

    /** Its type, its context, and what it works on, for messages. */
    @Override
    String toString();
}
