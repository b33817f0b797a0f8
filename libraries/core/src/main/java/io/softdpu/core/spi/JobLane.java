package io.softdpu.core.spi;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Job;
import io.softdpu.core.internal.engine.QueueCore;
import io.softdpu.core.internal.engine.QueueMember;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a library does with its jobs on one work queue: made by {@link ContextBase#newJobLane} when
 * the queue is added to the context, and used by the queue's thread alone, so it needs no lock. The
 * context itself is shared by all of its lanes, and read only.
 *
 * <p>The library takes jobs at submission ({@link #onSubmit}), does some of the work in each
 * retrieval ({@link #onProgress}: a slice, so that the other contexts of the queue have their turn)
 * and calls {@link #complete} for each job that has ended. A library that is done at once may
 * complete inside onSubmit. At most {@link #depth()} jobs are in flight, so a ring made in the
 * constructor is large enough. Allocates nothing after its creation.
 *
 * <pre>{@code
 * protected Status onSubmit(JobBase job) {
 *     CopyJob copy = (CopyJob) job;
 *     Status usable = copy.takeBufs();   // checks and marks them, or leaves all as it was
 *     if (usable == Status.SUCCESS) {
 *         ring[(head + count++) % ring.length] = copy;
 *     }
 *     return usable;
 * }
 * }</pre>
 */
public abstract class JobLane {
    private final ContextBase context;
    private final int depth;
    private final Member member = new Member();
    private @Nullable QueueCore<Job> queue;
    private int inFlight;

    /**
     * A lane of this context.
     *
     * @param context the context, RUNNING
     * @param depth how many jobs can be in flight: what {@link ContextBase#newJobLane} was given
     */
    protected JobLane(ContextBase context, int depth) {
        this.context = Arguments.notNull(context, "context");
        this.depth = depth;
    }

    // ---- what the library does ----

    /**
     * Whether this is one of the library's own jobs; others are refused with INVALID_VALUE before
     * {@link #onSubmit} sees them.
     */
    protected abstract boolean accepts(JobBase job);

    /**
     * Validates the job and takes it. Whoever returns an error has left everything as it was: no
     * buf marked, nothing queued.
     *
     * @return SUCCESS if the library has it now, AGAIN if it cannot take it just now, another
     *     status if the job is not valid
     */
    protected abstract Status onSubmit(JobBase job);

    /**
     * Does some of the work there is: what fits into one call, so that the queue stays responsive.
     * What it throws ends the context.
     *
     * @return whether anything was done
     */
    protected abstract boolean onProgress();

    /**
     * Completes all that is in flight with a failure, unless it is done: the context is ending.
     * Called in STOPPING instead of {@link #onProgress} until nothing is left.
     */
    protected abstract void onFlush();

    /**
     * Whether there is something to do, or asks what could bring it to ring; the user wants to
     * sleep. A lane that does its work itself has something to do while jobs are in flight: so it
     * is unless overridden.
     */
    protected boolean onArm() {
        return inFlight > 0;
    }

    /** Takes {@link #onArm()} back; does nothing unless overridden. */
    protected void onDisarm() {}

    /** Gives up what the constructor has taken; nothing is in flight. Called once. */
    protected void onRemove() {}

    // ---- what the library may ask for ----

    /**
     * The job has ended: it can be retrieved. The library has cleared its bufs before and does not
     * touch it after this call.
     *
     * @param how SUCCESS, or exactly what went wrong
     */
    protected final void complete(JobBase job, Status how) {
        job.ended(how);
        inFlight--;
        queue().ended(job, member);
    }

    /**
     * The context cannot go on: it moves to STOPPING by itself, {@link Context#failure()} says why,
     * and all its lanes are flushed. Does nothing where it is ending already.
     */
    protected final void fatal(Status status, String reason) {
        context.fatal(status, reason);
    }

    /** How many jobs can be in flight. */
    protected final int depth() {
        return depth;
    }

    /** How many jobs the library has. */
    protected final int inFlight() {
        return inFlight;
    }

    /** The one object through which this lane copies. */
    protected final Copier copier() {
        return queue().copier();
    }

    // ---- inside ----

    final QueueMember<Job> attach(QueueCore<Job> newQueue) {
        queue = newQueue;
        return member;
    }

    /** Ends the sleep of its queue. Any thread, while the lane is on the queue. */
    final void wake() {
        queue().wake();
    }

    private QueueCore<Job> queue() {
        return Objects.requireNonNull(queue, "the lane is on its queue");
    }

    /** This lane as its queue sees it. */
    private final class Member extends QueueMember<Job> {
        /** What the queue has of this lane, beside what the library has. */
        private int waiting;

        @Override
        public Context context() {
            return context;
        }

        @Override
        public boolean isEventDrivenSupported() {
            return context.isEventDrivenSupported();
        }

        @Override
        public boolean isInFlight(Job job) {
            return job.isInFlight();
        }

        @Override
        public String describe(Job job) {
            return "type=%s, context=%s".formatted(job.type(), job.context());
        }

        @Override
        public Status submit(Job job) {
            if (!(job instanceof JobBase base) || !accepts(base)) {
                return Status.INVALID_VALUE;
            }
            if (base.isInFlight()) {
                return Status.IN_USE;
            }
            if (context.state() != ContextState.RUNNING) {
                return Status.BAD_STATE;
            }
            base.submitted();
            inFlight++;
            waiting++;
            Status submitted = Status.UNEXPECTED;
            try {
                submitted = onSubmit(base);
            } finally {
                if (submitted != Status.SUCCESS) {
                    base.refused();
                    inFlight--;
                    waiting--;
                }
            }
            return submitted;
        }

        @Override
        public boolean progress() {
            if (context.state() == ContextState.RUNNING) {
                return onProgress();
            }
            if (inFlight == 0) {
                return false;
            }
            onFlush();
            return true;
        }

        @Override
        public void failed(RuntimeException thrown) {
            context.states().fatal(Failures.of(thrown));
        }

        @Override
        public boolean arm() {
            return context.state() != ContextState.RUNNING ? inFlight > 0 : onArm();
        }

        @Override
        public void disarm() {
            onDisarm();
        }

        @Override
        public void retrieved(Job job) {
            ((JobBase) job).retrieved();
            waiting--;
        }

        @Override
        public int inFlight() {
            return waiting;
        }

        @Override
        public void remove() {
            onRemove();
            context.lanes().remove(JobLane.this);
        }
    }
}
