package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.spi.graph.HoldingNode;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the jobs of all libraries: owner and status of a job. The library adds the
 * operands, with setters that begin with {@link #requireUser()}. Created by the library's context
 * on request of the user; allocates nothing afterwards.
 *
 * @param <T> the library's public interface, which setters return, as in {@link TaskBase}
 */
public abstract class JobBase<T extends Job> implements Job {
    // Owners of a job: numbers instead of an enum, as in a task.

    /** Owned by the user: it may be set up, submitted or kept. */
    private static final byte USER = 0;

    /** Submitted: owned by the library. */
    private static final byte LIBRARY = 1;

    /** Completed: owned by the queue until it is retrieved. */
    private static final byte QUEUE = 2;

    /** The bits of the owner; {@link #NODE} is beside them. */
    private static final byte OWNER = 3;

    /**
     * Set while the node of a graph holds the job, which is then submitted by that alone. A bit of
     * the owner, so that the checks of the owner find it at no cost.
     */
    private static final byte NODE = 4;

    private static final Refusal IN_FLIGHT =
            Refusal.ready(
                    Status.IN_USE,
                    () -> "job is in flight: owner=library, expected=its retrieval first");
    private static final Refusal OF_NODE =
            Refusal.ready(
                    Status.IN_USE,
                    () ->
                            "a node of a graph holds the job: owner=graph instance, expected=a"
                                    + " submission of the instance, or its close first");

    private final ContextBase<?> context;
    private final JobType type;
    private byte owner = USER;
    private boolean refused;
    private @Nullable Refusal refusal;
    private Status status = Status.SUCCESS;
    private Status ending = Status.SUCCESS;
    private long userData;
    private @Nullable Object userObject;
    private @Nullable HoldingNode node;

    /** Creates a job of this context and type. */
    protected JobBase(ContextBase<?> context, JobType type) {
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
        return (owner & OWNER) != USER;
    }

    @Override
    public final long userData() {
        return userData;
    }

    @Override
    public final T setUserData(long userData) {
        requireUser();
        this.userData = userData;
        return self();
    }

    @Override
    public final @Nullable Object userObject() {
        return userObject;
    }

    @Override
    public final T setUserObject(@Nullable Object userObject) {
        requireUser();
        this.userObject = userObject;
        return self();
    }

    /** This job as its users see it, for setters. */
    @SuppressWarnings("unchecked") // a class that can be created implements T
    protected final T self() {
        return (T) this;
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
        return Text.format("job[type=%s, context=%s%s]", type, context, operands());
    }

    /**
     * Refuses a change of a job that the user does not own.
     *
     * @throws DpuException IN_USE if it is in flight, or a node of a graph instance in flight holds
     *     it and no user node runs
     */
    protected final void requireUser() {
        if (owner != USER) {
            requireUserOfNode();
        }
    }

    private void requireUserOfNode() {
        if ((owner & OWNER) != USER) {
            throw inFlight();
        }
        if (node().isFixed()) {
            node().misused("job was changed while a graph instance in flight holds it: " + this);
            throw heldByNode(", expected=a change by a user node, or after the instance");
        }
    }

    private DpuException inFlight() {
        return new DpuException(
                Status.IN_USE, Text.format("job is in flight: type=%s, context=%s", type, context));
    }

    private DpuException heldByNode(String expected) {
        return new DpuException(
                Status.IN_USE,
                Text.format(
                        "a node of a graph holds the job: job=%s, %s%s",
                        this, node().describe(), expected),
                node().allocatedAt());
    }

    private HoldingNode node() {
        return Objects.requireNonNull(node, "a node holds it");
    }

    // ---- for graphs ----

    /**
     * Gives the job to a node of a graph.
     *
     * @throws DpuException IN_USE if it is in flight or held already
     */
    final void holdFor(HoldingNode newNode) {
        if ((owner & OWNER) != USER) {
            throw inFlight();
        }
        if (owner != USER) {
            throw heldByNode(", expected=close of the instance first");
        }
        node = newNode;
        owner = NODE;
    }

    /** Takes the job from the node that holds it; it is not in flight. */
    final void releaseFromNode() {
        if (owner != NODE) {
            throw new IllegalStateException("released in flight, or twice: job=" + this);
        }
        node = null;
        owner = USER;
    }

    /** Checks that the node that holds the job may submit it. */
    final void requireAtNode() {
        if (owner != NODE) {
            throw new IllegalStateException("not with its node: job=" + this);
        }
    }

    // ---- for the job queue ----

    /** Whether the user has the job, and may submit it. */
    final boolean isUsers() {
        return owner == USER;
    }

    /** The refusal of a job that its user does not have. */
    final Refusal notTheUsers() {
        if ((owner & OWNER) != USER) {
            return IN_FLIGHT;
        }
        node().misused("job was submitted while a graph instance holds it: " + this);
        return OF_NODE;
    }

    /** Its user, or the node that holds it, submits the job. */
    final void submitted() {
        owner |= LIBRARY;
        refused = false;
    }

    /** Returns the job to the user or node that has submitted it, since it was not accepted. */
    final void notAccepted() {
        owner &= NODE;
    }

    /** Keeps the reason for the user, until the next submission is accepted. */
    final void refused(Refusal why) {
        if (refusal != why) { // a full queue usually refuses several times with one object
            refusal = why;
        }
        refused = true;
    }

    final void ended(Status how) {
        if ((owner & OWNER) != LIBRARY) {
            throw new IllegalStateException(
                    Text.format(
                            "completed a job that the library does not have: type=%s, context=%s",
                            type, context));
        }
        owner = (byte) (QUEUE | (owner & NODE));
        if (ending != how) { // usually the same as the last time
            ending = how;
        }
    }

    /** Whether it belongs to the user again, and not to a node, which was told. */
    final boolean retrieved() {
        if (status != ending) {
            status = ending;
        }
        if (owner == QUEUE) {
            owner = USER;
            return true;
        }
        owner = NODE;
        node().ended(status);
        return false;
    }
}
