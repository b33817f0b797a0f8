package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Sends the data section of a local buf as one message, to a receive task that the peer has
 * submitted beforehand (RDMA guide, send task). A message that comes before its receive waits for
 * it, unless {@link Rdma#setRnrRetries} limits that.
 *
 * <p>Success means that the peer's instance has taken the message; not that its program has seen
 * it.
 *
 * <p>{@link #trySubmit()} refuses, and the task stays the user's: NOT_PERMITTED if the buf's mmap
 * lacks LOCAL_READ_WRITE or the device; INVALID_VALUE if the message is too long or the buf a list
 * of several; NOT_CONNECTED; AGAIN if the connection's send queue is full; IN_USE if the buf is in
 * flight. It fails with: IO_FAILED if the message did not fit the peer's receive, or the peer had
 * none and the retries are used up; CONNECTION_RESET if the peer ended; CONNECTION_ABORTED if this
 * side stopped, or the connection failed for something before it.
 *
 * <p>Thread: that of the engine. From submit to callback the buf must not be touched.
 */
public sealed interface RdmaSendTask extends Task permits SendTask {
    /**
     * The connection that it goes out on.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Chooses another connection of the same instance. */
    RdmaSendTask setConnection(RdmaConnection connection);

    /** The buf with the message; null for an empty message. */
    @Nullable Buf source();

    /** Chooses the buf with the message; null for an empty message. */
    RdmaSendTask setSource(@Nullable Buf source);
}
