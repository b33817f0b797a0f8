package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * Unit of work for a {@link WorkQueue} (Core guide, section 3.4): an operation of a context, with
 * data of the user. The older form of a {@link Task}.
 *
 * <p>A job is created by the context that executes it, before the data path begins; it is set up,
 * submitted, retrieved, and then set up and submitted again. From a successful submit until it is
 * retrieved it and its bufs belong to the library: it can be neither changed nor submitted
 * (IN_USE). A job is the user's own object and need not be freed.
 *
 * <p>Thread: one at a time; while it is in flight, that of the queue.
 */
public interface Job {
    /** The context that executes it. */
    Context context();

    /** The type of the job. */
    JobType type();

    /**
     * The result of the last execution: SUCCESS or the failure; SUCCESS before it was ever
     * retrieved.
     */
    Status status();

    /**
     * The outcome of the last successful execution as a number, such as the value of a counter, as
     * the library documents; 0 for jobs without one.
     */
    long result();

    /** Whether it is submitted and not yet retrieved. */
    boolean isInFlight();

    /**
     * The reason of the last submission if that was refused: the exception that {@link
     * WorkQueue#submit} has thrown, or would have thrown in place of {@link WorkQueue#trySubmit}.
     * Null if it was accepted, and before the first. The exception is created by this call, from
     * values of the refusal.
     */
    @Nullable DpuException refusal();

    /** The number that the user has attached; 0 at first. */
    long userData();

    /**
     * Attaches a number, for example an index.
     *
     * @throws DpuException IN_USE if it is in flight
     */
    Job setUserData(long userData);

    /** The object that the user has attached; null at first. */
    @Nullable Object userObject();

    /**
     * Attaches an object; null for none.
     *
     * @throws DpuException IN_USE if it is in flight
     */
    Job setUserObject(@Nullable Object userObject);

    /** Its type, context and operands, for messages. */
    @Override
    String toString();
}
