package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Sending end of the fast path: writes into the buffers that consumers of the peer have posted
 * (Comm Channel guide, "doca_cc_producer").
 *
 * <p>A producer may be connected to an engine of its own, on another thread than the connection's.
 * {@link #start()} makes it STARTING; it is RUNNING after a progress of its own engine and of the
 * connection's. Data of up to 64 bytes is written at submission; larger data in progress, 256 KiB
 * per progress, so that a large send does not block the engine's other work. Messages of one
 * producer arrive at a consumer in the order of submission.
 *
 * <p>A producer that stops completes the submitted sends, since they have claimed buffers of the
 * peer. It is IDLE when all its tasks are completed and freed. If the connection ends, the producer
 * stops by itself and its sends fail with CONNECTION_RESET.
 */
public sealed interface ComchProducer extends Context permits ProducerContext {
    /**
     * Creates a producer in IDLE. Any thread.
     *
     * @param connection an established connection, whose client or server has consumer callbacks
     * @throws DpuException NOT_CONNECTED if the connection is not established; BAD_STATE if there
     *     are no consumer callbacks; NOT_SUPPORTED if the connection's device does not support
     *     producers ({@link ComchCapabilities#isProducerSupported()})
     */
    static ComchProducer create(ComchConnection connection) {
        Arguments.notNull(connection, "connection");
        connection.context().capabilities().requireProducers();
        return new ProducerContext(connection, connection.requireFastPath(), null);
    }

    /**
     * Sets the number of send tasks and the callbacks for their completion.
     *
     * @param count 1 to the device's maximum
     * @param onSuccess called with each task whose data has arrived
     * @param onFailure called with each task that failed
     * @throws DpuException INVALID_VALUE if the count is out of range; BAD_STATE if it is not IDLE
     */
    ComchProducer setSendTasks(
            int count,
            ComchTaskCallback<ComchProducerSendTask> onSuccess,
            ComchTaskCallback<ComchProducerSendTask> onFailure);

    /**
     * The same with one callback for all tasks that a pass of progress completes, successful and
     * failed, which costs less per message. Replaces other callbacks that were set before.
     *
     * @param count 1 to the device's maximum
     * @param onCompleted called with the tasks, each of which has its own status
     * @throws DpuException as {@link #setSendTasks(int, ComchTaskCallback, ComchTaskCallback)}
     */
    ComchProducer setSendTasks(int count, ComchBatchCallback<ComchProducerSendTask> onCompleted);

    /** The connection. Any thread. */
    ComchConnection connection();

    /**
     * The id that consumers receive with each message; unique within this side of the connection. 0
     * until RUNNING.
     */
    int id();

    /**
     * Takes a send task from the pool.
     *
     * @throws DpuException BAD_STATE if the producer is not RUNNING; NO_MEMORY if all tasks are in
     *     use
     */
    ComchProducerSendTask allocateSendTask(Buf buf, int consumerId);

    /**
     * Does the same as {@link #allocateSendTask}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateSendTask}, without NO_MEMORY
     */
    @Nullable ComchProducerSendTask tryAllocateSendTask(Buf buf, int consumerId);

    @Override
    ComchProducer setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    ComchProducer setDataPathLocation(DataPathLocation location);

    @Override
    ComchProducer setUserData(long userData);

    @Override
    ComchProducer setUserObject(@Nullable Object userObject);
}
