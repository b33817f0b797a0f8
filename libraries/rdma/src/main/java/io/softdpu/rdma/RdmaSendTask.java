package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Task that sends the data of a local list of bufs as one message to a receive task of the peer
 * (RDMA guide, send task). A message for which no receive was submitted beforehand is a fatal
 * failure: it waits for one as long as {@link Rdma#setRnrRetries} and the peer's {@link
 * Rdma#setRnrTimer} say, 2 s by default, and fails then.
 *
 * <p>Success means that the peer's instance has received the message, not that its program has
 * processed it.
 *
 * <p>{@link #trySubmit()} fails, and the task still belongs to the user, with: NOT_PERMITTED if the
 * buf's mmap lacks LOCAL_READ_WRITE or the device; INVALID_VALUE if the message is too long or the
 * list longer than {@link Rdma#maxSendBufferListLength()}; NOT_CONNECTED; AGAIN if the connection's
 * send queue is full; IN_USE if the buf is in flight. It completes with: IO_FAILED if the message
 * did not fit the peer's receive task, or the peer had none and the retries are exhausted;
 * CONNECTION_RESET if the peer ended; CONNECTION_ABORTED if this side stopped, or an earlier task
 * failed the connection.
 *
 * <p>Thread: that of the engine. From submit to callback the buf must not be touched.
 */
public sealed interface RdmaSendTask extends Task permits SendTask {
    /**
     * The connection that the message is sent on.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Sets another connection of the same instance. */
    RdmaSendTask setConnection(RdmaConnection connection);

    /** The list with the message, by its head; null for an empty message. */
    @Nullable Buf source();

    /** Sets the list with the message, by its head; null for an empty message. */
    RdmaSendTask setSource(@Nullable Buf source);

    @Override
    RdmaSendTask setUserData(long userData);

    @Override
    RdmaSendTask setUserObject(@Nullable Object userObject);
}
