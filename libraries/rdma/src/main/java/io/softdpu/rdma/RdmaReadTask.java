package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Task that reads the data section of a buf over the peer's memory and appends it to the data of a
 * local list of bufs (RDMA guide, read task): their tailrooms are filled one after the other. The
 * peer's program takes no part.
 *
 * <p>{@link #trySubmit()} fails, and the task still belongs to the user, with: NOT_PERMITTED if the
 * local mmap lacks LOCAL_READ_WRITE or the device, or the peer's mmap or instance does not grant
 * RDMA_READ; INVALID_VALUE if the local list has too little tailroom or is longer than {@link
 * Rdma#maxSendBufferListLength()}, the data exceeds the maximum message size, or the remote buf is
 * one of several or not over an RDMA import; NOT_CONNECTED; AGAIN if the connection's send queue is
 * full; IN_USE if a buf is in flight; SHUTDOWN or CONNECTION_RESET if the peer has revoked the
 * memory or ended. It completes with: SHUTDOWN or CONNECTION_RESET if that happens during the
 * transfer, which ends the connection (part of the data may have been copied); CONNECTION_RESET if
 * the peer ended; CONNECTION_ABORTED if this side stopped, or an earlier task failed the
 * connection.
 *
 * <p>Not atomic. Thread: that of the engine. From submit to callback the bufs must not be touched.
 */
public sealed interface RdmaReadTask extends Task permits ReadTask {
    /**
     * The connection to the peer that exported the remote memory.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Sets another connection of the same instance. */
    RdmaReadTask setConnection(RdmaConnection connection);

    /**
     * The buf with the data: its whole data section is read.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf source();

    /** Sets the buf with the data, over remote memory. */
    RdmaReadTask setSource(Buf source);

    /**
     * The list that the data is appended to, by its head.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf destination();

    /** Sets the list that the data is appended to, over local memory, by its head. */
    RdmaReadTask setDestination(Buf destination);

    /** Bytes that were read; valid after success. */
    long resultLength();

    @Override
    RdmaReadTask setUserData(long userData);

    @Override
    RdmaReadTask setUserObject(@Nullable Object userObject);
}
