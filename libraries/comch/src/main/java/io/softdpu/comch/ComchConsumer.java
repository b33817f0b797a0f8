package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import org.jspecify.annotations.Nullable;

/**
 * Receiving end of the fast path: posts buffers into which the peer's producers write (Comm Channel
 * guide, "doca_cc_consumer Initialization Flow").
 *
 * <p>A consumer may be connected to an engine of its own, on another thread than the connection's.
 * {@link #start()} makes it STARTING; it is RUNNING when the connection's engine has announced it
 * and the peer's engine has replied, so both engines have to be progressed. If the peer does not
 * reply within the connection's control timeout, or refuses, the consumer passes through STOPPING
 * to IDLE and {@link #failure()} gives the reason.
 *
 * <p>A consumer that stops notifies the peer and completes what is still written until the peer has
 * released the memory; then the remaining tasks fail with SHUTDOWN, and when all tasks have been
 * freed it is IDLE. If the peer does not release the memory within the control timeout, its access
 * is revoked; since it may keep its mapping, the receive memory should not be used for anything
 * else while that process lives. If the connection ends, the consumer stops by itself and its tasks
 * fail with CONNECTION_RESET.
 */
public sealed interface ComchConsumer extends Context permits ConsumerContext {
    /**
     * Creates a consumer in IDLE. Any thread.
     *
     * @param connection an established connection, whose client or server has consumer callbacks
     * @param receiveMemory the mmap of all buffers that will be posted: local, started, with
     *     PCI_READ_WRITE and the connection's device, over memory that can be shared; all of this
     *     also at {@link #start()}, from which on it cannot be closed before the consumer is IDLE
     * @throws DpuException NOT_CONNECTED if the connection is not established; BAD_STATE if there
     *     are no consumer callbacks, or the mmap is not started; NOT_PERMITTED if the mmap has not
     *     the permission or the device; NOT_SUPPORTED if it is imported, or the connection's device
     *     does not support consumers ({@link ComchCapabilities#isConsumerSupported()})
     */
    static ComchConsumer create(ComchConnection connection, Mmap receiveMemory) {
        return ConsumerContext.create(connection, receiveMemory);
    }

    /**
     * Sets the number of post receive tasks, which is also the number of buffers that can be posted
     * at a time, and the callbacks for their completion.
     *
     * @param count 1 to the device's maximum
     * @param onSuccess called with each task that received a message
     * @param onFailure called with each task that failed
     * @throws DpuException INVALID_VALUE if the count is out of range; BAD_STATE if it is not IDLE
     */
    ComchConsumer setPostReceiveTasks(
            int count,
            ComchTaskCallback<ComchPostReceiveTask> onSuccess,
            ComchTaskCallback<ComchPostReceiveTask> onFailure);

    /**
     * The same with one callback for all tasks that a pass of progress completes, successful and
     * failed, which costs less per message. Replaces other callbacks that were set before.
     *
     * @param count 1 to the device's maximum
     * @param onCompleted called with the tasks, each of which has its own status
     * @throws DpuException as {@link #setPostReceiveTasks(int, ComchTaskCallback,
     *     ComchTaskCallback)}
     */
    ComchConsumer setPostReceiveTasks(
            int count, ComchBatchCallback<ComchPostReceiveTask> onCompleted);

    /** The connection. Any thread. */
    ComchConnection connection();

    /**
     * The id that the peer's producers address it by; unique within the connection. 0 until
     * RUNNING.
     */
    int id();

    /**
     * Takes a post receive task from the pool.
     *
     * @throws DpuException BAD_STATE if the consumer is not RUNNING; NO_MEMORY if all tasks are in
     *     use
     */
    ComchPostReceiveTask allocatePostReceiveTask(Buf buf);

    /**
     * Does the same as {@link #allocatePostReceiveTask}, but returns null if all tasks are
     * allocated. Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocatePostReceiveTask}, without NO_MEMORY
     */
    @Nullable ComchPostReceiveTask tryAllocatePostReceiveTask(Buf buf);

    @Override
    ComchConsumer setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    ComchConsumer setDataPathLocation(DataPathLocation location);

    @Override
    ComchConsumer setUserData(long userData);

    @Override
    ComchConsumer setUserObject(@Nullable Object userObject);
}
