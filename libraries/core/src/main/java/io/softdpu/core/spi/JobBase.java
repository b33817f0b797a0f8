package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobType;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the jobs of all libraries: whose a job is and how it ended. The library adds what
 * is to be done, with setters that begin with {@link #requireUser()}. Made by the library's context
 * when the user asks for one; allocates nothing afterwards.
 */
public abstract class JobBase implements Job {
    // Whose a job is: numbers and no enum, as in a task.

    /** Set it up, submit it, keep it. */
    private static final byte USER = 0;

    /** Submitted: hands off. */
    private static final byte LIBRARY = 1;

    /** The library is done with it, and the queue has it until it is retrieved. */
    private static final byte QUEUE = 2;

    private final ContextBase context;
    private final JobType type;
    private byte owner = USER;
    private Status status = Status.SUCCESS;
    private Status ending = Status.SUCCESS;
    private long userData;
    private @Nullable Object userObject;

    /** A job of this context and of this kind. */
    protected JobBase(ContextBase context, JobType type) {
        this.context = Arguments.notNull(context, "context");
        this.type = Arguments.notNull(type, "type");
    }

    @Override
    public final Context context() {
        return context;
    }

    @Override
    public final JobType type() {
        return type;
    }

    @Override
    public final Status status() {
        return status;
    }

    @Override
    public final boolean isInFlight() {
        return owner != USER;
    }

    @Override
    public final long userData() {
        return userData;
    }

    @Override
    public final void setUserData(long userData) {
        requireUser();
        this.userData = userData;
    }

    @Override
    public final @Nullable Object userObject() {
        return userObject;
    }

    @Override
    public final void setUserObject(@Nullable Object userObject) {
        requireUser();
        this.userObject = userObject;
    }

    /**
     * What of the job may be the reason why it was refused, for messages: {@code ", key=value"} or
     * more of that, or nothing.
     */
    protected String submissionDetails() {
        return "";
    }

    /** What it is and works on, for messages. */
    @Override
    public final String toString() {
        return "job[type=%s, context=%s%s]".formatted(type, context, submissionDetails());
    }

    /**
     * Refuses to change a job in any hands but the user's.
     *
     * @throws DpuException IN_USE if it is in flight
     */
    protected final void requireUser() {
        if (owner != USER) {
            throw new DpuException(
                    Status.IN_USE,
                    "job is in flight: type=%s, context=%s".formatted(type, context));
        }
    }

    // ---- for the lane ----

    final void submitted() {
        owner = LIBRARY;
    }

    final void refused() {
        owner = USER;
    }

    final void ended(Status how) {
        if (owner != LIBRARY) {
            throw new IllegalStateException(
                    "completed a job that the library does not have: type=%s, context=%s"
                            .formatted(type, context));
        }
        owner = QUEUE;
        if (ending != how) { // seldom another than the last time
            ending = how;
        }
    }

    final void retrieved() {
        owner = USER;
        if (status != ending) {
            status = ending;
        }
    }
}
