package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import org.jspecify.annotations.Nullable;

/**
 * Instance of a library, such as a Comm Channel server or an RDMA context, which is configured,
 * started, executes tasks, and is stopped (Core guide, section 3.4.2).
 *
 * <p>The order is: create, configure, {@linkplain ProgressEngine#connect connect to an engine},
 * start, use, stop, close. After start its configuration cannot be changed (BAD_STATE) and the data
 * path allocates nothing. A stopped context can be configured and started again.
 *
 * <p>While it is not IDLE it keeps what it was made from open: the close of its device, engine or
 * representor fails with IN_USE and names it. One that was never started keeps nothing open, so it
 * need not be closed, as after an exception between its creation and its start; nor does one that
 * is IDLE again, unless its class says so.
 *
 * <p>A context is STOPPING until its tasks were completed and freed. After a second it logs one
 * warning that names what is missing: the tasks by type, with the place of the allocation of one
 * under the {@linkplain Sanitizer sanitizer}, or the reply of a peer.
 *
 * <p>The context of a library with jobs can also be started without an engine, for use on {@link
 * WorkQueue}s only: it then has no tasks and no callbacks.
 *
 * <p>Thread: once connected, a context belongs to the thread of its engine; a call from another
 * fails with NOT_PERMITTED that names both. A context without an engine may be used by several
 * threads at once. Callbacks run inside {@link ProgressEngine#progress()} only: after an immediate
 * change of state by {@link #start()} or {@link #stop()} {@link #state()} returns the new state,
 * and the callback runs in the next progress.
 */
public interface Context extends AutoCloseable {
    /**
     * Starts the context.
     *
     * @return SUCCESS if it is RUNNING, IN_PROGRESS if it is STARTING and requires progress
     * @throws DpuException BAD_STATE if it is not IDLE, a mandatory item of its configuration is
     *     missing (the message names it), its device, engine or representor is closed, it has no
     *     engine and its library has no jobs, or it has a callback that only an engine could run;
     *     other statuses as its library documents. It is as before then
     */
    Status start();

    /**
     * Stops the context: no task can be submitted from now on, those in flight are flushed (their
     * callbacks run in progress, with a failure unless they were done already), and when none is
     * left the context is IDLE.
     *
     * <p>Stopping a context that has ended by itself, as after the end of its peer, is no error: it
     * does nothing if the context is IDLE or STOPPING.
     *
     * @return SUCCESS if it is IDLE now, IN_PROGRESS if it requires progress
     * @throws DpuException IN_USE if other contexts are active on it, as its library documents;
     *     BAD_STATE if it is closed; NOT_PERMITTED while it is on work queues: {@linkplain
     *     WorkQueue#remove remove} them first
     */
    Status stop();

    /** The state. Any thread. */
    ContextState state();

    /**
     * The failure that stopped the context; null if there was none. Kept until the next start. Any
     * thread.
     */
    @Nullable DpuException failure();

    /**
     * Sets the callback for changes of state; null for none.
     *
     * @throws DpuException BAD_STATE if it is not IDLE
     */
    Context setStateChangedCallback(@Nullable StateChangedCallback callback);

    /**
     * Selects the processor of the data path (doca_ctx_set_datapath_on_dpa and its kind); {@link
     * DataPathLocation#CPU} by default, and the only one in every library (Comm Channel guide,
     * cc-165).
     *
     * @param location the processor
     * @return this context
     * @throws DpuException NOT_SUPPORTED for any other than CPU, which changes nothing; BAD_STATE
     *     if it is not IDLE, or closed
     */
    Context setDataPathLocation(DataPathLocation location);

    /**
     * The number that the user has attached (doca_ctx_get_user_data); 0 at first. Kept over stops
     * and starts.
     */
    long userData();

    /**
     * Attaches a number (doca_ctx_set_user_data), which every callback of the context and of its
     * tasks finds by {@link Task#context()} (RDMA guide, rdma-283).
     *
     * @return this context
     * @throws DpuException BAD_STATE if it is not IDLE, or closed; NOT_PERMITTED from another
     *     thread
     */
    Context setUserData(long userData);

    /** The object that the user has attached; null at first. Kept as {@link #userData()}. */
    @Nullable Object userObject();

    /**
     * Attaches an object, such as the resources of the program, for the same callbacks; null for
     * none.
     *
     * @return this context
     * @throws DpuException BAD_STATE if it is not IDLE, or closed; NOT_PERMITTED from another
     *     thread
     */
    Context setUserObject(@Nullable Object userObject);

    /** Number of tasks submitted and not yet completed. */
    int inFlightTasks();

    /**
     * Number of tasks allocated and not freed, those in flight included. A context is STOPPING
     * until it is 0.
     */
    int allocatedTasks();

    /**
     * Submits tasks in order until one is refused: the same as {@link Task#trySubmit()} of each, at
     * less cost per task. Elements of the array are not kept. All tasks of the range are checked
     * before the first is submitted, so retry with what may be accepted, not with a large rest. To
     * flush, submit the last task by {@link Task#trySubmit(SubmitFlags)}.
     *
     * @param tasks tasks of this context
     * @param from index of the first task
     * @param to index after the last task
     * @return number of tasks submitted; 0 for an empty range. If it is less than given, the next
     *     task was refused, with the effects of a refusal by {@link Task#trySubmit()}: after AGAIN
     *     a wait ends when it may be accepted. Its {@link Task#refusal()} gives the reason
     * @throws DpuException INVALID_VALUE if the range is not within the array, or an element is
     *     null or a task of another context: nothing is submitted then; NOT_PERMITTED from another
     *     thread. After any other exception, as of memory that another thread has closed, the tasks
     *     before the one that has caused it are submitted: {@link #inFlightTasks()} tells how many
     */
    int trySubmitAll(Task[] tasks, int from, int to);

    /**
     * Whether it supports event-driven mode, on an engine or a work queue
     * (doca_ctx_get_event_driven_supported). Otherwise it must be polled. Any thread.
     */
    boolean isEventDrivenSupported();

    /** Its device. */
    Device device();

    /**
     * Closes the context and releases its resources; idempotent, and made for try-with-resources.
     *
     * <p>A context that is not IDLE is stopped first, and its engine driven until it is: callbacks
     * of all contexts of the engine run meanwhile, and what they throw is thrown when the context
     * is closed. This takes 5 s at most, or 6 s if a peer does not reply. A peer on another engine
     * of the same thread cannot.
     *
     * <p>A context whose tasks were all completed but not all freed is closed without them. The
     * call fails nevertheless, and names them; the tasks cannot be used any more. It gives a
     * callback the time to free them while any task of the engine is in flight, or the start or
     * stop of any of its contexts waits for a peer; without these it ends as soon as a pass of
     * progress has found no work, since it does not wait for timers, or for messages of peers.
     *
     * <p>Inside a callback it only begins to stop, unless it is IDLE.
     *
     * @throws DpuException IN_USE with what is still alive: tasks by type, with the place of the
     *     allocation of one under the {@linkplain Sanitizer sanitizer}, replies of peers. Unless
     *     the message says that the context was closed it can be closed later. IN_USE also at once,
     *     with nothing changed, while other contexts are active on it, as producers on the
     *     connection of a server: close those first. NOT_PERMITTED from another thread, or while it
     *     is on work queues
     */
    @Override
    void close();

    /**
     * Its kind, a number, and to what it belongs, for messages: {@code dma mlx5_0 #2}. The number
     * is unique in this process.
     */
    @Override
    String toString();
}
