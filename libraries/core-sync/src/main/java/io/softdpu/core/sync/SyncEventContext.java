package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.execution.StateChangedCallback;
import org.jspecify.annotations.Nullable;

/**
 * Sync event in asynchronous mode (Core guide, section 3.4.6): its operations as tasks on a
 * progress engine, or as jobs on work queues. Made by {@link SyncEvent#asContext()}.
 *
 * <p>With tasks: configure at least one type, connect to an engine, {@linkplain #start start},
 * submit. With jobs: start without an engine, add work queues, submit.
 *
 * <pre>{@code
 * SyncEventContext context = event.asContext()
 *         .setWaitGreaterTasks(1, task -> reached(task), task -> failed(task));
 * engine.start(context, timeout);
 * context.allocateWaitGreater(0, SyncEvent.ALL_BITS).submit();
 *
 * SyncEventContext context = event.asContext(); // or with jobs
 * context.start();
 * queue.add(context);
 * queue.submit(context.createWaitGreaterJob(0, SyncEvent.ALL_BITS));
 * }</pre>
 *
 * <p>It is RUNNING at once. An engine or queue that sleeps is woken by an update through any handle
 * in any process. Stopping flushes tasks in flight with SHUTDOWN; with jobs the work queues are
 * closed before, which needs the end of their {@linkplain SyncEventWaitJob waits}. After the stop
 * the event can only be closed, and keeps its device open until then: another start is BAD_STATE.
 *
 * <p>If the CPU handle of a DPU handle ends, tasks fail with SHUTDOWN or CONNECTION_RESET and the
 * context stops; jobs fail with that status alone.
 *
 * <p>Thread: that of the engine; without one, any.
 */
public sealed interface SyncEventContext extends Context permits EventContext {
    /** Type of the jobs that read the value; their result is the value. */
    JobType GET_JOB = new JobType("sync event get");

    /** Type of the jobs that set the value; their result is 0. */
    JobType SET_JOB = new JobType("sync event set");

    /** Type of the jobs that add to the value; their result is the value before. */
    JobType ADD_JOB = new JobType("sync event add");

    /** Type of the jobs that wait; their result is the value that has ended the wait. */
    JobType WAIT_GREATER_JOB = new JobType("sync event wait greater");

    /** The event. */
    SyncEvent event();

    /** Its capabilities and limits. */
    SyncEventCapabilities capabilities();

    /**
     * Sets the number of get tasks and the callbacks for their completion; a further call replaces
     * both.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if the count is not positive or
     *     beyond {@link SyncEventCapabilities#maxTasks()}
     */
    SyncEventContext setGetTasks(
            int count,
            SyncEventTaskCallback<SyncEventGetTask> onSuccess,
            SyncEventTaskCallback<SyncEventGetTask> onFailure);

    /**
     * Sets the number of set tasks and the callbacks.
     *
     * @throws DpuException as {@link #setGetTasks}
     */
    SyncEventContext setSetTasks(
            int count,
            SyncEventTaskCallback<SyncEventSetTask> onSuccess,
            SyncEventTaskCallback<SyncEventSetTask> onFailure);

    /**
     * Sets the number of add tasks and the callbacks.
     *
     * @throws DpuException as {@link #setGetTasks}
     */
    SyncEventContext setAddTasks(
            int count,
            SyncEventTaskCallback<SyncEventAddTask> onSuccess,
            SyncEventTaskCallback<SyncEventAddTask> onFailure);

    /**
     * Sets the number of tasks that wait for a greater value, and the callbacks.
     *
     * @throws DpuException NOT_SUPPORTED if the device has no asynchronous wait; BAD_STATE unless
     *     IDLE; INVALID_VALUE if the count is not positive or beyond {@link
     *     SyncEventCapabilities#maxWaitTasks()}
     */
    SyncEventContext setWaitGreaterTasks(
            int count,
            SyncEventTaskCallback<SyncEventWaitTask> onSuccess,
            SyncEventTaskCallback<SyncEventWaitTask> onFailure);

    /**
     * Sets the number of tasks that wait for an equal value, and the callbacks.
     *
     * @throws DpuException as {@link #setWaitGreaterTasks}
     */
    SyncEventContext setWaitEqualTasks(
            int count,
            SyncEventTaskCallback<SyncEventWaitTask> onSuccess,
            SyncEventTaskCallback<SyncEventWaitTask> onFailure);

    /**
     * Sets the number of tasks that wait for another value, and the callbacks.
     *
     * @throws DpuException as {@link #setWaitGreaterTasks}
     */
    SyncEventContext setWaitNotEqualTasks(
            int count,
            SyncEventTaskCallback<SyncEventWaitTask> onSuccess,
            SyncEventTaskCallback<SyncEventWaitTask> onFailure);

    /**
     * Allocates a get task.
     *
     * @throws DpuException BAD_STATE unless RUNNING, if none were configured before the start, and
     *     if no progress engine was connected before it; NO_MEMORY if all are allocated;
     *     NOT_PERMITTED from another thread
     */
    SyncEventGetTask allocateGet();

    /**
     * Does the same as {@link #allocateGet}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateGet}, without NO_MEMORY
     */
    @Nullable SyncEventGetTask tryAllocateGet();

    /**
     * Allocates a set task.
     *
     * @param value the new value of the event
     * @throws DpuException as {@link #allocateGet}
     */
    SyncEventSetTask allocateSet(long value);

    /**
     * Does the same as {@link #allocateSet}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateSet}, without NO_MEMORY
     */
    @Nullable SyncEventSetTask tryAllocateSet(long value);

    /**
     * Allocates an add task.
     *
     * @param increment the number to add
     * @throws DpuException as {@link #allocateGet}
     */
    SyncEventAddTask allocateAdd(long increment);

    /**
     * Does the same as {@link #allocateAdd}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateAdd}, without NO_MEMORY
     */
    @Nullable SyncEventAddTask tryAllocateAdd(long increment);

    /**
     * Allocates a task that waits until the masked value is greater than a threshold, unsigned.
     *
     * @param mask 0, or 1, 2, 4 or 8 bytes of ones, the other bytes 0
     * @throws DpuException INVALID_VALUE for another mask; otherwise as {@link #allocateGet}
     */
    SyncEventWaitTask allocateWaitGreater(long threshold, long mask);

    /**
     * Does the same as {@link #allocateWaitGreater}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateWaitGreater}, without NO_MEMORY
     */
    @Nullable SyncEventWaitTask tryAllocateWaitGreater(long threshold, long mask);

    /**
     * Allocates a task that waits until the masked value equals a threshold.
     *
     * @param mask as of {@link #allocateWaitGreater}
     * @throws DpuException as {@link #allocateWaitGreater}
     */
    SyncEventWaitTask allocateWaitEqual(long threshold, long mask);

    /**
     * Does the same as {@link #allocateWaitEqual}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateWaitEqual}, without NO_MEMORY
     */
    @Nullable SyncEventWaitTask tryAllocateWaitEqual(long threshold, long mask);

    /**
     * Allocates a task that waits until the masked value differs from a threshold.
     *
     * @param mask as of {@link #allocateWaitGreater}
     * @throws DpuException as {@link #allocateWaitGreater}
     */
    SyncEventWaitTask allocateWaitNotEqual(long threshold, long mask);

    /**
     * Does the same as {@link #allocateWaitNotEqual}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateWaitNotEqual}, without NO_MEMORY
     */
    @Nullable SyncEventWaitTask tryAllocateWaitNotEqual(long threshold, long mask);

    /** Creates a get job, for the work queues that this context is added to. Any thread. */
    SyncEventGetJob createGetJob();

    /**
     * Creates a set job. Any thread.
     *
     * @param value the new value of the event
     */
    SyncEventSetJob createSetJob(long value);

    /**
     * Creates an add job. Any thread.
     *
     * @param increment the number to add
     */
    SyncEventAddJob createAddJob(long increment);

    /**
     * Creates a job that waits until the masked value is greater than a threshold, unsigned. Any
     * thread.
     *
     * @param mask 0, or 1, 2, 4 or 8 bytes of ones, the other bytes 0
     * @throws DpuException NOT_SUPPORTED if the device has no asynchronous wait: get jobs take its
     *     place; INVALID_VALUE for another mask
     */
    SyncEventWaitJob createWaitGreaterJob(long threshold, long mask);

    /**
     * Closes the context of an event that was stopped, or never started; idempotent. The event is
     * closed by its own close, which includes this.
     *
     * @throws DpuException IN_USE while it is started
     */
    @Override
    void close();

    @Override
    SyncEventContext setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    SyncEventContext setDataPathLocation(DataPathLocation location);

    @Override
    SyncEventContext setUserData(long userData);

    @Override
    SyncEventContext setUserObject(@Nullable Object userObject);
}
