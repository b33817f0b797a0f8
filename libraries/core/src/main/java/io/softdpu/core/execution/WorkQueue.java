package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.engine.QueueCore;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.fabric.error.FabricException;

/**
 * A thread's queue of jobs for the contexts that it was added to (the WorkQ of the Core guide,
 * sections 3.4.3 to 3.4.5 and 3.4.8). The older form of a {@link ProgressEngine}: no callbacks, a
 * job that has ended is asked for.
 *
 * <p>The order is: {@linkplain Context#start() start} a context without an engine, create a queue,
 * {@linkplain #add add} it to the context, {@linkplain #submit submit} jobs, {@linkplain
 * #progressRetrieve retrieve} each, {@linkplain #remove remove} the queue, stop the context. A
 * queue can be added to several contexts, whose jobs are then all awaited here; a context can have
 * several queues, on several threads, where its library says so. No order is promised between jobs:
 * one that depends on another is submitted after the other was retrieved.
 *
 * <p>Polling mode, the default, is calling {@link #progressRetrieve} in a loop. In event-driven
 * mode ({@link #setEventDriven}): {@linkplain #armEvent arm}, submit, wait until {@link
 * #eventHandle()} is readable (or {@link #awaitEvent}), {@linkplain #clearEvent clear}, retrieve
 * until AGAIN, and anew. A signal says that the queue can go on, not that a job has ended.
 *
 * <p>Thread: a queue belongs to the thread that created it; a call from another fails with
 * NOT_PERMITTED that names both. Contexts on work queues may be used from any thread. Submitting
 * and retrieving allocates nothing, takes no lock, and makes no system call in polling mode.
 */
public final class WorkQueue implements AutoCloseable {
    /** More jobs at once than any program needs; a larger number is a mistake. */
    public static final int MAX_DEPTH = 1 << 20;

    private final QueueCore<Job> core;

    private WorkQueue(int depth) {
        this.core = new QueueCore<>(depth);
    }

    /**
     * Creates a queue of the calling thread, in polling mode.
     *
     * @param depth how many jobs may be submitted and not yet retrieved, 1 to {@link #MAX_DEPTH}
     * @throws DpuException INVALID_VALUE if the depth is out of range
     */
    public static WorkQueue create(int depth) {
        if (depth < 1 || depth > MAX_DEPTH) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "depth of a work queue out of range: depth=%d, max=%d"
                            .formatted(depth, MAX_DEPTH));
        }
        return new WorkQueue(depth);
    }

    /** How many jobs may be submitted and not yet retrieved. Any thread. */
    public int depth() {
        return core.depth();
    }

    /** The thread that it belongs to. Any thread. */
    public Thread owner() {
        return core.owner();
    }

    // ---- its contexts ----

    /**
     * Adds the queue to a context, whose jobs it accepts from now on (doca_ctx_workq_add).
     *
     * @throws DpuException BAD_STATE if the context is not RUNNING or has a progress engine; IN_USE
     *     if the queue was added to it already, or it has as many queues as its library allows;
     *     NOT_SUPPORTED if its library knows no jobs, or the queue is event-driven and the context
     *     {@linkplain Context#isEventDrivenSupported() cannot be}
     */
    public void add(Context context) {
        core.requireUsable();
        Arguments.notNull(context, "context");
        if (core.member(context) != null) {
            throw new DpuException(
                    Status.IN_USE,
                    "queue was added to the context already: context=%s, queueThread=%s"
                            .formatted(context, core.owner().getName()));
        }
        core.requireFit(context, context.isEventDrivenSupported());
        core.add(
                ContextAccess.of(Context.class, ProgressEngine.class, Job.class)
                        .addQueue(context, core));
    }

    /**
     * Takes the queue from a context (doca_ctx_workq_rm).
     *
     * @throws DpuException NOT_FOUND if it was not added to it; NOT_PERMITTED while jobs of the
     *     context are in flight on this queue: retrieve them first
     */
    public void remove(Context context) {
        core.requireUsable();
        Arguments.notNull(context, "context");
        QueueMember<Job> member = core.member(context);
        if (member == null) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    "queue was not added to the context: context=%s, queueThread=%s"
                            .formatted(context, core.owner().getName()));
        }
        if (member.inFlight() > 0) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "jobs are in flight: context=%s, jobs=%d"
                            .formatted(context, member.inFlight()));
        }
        core.remove(member);
    }

    // ---- jobs ----

    /**
     * Submits a job.
     *
     * @throws DpuException with the status that {@link #trySubmit} would have returned
     */
    public void submit(Job job) {
        Status submitted = trySubmit(job);
        if (submitted != Status.SUCCESS) {
            throw new DpuException(
                    submitted,
                    "job was not submitted: job=%s, state=%s, inFlight=%d, depth=%d"
                            .formatted(job, job.context().state(), core.inFlight(), core.depth()));
        }
    }

    /**
     * Validates and submits a job; never throws for what can happen in normal work. Returns before
     * the job is done.
     *
     * @return SUCCESS if the library has it now; NO_MEMORY if as many jobs are in flight as the
     *     queue is deep (retrieve one first); AGAIN if the library cannot take it just now;
     *     NOT_FOUND if the queue was not added to the job's context; BAD_STATE if that context is
     *     ending; IN_USE if the job or one of its bufs is in flight already; another status if the
     *     job is not valid
     * @throws DpuException INVALID_VALUE if the job is null; NOT_PERMITTED from another thread;
     *     BAD_STATE if the queue is closed
     */
    public Status trySubmit(Job job) {
        core.requireUsable();
        QueueMember<Job> member = core.member(Arguments.notNull(job, "job").context());
        return member == null ? Status.NOT_FOUND : core.submit(member, job);
    }

    /**
     * Goes on with the jobs and gives one that has ended.
     *
     * @param event is filled where the answer is SUCCESS or IO_FAILED, and is not valid otherwise
     * @return SUCCESS, once for each job that has done its work; IO_FAILED, once for each that has
     *     failed: {@link JobEvent#status()} says exactly how; AGAIN while none has ended;
     *     INVALID_VALUE for an error of the queue that belongs to no job: the event is null, or a
     *     context has failed, is ending, and tells by {@link Context#failure()} why (once; its jobs
     *     come back with IO_FAILED)
     * @throws DpuException NOT_PERMITTED from another thread; BAD_STATE if the queue is closed
     */
    @SuppressWarnings("ConstantValue") // the guide has a status for what an annotation excludes
    public Status progressRetrieve(JobEvent event) {
        core.requireUsable();
        if (event == null) {
            return Status.INVALID_VALUE;
        }
        event.fill(null);
        Status progressed = core.progress();
        if (progressed != Status.SUCCESS) {
            return progressed;
        }
        Job job = core.take();
        event.fill(job);
        return job.status() == Status.SUCCESS ? Status.SUCCESS : Status.IO_FAILED;
    }

    /** How many jobs are submitted and not yet retrieved. The queue's thread. */
    public int inFlightJobs() {
        return core.inFlight();
    }

    // ---- event-driven mode ----

    /**
     * Chooses the mode, before the first job is submitted or asked for: a queue is either polled or
     * event-driven.
     *
     * @param eventDriven true for event-driven mode, false for polling mode, the default
     * @throws DpuException NOT_SUPPORTED if one of its contexts {@linkplain
     *     Context#isEventDrivenSupported() cannot be} event-driven, naming it: the queue stays as
     *     it was; BAD_STATE if it is in use already; OPERATING_SYSTEM if the program has no file
     *     descriptors left
     */
    public void setEventDriven(boolean eventDriven) {
        core.requireUsable();
        try {
            core.setEventDriven(eventDriven);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /** Whether it is in event-driven mode. */
    public boolean isEventDriven() {
        return core.isEventDriven();
    }

    /**
     * A descriptor for poll, select or epoll, the same until the mode is changed: readable when the
     * queue can go on after {@link #armEvent()}. The queue keeps and closes it.
     *
     * @throws DpuException BAD_STATE in polling mode
     */
    public int eventHandle() {
        core.requireUsable();
        return core.waiter().handle();
    }

    /**
     * Asks for one signal: at once if there is something to do already, else when a job is
     * submitted or goes on. It must be asked for anew each time a signal is wanted.
     *
     * @throws DpuException BAD_STATE in polling mode
     */
    public void armEvent() {
        core.requireUsable();
        core.arm();
    }

    /**
     * Says that the signal was seen: the handle is not readable any more, and stays so until the
     * queue is armed anew. Retrieve after this, not before.
     *
     * @throws DpuException BAD_STATE in polling mode
     */
    public void clearEvent() {
        core.requireUsable();
        core.clear();
    }

    /**
     * Sleeps until the {@linkplain #eventHandle handle} is readable, as poll(2) on it would: for
     * programs in event-driven mode that have no event loop of their own.
     *
     * @param timeoutNanos the longest sleep, rounded up to milliseconds; 0 only looks
     * @return whether it was readable; it is not any more
     * @throws DpuException INVALID_VALUE if the time is negative; BAD_STATE in polling mode
     */
    public boolean awaitEvent(long timeoutNanos) {
        core.requireUsable();
        if (timeoutNanos < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "timeout is negative: timeoutNanos=" + timeoutNanos);
        }
        return core.waiter().sleep(timeoutNanos);
    }

    /**
     * Takes the queue from its contexts and ends it; closing twice does nothing.
     *
     * @throws DpuException IN_USE while jobs are in flight: retrieve them first
     */
    @Override
    public void close() {
        if (core.isClosed()) {
            return;
        }
        core.requireUsable();
        if (core.inFlight() > 0) {
            throw new DpuException(
                    Status.IN_USE,
                    "jobs are in flight: jobs=%d, queueThread=%s"
                            .formatted(core.inFlight(), core.owner().getName()));
        }
        core.removeAll();
        core.close();
    }
}
