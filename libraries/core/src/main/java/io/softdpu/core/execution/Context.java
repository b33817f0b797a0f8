package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import org.jspecify.annotations.Nullable;

/**
 * An instance of a library, such as a Comm Channel server or an RDMA context: what is configured,
 * started, given tasks, and stopped (Core guide, section 3.4.2).
 *
 * <p>The order is: create, configure, {@linkplain ProgressEngine#connect connect to an engine},
 * start, use, stop, close. After start nothing of its configuration can be changed (BAD_STATE) and
 * the data path allocates nothing. A stopped context can be configured and started again.
 *
 * <p>A library that knows jobs also lets its context be started without an engine, for use on
 * {@link WorkQueue}s alone: it then has no tasks and no callbacks.
 *
 * <p>Thread: once connected, a context belongs to the thread of its engine; a call from another
 * fails with NOT_PERMITTED that names both. One without an engine may be used by any thread, and by
 * several at once. Callbacks run inside {@link ProgressEngine#progress()} only: a change that
 * {@link #start()} or {@link #stop()} makes at once is seen by {@link #state()} at once, and its
 * callback runs in the next progress.
 */
public interface Context extends AutoCloseable {
    /**
     * Starts the context.
     *
     * @return SUCCESS if it is RUNNING, IN_PROGRESS if it is STARTING and progress has to go on
     * @throws DpuException BAD_STATE if it is not IDLE, a mandatory item of its configuration is
     *     missing (the message names it), or it has no engine and its library knows no jobs, or it
     *     has a callback that only an engine could run; what else its library documents
     */
    Status start();

    /**
     * Stops the context: no task can be submitted from now on, those in flight are flushed (their
     * callbacks run in progress, with a failure unless they were done already), and when none is
     * left the context is IDLE.
     *
     * @return SUCCESS if it is IDLE now, IN_PROGRESS if progress has to go on
     * @throws DpuException BAD_STATE if it is IDLE or STOPPING; NOT_PERMITTED while it is on work
     *     queues: {@linkplain WorkQueue#remove remove} them first
     */
    Status stop();

    /** Where it is in its life. Any thread. */
    ContextState state();

    /**
     * Why the context stopped by itself; null if it did not. Kept until the next start. Any thread.
     */
    @Nullable DpuException failure();

    /**
     * Sets who is told of each change of state; null for nobody.
     *
     * @throws DpuException BAD_STATE if it is not IDLE
     */
    void setStateChangedCallback(@Nullable StateChangedCallback callback);

    /** How many tasks are submitted and not yet completed. */
    int inFlightTasks();

    /**
     * Whether it can be waited for, on an engine or a work queue in event-driven mode
     * (doca_ctx_get_event_driven_supported). One that cannot has to be polled. Any thread.
     */
    boolean isEventDrivenSupported();

    /** The device that it works on. */
    Device device();

    /**
     * Gives up the context and what it holds; closing twice does nothing. One that is started is
     * stopped first, which is done at once only outside a callback and with nothing to be flushed.
     *
     * @throws DpuException IN_USE if it is still STOPPING: call progress until it is IDLE, then
     *     close it
     */
    @Override
    void close();

    /** The name that messages call it by. */
    @Override
    String toString();
}
