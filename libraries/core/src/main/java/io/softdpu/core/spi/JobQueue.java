package io.softdpu.core.spi;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Job;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Jobs of a library on one work queue: base class of a library's implementation. Created by {@link
 * ContextBase#newJobQueue} when the work queue is added to the context, and used by the queue's
 * thread alone, so it needs no lock. The context is shared by all of its job queues, and read only.
 *
 * <p>The library accepts jobs at submission ({@link #onSubmit}), does one slice of the work per
 * retrieval ({@link #onProgress}), so that the other contexts of the queue have their turn, and
 * calls {@link #complete} for each job that has ended. A library that finishes a job at once may
 * complete it inside onSubmit. At most {@link #depth()} jobs are in flight, so a ring allocated in
 * the constructor is large enough. Allocates nothing after its creation.
 *
 * <pre>{@code
 * protected @Nullable Refusal onSubmit(JobBase job) {
 *     CopyJob copy = (CopyJob) job;
 *     Refusal refusal = copy.takeBufs();   // checks and marks them, or leaves all as it was
 *     if (refusal == null) {
 *         ring[(head + count++) % ring.length] = copy;
 *     }
 *     return refusal;
 * }
 * }</pre>
 */
public abstract class JobQueue {
    private final ContextBase<?> context;
    private final int depth;
    private final Member member = new Member();
    private @Nullable WorkQueueImpl<Job> queue;
    private int inFlight;

    /**
     * Creates the job queue of a context.
     *
     * @param context the context, RUNNING
     * @param depth upper bound of the jobs in flight, as given to {@link ContextBase#newJobQueue}
     */
    protected JobQueue(ContextBase<?> context, int depth) {
        this.context = Arguments.notNull(context, "context");
        this.depth = depth;
    }

    // ---- hooks of the library ----

    /**
     * Whether this is one of the library's own jobs; others are refused with INVALID_VALUE before
     * {@link #onSubmit} sees them.
     */
    protected abstract boolean accepts(JobBase<?> job);

    /**
     * Validates the job and accepts it. An error leaves everything unchanged: no buf marked,
     * nothing queued.
     *
     * @return null if the library has accepted it; else why not, without the job, which is added
     *     here: AGAIN if it cannot at present, another status if the job is not valid
     */
    protected abstract @Nullable Refusal onSubmit(JobBase<?> job);

    /**
     * Does a limited part of the work, so that the queue stays responsive. An exception thrown here
     * ends the context.
     *
     * @return whether anything was done
     */
    protected abstract boolean onProgress();

    /**
     * Completes all jobs in flight with a failure, except those that are done. Called in STOPPING
     * instead of {@link #onProgress} until no job is in flight.
     */
    protected abstract void onFlush();

    /**
     * Called before the user sleeps: returns true if there is work to do, else requests a wake-up
     * for the next work. A queue that does its work itself has work while jobs are in flight; that
     * is the default.
     */
    protected boolean onArm() {
        return inFlight > 0;
    }

    /** Cancels the request of {@link #onArm()}; the default does nothing. */
    protected void onDisarm() {}

    /** Releases the resources of the constructor; no job is in flight. Called once. */
    protected void onRemove() {}

    // ---- services for the library ----

    /**
     * Completes a job: it can be retrieved. The library has cleared its bufs before and does not
     * use the job after this call.
     *
     * @param how SUCCESS, or the failure
     */
    protected final void complete(JobBase<?> job, Status how) {
        job.ended(how);
        inFlight--;
        queue().ended(job, member);
    }

    /**
     * Fails the context: it moves to STOPPING, {@link Context#failure()} gives the reason, and all
     * of its job queues are flushed. Does nothing if the context is stopping already.
     */
    protected final void fatal(Status status, String reason) {
        context.fatal(status, reason);
    }

    /** Upper bound of the jobs in flight. */
    protected final int depth() {
        return depth;
    }

    /** Number of jobs that the library has accepted and not completed. */
    protected final int inFlight() {
        return inFlight;
    }

    /** The work queue's copier. */
    protected final Copier copier() {
        return queue().copier();
    }

    /**
     * Signals the work queue if it is armed: for work that this job queue finds in its next
     * progress or arm. Any thread, from creation by the context to {@link #onRemove}; allocates
     * nothing.
     */
    protected final void wake() {
        queue().wake();
    }

    // ---- internal ----

    final QueueMember<Job> attach(WorkQueueImpl<Job> newQueue) {
        queue = newQueue;
        return member;
    }

    /** The poller in which the work queue sleeps; in event-driven mode. */
    final EventPoller poller() {
        return queue().poller();
    }

    private WorkQueueImpl<Job> queue() {
        return Objects.requireNonNull(queue, "attached to a work queue");
    }

    /** This job queue as its work queue sees it. */
    private final class Member extends QueueMember<Job> {
        /** Jobs submitted and not yet retrieved, whether the library has completed them or not. */
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
        public boolean isTaken(Job job) {
            return job instanceof JobBase<?> base ? !base.isUsers() : job.isInFlight();
        }

        @Override
        public String describe(Job job) {
            return Text.format("type=%s, context=%s", job.type(), job.context());
        }

        @Override
        public @Nullable Refusal submit(Job job) {
            if (!(job instanceof JobBase<?> base) || !accepts(base)) {
                return Refusal.of(
                        Status.INVALID_VALUE,
                        "job is not one of this library: class=%s, expected=a job that the context"
                                + " has created",
                        job.getClass().getName());
            }
            return base.isUsers() ? handOver(base) : base.notTheUsers();
        }

        @Override
        public @Nullable Refusal submitNode(Job job) {
            JobBase<?> base = (JobBase<?>) job;
            base.requireAtNode();
            return handOver(base);
        }

        /** Hands the job to the library: null if it was accepted, else why not. */
        private @Nullable Refusal handOver(JobBase<?> job) {
            if (context.state() != ContextState.RUNNING) {
                return context.states().notRunning();
            }
            job.submitted();
            inFlight++;
            waiting++;
            Refusal refusal = null;
            boolean accepted = false;
            try {
                refusal = onSubmit(job);
                accepted = refusal == null;
            } finally {
                if (!accepted) {
                    job.notAccepted();
                    inFlight--;
                    waiting--;
                }
            }
            return refusal;
        }

        @Override
        public void refused(Job job, Refusal refusal) {
            if (job instanceof JobBase<?> base) {
                base.refused(refusal);
            }
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
        public boolean retrieved(Job job) {
            waiting--;
            return ((JobBase<?>) job).retrieved();
        }

        @Override
        public int inFlight() {
            return waiting;
        }

        @Override
        public void remove() {
            onRemove();
            context.jobQueues().remove(JobQueue.this);
        }
    }
}
