package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobType;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the jobs of all libraries: owner and status of a job. The library adds the
 * operands, with setters that begin with {@link #requireUser()}. Created by the library's context
 * on request of the user; allocates nothing afterwards.
 */
public abstract class JobBase implements Job {
    // Owners of a job: numbers instead of an enum, as in a task.

    /** Owned by the user: it may be set up, submitted or kept. */
    private static final byte USER = 0;

    /** Submitted: owned by the library. */
    private static final byte LIBRARY = 1;

    /** Completed: owned by the queue until it is retrieved. */
    private static final byte QUEUE = 2;

    private final ContextBase context;
    private final JobType type;
    private byte owner = USER;
    private boolean refused;
    private @Nullable Refusal refusal;
    private Status status = Status.SUCCESS;
    private Status ending = Status.SUCCESS;
    private long userData;
    private @Nullable Object userObject;

    /** Creates a job of this context and type. */
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

    /** 0; the library overrides it for jobs with a number as their outcome. */
    @Override
    public long result() {
        return 0;
    }

    @Override
    public final boolean isInFlight() {
        return owner != USER;
    }

    @Override
    public final long userData() {
        return userData;
    }

    /** The library overrides it, to return its own type. */
    @Override
    public Job setUserData(long userData) {
        requireUser();
        this.userData = userData;
        return this;
    }

    @Override
    public final @Nullable Object userObject() {
        return userObject;
    }

    /** The library overrides it, to return its own type. */
    @Override
    public Job setUserObject(@Nullable Object userObject) {
        requireUser();
        this.userObject = userObject;
        return this;
    }

    @Override
    public final @Nullable DpuException refusal() {
        Refusal last = refusal;
        return refused && last != null ? last.exception("job=" + this) : null;
    }

    /** The operands for messages: {@code ", key=value"} one or more times, or nothing. */
    protected String operands() {
        return "";
    }

    /** Type, context and operands, for messages. */
    @Override
    public final String toString() {
        return "job[type=%s, context=%s%s]".formatted(type, context, operands());
    }

    /**
     * Refuses a change of a job that the user does not own.
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

    // ---- for the job queue ----

    final void submitted() {
        owner = LIBRARY;
        refused = false;
    }

    /** Returns the job to its user, since it was not accepted. */
    final void returnToUser() {
        owner = USER;
    }

    /** Keeps the reason for the user, until the next submission is accepted. */
    final void refused(Refusal why) {
        if (refusal != why) { // a full queue usually refuses several times with one object
            refusal = why;
        }
        refused = true;
    }

    final void ended(Status how) {
        if (owner != LIBRARY) {
            throw new IllegalStateException(
                    "completed a job that the library does not have: type=%s, context=%s"
                            .formatted(type, context));
        }
        owner = QUEUE;
        if (ending != how) { // usually the same as the last time
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
