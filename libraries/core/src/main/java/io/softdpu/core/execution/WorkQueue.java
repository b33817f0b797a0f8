package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.check.Threads;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.access.ImplementationAccess;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import io.softdpu.core.spi.graph.QueueInstance;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Queue of jobs of one thread, for the contexts that it was added to (the WorkQ of the Core guide,
 * sections 3.4.3 to 3.4.5 and 3.4.8). The older form of a {@link ProgressEngine}: without
 * callbacks; completed jobs are retrieved.
 *
 * <p>The order is: {@linkplain Context#start() start} a context without an engine, create a queue,
 * {@linkplain #add add} it to the context, {@linkplain #submit submit} jobs, {@linkplain
 * #progressRetrieve retrieve} each, {@linkplain #remove remove} the queue, stop the context. A
 * queue can be added to several contexts, whose jobs are then all awaited here; a context can have
 * several queues, on several threads, if its library allows that. The order of jobs is unspecified:
 * one that depends on another is submitted after the other was retrieved.
 *
 * <p>In polling mode, the default, call {@link #progressRetrieve} in a loop. In event-driven mode
 * ({@link #setEventDriven}): {@linkplain #armEvent arm}, submit, wait until {@link #eventHandle()}
 * is readable (or {@link #awaitEvent}), {@linkplain #clearEvent clear}, retrieve until AGAIN, and
 * repeat. A signal means that the queue can continue its work, not that a job has completed.
 *
 * <p>Thread: a queue belongs to the thread that created it, a platform thread; a call from another
 * fails with NOT_PERMITTED that names both. Contexts on work queues may be used from any thread.
 * Submitting and retrieving allocates nothing, takes no lock, and makes no system call in polling
 * mode.
 */
public final class WorkQueue implements AutoCloseable {
    static {
        ImplementationAccess.install(WorkQueue.class, queue -> queue.impl);
    }

    /** Limit of the depth, more than any program needs. */
    public static final int MAX_DEPTH = 1 << 20;

    private final WorkQueueImpl<Job> impl;

    private WorkQueue(int depth) {
        Threads.requirePlatform("a work queue");
        this.impl = new WorkQueueImpl<>(depth);
    }

    /**
     * Creates a queue of the calling thread, in polling mode.
     *
     * @param depth limit of jobs submitted and not yet retrieved, 1 to {@link #MAX_DEPTH}
     * @throws DpuException INVALID_VALUE if the depth is out of range; NOT_SUPPORTED on a virtual
     *     thread
     */
    public static WorkQueue create(int depth) {
        if (depth < 1 || depth > MAX_DEPTH) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "depth of a work queue out of range: depth=%d, expected=1 to %d",
                            depth, MAX_DEPTH));
        }
        return new WorkQueue(depth);
    }

    /** Limit of jobs submitted and not yet retrieved. Any thread. */
    public int depth() {
        return impl.depth();
    }

    /** The thread that it belongs to. Any thread. */
    public Thread owner() {
        return impl.owner();
    }

    // ---- its contexts ----

    /**
     * Adds the queue to a context, whose jobs it accepts from now on (doca_ctx_workq_add).
     *
     * @throws DpuException BAD_STATE if the context is not RUNNING or has a progress engine; IN_USE
     *     if the queue was added to it already, or it has as many queues as its library allows;
     *     NOT_SUPPORTED if its library has no jobs, or the queue is event-driven and the context
     *     {@linkplain Context#isEventDrivenSupported() cannot be}
     */
    public void add(Context context) {
        impl.requireUsable();
        Arguments.notNull(context, "context");
        if (impl.member(context) != null) {
            throw new DpuException(
                    Status.IN_USE,
                    Text.format(
                            "queue was added to the context already: context=%s, queueThread=%s",
                            context, Threads.describe(impl.owner())));
        }
        impl.requireFit(context, context.isEventDrivenSupported());
        impl.add(
                ContextAccess.of(Context.class, ProgressEngine.class, Job.class)
                        .addQueue(context, impl));
    }

    /**
     * Removes the queue from a context (doca_ctx_workq_rm).
     *
     * @throws DpuException NOT_FOUND if it was not added to it; NOT_PERMITTED while jobs of the
     *     context are in flight on this queue: retrieve them first; or while a graph with a node of
     *     the context is on this queue: remove that first
     */
    public void remove(Context context) {
        impl.requireUsable();
        Arguments.notNull(context, "context");
        QueueMember<Job> member = impl.member(context);
        if (member == null) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    Text.format(
                            "queue was not added to the context: context=%s, queueThread=%s",
                            context, Threads.describe(impl.owner())));
        }
        if (member.inFlight() > 0) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "jobs are in flight: context=%s, jobs=%d", context, member.inFlight()));
        }
        String graph = impl.graphOf(context);
        if (graph != null) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "a graph on the queue uses the context: graph=%s, context=%s,"
                                    + " queueThread=%s",
                            graph, context, Threads.describe(impl.owner())));
        }
        impl.remove(member);
    }

    // ---- jobs ----

    /**
     * Submits a job.
     *
     * @throws DpuException with the status that {@link #trySubmit} would have returned, and the
     *     reason: the {@linkplain Job#refusal() refusal} of the job
     */
    public void submit(Job job) {
        Refusal refusal = submission(job);
        if (refusal != null) {
            throw refusal.exception("job=" + job);
        }
    }

    /**
     * Validates and submits a job; never throws in normal operation. Returns before the job is
     * done.
     *
     * @return SUCCESS if the library has accepted it; NO_MEMORY if the queue is full (retrieve a
     *     job first); AGAIN if the library cannot accept it at present; NOT_FOUND if the queue was
     *     not added to the job's context; BAD_STATE if that context is not RUNNING; IN_USE if the
     *     job or one of its bufs is in flight already; another status if the job is not valid.
     *     {@link Job#refusal()} gives the reason
     * @throws DpuException INVALID_VALUE if the job is null; NOT_PERMITTED from another thread;
     *     BAD_STATE if the queue is closed
     */
    public Status trySubmit(Job job) {
        return Refusal.statusOf(submission(job));
    }

    /** Submits a job: null if it was accepted, else why not, which the job keeps. */
    private @Nullable Refusal submission(Job job) {
        impl.requireUsable();
        QueueMember<Job> member = impl.member(Arguments.notNull(job, "job").context());
        if (member == null) {
            Refusal notAdded = notAdded();
            ContextAccess.of(Context.class, ProgressEngine.class, Job.class).refused(job, notAdded);
            return notAdded;
        }
        Refusal refusal = impl.submit(member, job);
        if (refusal != null) {
            member.refused(job, refusal);
        }
        return refusal;
    }

    private Refusal notAdded() {
        return Refusal.of(
                Status.NOT_FOUND,
                "queue was not added to the context of the job: queueThread=%s,"
                        + " expected=WorkQueue.add",
                Threads.describe(impl.owner()));
    }

    /**
     * Progresses the jobs and retrieves a completed one.
     *
     * <p>On a queue with graphs a call handles the end of at most one node of an instance, runs at
     * most one user node, and answers AGAIN for it; the call after the last node of an instance
     * answers SUCCESS for the instance, also if that has failed: the event then has no job, the
     * type {@link JobType#GRAPH_JOB}, and the number of the instance's status as its result. An
     * exception of a user node is thrown by the call that handles its end.
     *
     * @param event filled if the result is SUCCESS or IO_FAILED, otherwise made invalid
     * @return SUCCESS, once for each job that has succeeded; IO_FAILED, once for each that has
     *     failed: {@link JobEvent#status()} gives the failure; AGAIN if none has completed;
     *     INVALID_VALUE for an error of the queue that belongs to no job: the event is null, or a
     *     context has failed, is stopping, and gives the reason by {@link Context#failure()} (once;
     *     its jobs complete with IO_FAILED)
     * @throws DpuException NOT_PERMITTED from another thread, or inside a user node; BAD_STATE if
     *     the queue is closed
     */
    @SuppressWarnings("ConstantValue") // the guide has a status for what an annotation excludes
    public Status progressRetrieve(JobEvent event) {
        impl.requireUsable();
        if (event == null) {
            return Status.INVALID_VALUE;
        }
        event.clear();
        Status progressed = impl.progress();
        if (progressed != Status.SUCCESS) {
            return progressed;
        }
        Job job = impl.take();
        if (job == null) {
            QueueInstance instance = impl.takenInstance();
            if (instance == null) {
                return Status.AGAIN;
            }
            event.fill(instance);
            return Status.SUCCESS;
        }
        event.fill(job);
        return job.status() == Status.SUCCESS ? Status.SUCCESS : Status.IO_FAILED;
    }

    /**
     * Number of jobs submitted and not yet retrieved, and of the places that graph instances in
     * flight have reserved. The queue's thread.
     */
    public int inFlightJobs() {
        return impl.inFlight();
    }

    // ---- event-driven mode ----

    /**
     * Sets the mode, before the first submission or retrieval: a queue is either polled or
     * event-driven.
     *
     * @param eventDriven true for event-driven mode, false for polling mode, the default
     * @throws DpuException NOT_SUPPORTED if one of its contexts {@linkplain
     *     Context#isEventDrivenSupported() cannot be} event-driven, naming it: the mode is
     *     unchanged; BAD_STATE if the queue is in use already; OPERATING_SYSTEM if the program has
     *     no file descriptors left
     */
    public WorkQueue setEventDriven(boolean eventDriven) {
        impl.requireUsable();
        try {
            impl.setEventDriven(eventDriven);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
        return this;
    }

    /** Whether it is in event-driven mode. */
    public boolean isEventDriven() {
        return impl.isEventDriven();
    }

    /**
     * A descriptor for poll, select or epoll, the same until the mode is changed: readable when the
     * queue can continue after {@link #armEvent()}. It belongs to the queue.
     *
     * @throws DpuException BAD_STATE in polling mode
     */
    public int eventHandle() {
        impl.requireUsable();
        return impl.poller().handle();
    }

    /**
     * Requests one signal: at once if there is work already, else when a job is submitted or can
     * continue. Each signal must be requested.
     *
     * @throws DpuException BAD_STATE in polling mode
     */
    public void armEvent() {
        impl.requireUsable();
        impl.arm();
    }

    /**
     * Clears the signal: the handle is not readable until the queue is armed again. Retrieve after
     * this, not before.
     *
     * @throws DpuException BAD_STATE in polling mode
     */
    public void clearEvent() {
        impl.requireUsable();
        impl.clear();
    }

    /**
     * Sleeps until the {@linkplain #eventHandle handle} is readable, as poll(2) on it would: for
     * programs in event-driven mode that have no event loop of their own.
     *
     * @param timeout rounded up to milliseconds; zero only polls, {@link Deadline#NO_LIMIT} for
     *     none
     * @return whether it was readable; the signal is cleared
     * @throws DpuException INVALID_VALUE if the timeout is negative; BAD_STATE in polling mode;
     *     CONNECTION_ABORTED if the thread is interrupted and the timeout is not zero: the flag and
     *     the signal stay
     */
    public boolean awaitEvent(Duration timeout) {
        impl.requireUsable();
        return impl.awaitEvent(Arguments.nanos(timeout, "timeout"));
    }

    /**
     * Removes the queue from its graphs and contexts and closes it; idempotent.
     *
     * @throws DpuException IN_USE while jobs or graph instances are in flight: retrieve them first
     */
    @Override
    public void close() {
        if (impl.isClosed()) {
            return;
        }
        impl.requireUsable();
        if (impl.inFlight() > 0) {
            throw new DpuException(
                    Status.IN_USE,
                    Text.format(
                            "jobs are in flight: jobs=%d, queueThread=%s",
                            impl.inFlight(), Threads.describe(impl.owner())));
        }
        impl.removeAll();
        impl.close();
    }
}
