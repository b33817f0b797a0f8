package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Task that writes the data of a local list of bufs into the peer's memory, appended to the data of
 * the buf over that memory (RDMA guide, write task). The peer's program takes no part and is not
 * notified; a later send on the same connection arrives after the data.
 *
 * <p>{@link #trySubmit()} fails, and the task still belongs to the user, with: NOT_PERMITTED if the
 * local mmap lacks LOCAL_READ_WRITE or the device, or the peer's mmap or instance does not grant
 * RDMA_WRITE; INVALID_VALUE if the remote buf has too little tailroom, is one of several or not
 * over an RDMA import, the local list is longer than {@link Rdma#maxSendBufferListLength()}, or the
 * data exceeds the maximum message size; NOT_CONNECTED; AGAIN if the connection's send queue is
 * full; IN_USE if a buf is in flight; SHUTDOWN or CONNECTION_RESET if the peer has revoked the
 * memory or ended. It completes with: SHUTDOWN or CONNECTION_RESET if that happens during the
 * transfer, which ends the connection (part of the data may have been copied); CONNECTION_RESET if
 * the peer ended; CONNECTION_ABORTED if this side stopped, or an earlier task failed the
 * connection.
 *
 * <p>Not atomic, and bytes are stored in an unspecified order: the last may be visible in the
 * peer's memory before the first. Thread: that of the engine. From submit to callback the bufs must
 * not be touched.
 */
public sealed interface RdmaWriteTask extends Task permits WriteTask {
    /**
     * The connection to the peer that exported the remote memory.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Sets another connection of the same instance. */
    RdmaWriteTask setConnection(RdmaConnection connection);

    /**
     * The list with the data, by its head: the data sections of all its bufs are written.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf source();

    /** Sets the list with the data, over local memory, by its head. */
    RdmaWriteTask setSource(Buf source);

    /**
     * The buf that the data is appended to.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf destination();

    /** Sets the buf that the data is appended to, over remote memory. */
    RdmaWriteTask setDestination(Buf destination);

    @Override
    RdmaWriteTask setUserData(long userData);

    @Override
    RdmaWriteTask setUserObject(@Nullable Object userObject);
}
