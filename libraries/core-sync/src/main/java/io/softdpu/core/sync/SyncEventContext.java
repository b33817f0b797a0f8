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
    default SyncEventContext setGetTasks(
            int count,
            SyncEventTaskCallback<SyncEventGetTask> onSuccess,
            SyncEventTaskCallback<SyncEventGetTask> onFailure) {
        return context().configureOperations(context().getTasks, count, onSuccess, onFailure);
    }

    /**
     * Sets the number of set tasks and the callbacks.
     *
     * @throws DpuException as {@link #setGetTasks}
     */
    default SyncEventContext setSetTasks(
            int count,
            SyncEventTaskCallback<SyncEventSetTask> onSuccess,
            SyncEventTaskCallback<SyncEventSetTask> onFailure) {
        return context().configureOperations(context().setTasks, count, onSuccess, onFailure);
    }

    /**
     * Sets the number of add tasks and the callbacks.
     *
     * @throws DpuException as {@link #setGetTasks}
     */
    default SyncEventContext setAddTasks(
            int count,
            SyncEventTaskCallback<SyncEventAddTask> onSuccess,
            SyncEventTaskCallback<SyncEventAddTask> onFailure) {
        return context().configureOperations(context().addTasks, count, onSuccess, onFailure);
    }

    /**
     * Sets the number of tasks that wait for a greater value, and the callbacks.
     *
     * @throws DpuException NOT_SUPPORTED if the device has no asynchronous wait; BAD_STATE unless
     *     IDLE; INVALID_VALUE if the count is not positive or beyond {@link
     *     SyncEventCapabilities#maxWaitTasks()}
     */
    default SyncEventContext setWaitGreaterTasks(
            int count,
            SyncEventTaskCallback<SyncEventWaitTask> onSuccess,
            SyncEventTaskCallback<SyncEventWaitTask> onFailure) {
        return context().configureWaits(WaitCondition.GREATER, count, onSuccess, onFailure);
    }

    /**
     * Sets the number of tasks that wait for an equal value, and the callbacks.
     *
     * @throws DpuException as {@link #setWaitGreaterTasks}
     */
    default SyncEventContext setWaitEqualTasks(
            int count,
            SyncEventTaskCallback<SyncEventWaitTask> onSuccess,
            SyncEventTaskCallback<SyncEventWaitTask> onFailure) {
        return context().configureWaits(WaitCondition.EQUAL, count, onSuccess, onFailure);
    }

    /**
     * Sets the number of tasks that wait for another value, and the callbacks.
     *
     * @throws DpuException as {@link #setWaitGreaterTasks}
     */
    default SyncEventContext setWaitNotEqualTasks(
            int count,
            SyncEventTaskCallback<SyncEventWaitTask> onSuccess,
            SyncEventTaskCallback<SyncEventWaitTask> onFailure) {
        return context().configureWaits(WaitCondition.NOT_EQUAL, count, onSuccess, onFailure);
    }

    /**
     * Allocates a get task.
     *
     * @throws DpuException BAD_STATE unless RUNNING, if none were configured before the start, and
     *     if no progress engine was connected before it; NO_MEMORY if all are allocated;
     *     NOT_PERMITTED from another thread
     */
    default SyncEventGetTask allocateGet() {
        return context().getTasks.requireAllocated(tryAllocateGet());
    }

    /**
     * Does the same as {@link #allocateGet}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateGet}, without NO_MEMORY
     */
    default @Nullable SyncEventGetTask tryAllocateGet() {
        return context().tryAllocate(context().getTasks);
    }

    /**
     * Allocates a set task.
     *
     * @param value the new value of the event
     * @throws DpuException as {@link #allocateGet}
     */
    default SyncEventSetTask allocateSet(long value) {
        return context().setTasks.requireAllocated(tryAllocateSet(value));
    }

    /**
     * Does the same as {@link #allocateSet}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateSet}, without NO_MEMORY
     */
    default @Nullable SyncEventSetTask tryAllocateSet(long value) {
        SetTask task = context().tryAllocate(context().setTasks);
        return task == null ? null : task.setValue(value);
    }

    /**
     * Allocates an add task.
     *
     * @param increment the number to add
     * @throws DpuException as {@link #allocateGet}
     */
    default SyncEventAddTask allocateAdd(long increment) {
        return context().addTasks.requireAllocated(tryAllocateAdd(increment));
    }

    /**
     * Does the same as {@link #allocateAdd}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateAdd}, without NO_MEMORY
     */
    default @Nullable SyncEventAddTask tryAllocateAdd(long increment) {
        AddTask task = context().tryAllocate(context().addTasks);
        return task == null ? null : task.setIncrement(increment);
    }

    /**
     * Allocates a task that waits until the masked value is greater than a threshold, unsigned.
     *
     * @param mask 0, or 1, 2, 4 or 8 bytes of ones, the other bytes 0
     * @throws DpuException INVALID_VALUE for another mask; otherwise as {@link #allocateGet}
     */
    default SyncEventWaitTask allocateWaitGreater(long threshold, long mask) {
        return context()
                .waitTasks(WaitCondition.GREATER)
                .requireAllocated(tryAllocateWaitGreater(threshold, mask));
    }

    /**
     * Does the same as {@link #allocateWaitGreater}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateWaitGreater}, without NO_MEMORY
     */
    default @Nullable SyncEventWaitTask tryAllocateWaitGreater(long threshold, long mask) {
        return context().tryAllocateWait(WaitCondition.GREATER, threshold, mask);
    }

    /**
     * Allocates a task that waits until the masked value equals a threshold.
     *
     * @param mask as of {@link #allocateWaitGreater}
     * @throws DpuException as {@link #allocateWaitGreater}
     */
    default SyncEventWaitTask allocateWaitEqual(long threshold, long mask) {
        return context()
                .waitTasks(WaitCondition.EQUAL)
                .requireAllocated(tryAllocateWaitEqual(threshold, mask));
    }

    /**
     * Does the same as {@link #allocateWaitEqual}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateWaitEqual}, without NO_MEMORY
     */
    default @Nullable SyncEventWaitTask tryAllocateWaitEqual(long threshold, long mask) {
        return context().tryAllocateWait(WaitCondition.EQUAL, threshold, mask);
    }

    /**
     * Allocates a task that waits until the masked value differs from a threshold.
     *
     * @param mask as of {@link #allocateWaitGreater}
     * @throws DpuException as {@link #allocateWaitGreater}
     */
    default SyncEventWaitTask allocateWaitNotEqual(long threshold, long mask) {
        return context()
                .waitTasks(WaitCondition.NOT_EQUAL)
                .requireAllocated(tryAllocateWaitNotEqual(threshold, mask));
    }

    /**
     * Does the same as {@link #allocateWaitNotEqual}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateWaitNotEqual}, without NO_MEMORY
     */
    default @Nullable SyncEventWaitTask tryAllocateWaitNotEqual(long threshold, long mask) {
        return context().tryAllocateWait(WaitCondition.NOT_EQUAL, threshold, mask);
    }

    /** Creates a get job, for the work queues that this context is added to. Any thread. */
    default SyncEventGetJob createGetJob() {
        return new GetJob(context());
    }

    /**
     * Creates a set job. Any thread.
     *
     * @param value the new value of the event
     */
    default SyncEventSetJob createSetJob(long value) {
        return new SetJob(context(), value);
    }

    /**
     * Creates an add job. Any thread.
     *
     * @param increment the number to add
     */
    default SyncEventAddJob createAddJob(long increment) {
        return new AddJob(context(), increment);
    }

    /**
     * Creates a job that waits until the masked value is greater than a threshold, unsigned. Any
     * thread.
     *
     * @param mask 0, or 1, 2, 4 or 8 bytes of ones, the other bytes 0
     * @throws DpuException NOT_SUPPORTED if the device has no asynchronous wait: get jobs take its
     *     place; INVALID_VALUE for another mask
     */
    default SyncEventWaitJob createWaitGreaterJob(long threshold, long mask) {
        context().requireWaitSupported();
        return new WaitJob(context(), threshold, mask);
    }

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

    private EventContext context() {
        return (EventContext) this;
    }
}
