package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Context;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;

/**
 * The receiving end of the fast path: posts buffers into which the peer's producers write (Comm
 * Channel guide, "doca_cc_consumer Initialization Flow").
 *
 * <p>It may have an engine and a thread of its own. {@link #start()} makes it STARTING; it is
 * RUNNING when the connection's engine has announced it and the peer's engine has answered, so both
 * have to be progressed. If the peer does not answer within the connection's control timeout, or
 * refuses, the consumer goes through STOPPING to IDLE and {@link #failure()} says why.
 *
 * <p>A consumer that stops tells the peer and takes what is still written until the peer has let go
 * of the memory; then what is left fails with SHUTDOWN, and when all tasks have been freed it is
 * IDLE. A peer that does not let go within the control timeout is cut off, and the receive memory
 * should not be used for anything else as long as that peer lives. If the connection ends, the
 * consumer stops by itself and its tasks fail with CONNECTION_RESET.
 */
public sealed interface ComchConsumer extends Context permits ConsumerContext {
    /**
     * Creates a consumer in IDLE. Any thread.
     *
     * @param connection an established connection, whose client or server has consumer callbacks
     * @param receiveMemory the mmap of all buffers that will be posted: local, started, with
     *     PCI_READ_WRITE and the connection's device, over memory that can be shared
     * @throws DpuException NOT_CONNECTED if the connection is not established; BAD_STATE if there
     *     are no consumer callbacks, or the mmap is not started; NOT_PERMITTED if the mmap has not
     *     the permission or the device; NOT_SUPPORTED if it is imported
     */
    static ComchConsumer create(ComchConnection connection, Mmap receiveMemory) {
        return ConsumerContext.create(connection, receiveMemory);
    }

    /**
     * Sets the number of post receive tasks, which is also how many buffers can be posted at once,
     * and who is told when one is done.
     *
     * @param count 1 to the device's maximum
     * @param onSuccess is given the tasks that received something
     * @param onFailure is given the others
     * @throws DpuException INVALID_VALUE if the count is out of range; BAD_STATE if it is not IDLE
     */
    void setPostReceiveTasks(
            int count,
            ComchTaskCallback<ComchPostReceiveTask> onSuccess,
            ComchTaskCallback<ComchPostReceiveTask> onFailure);

    /** The connection. Any thread. */
    ComchConnection connection();

    /**
     * The id by which the peer's producers name it; unique within the connection. 0 until RUNNING.
     */
    int id();

    /**
     * Takes a post receive task from the pool.
     *
     * @throws DpuException BAD_STATE if the consumer is not RUNNING; NO_MEMORY if all tasks are in
     *     use
     */
    ComchPostReceiveTask allocatePostReceiveTask(Buf buf);
}
