package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;

/**
 * Fetches the data section of a buf over the peer's memory into a local buf, where it is appended
 * to the data (RDMA guide, read task). The peer's program takes no part.
 *
 * <p>{@link #trySubmit()} refuses, and the task stays the user's: NOT_PERMITTED if the local mmap
 * lacks LOCAL_READ_WRITE or the device, or the peer's mmap or instance does not grant RDMA_READ;
 * INVALID_VALUE if the local buf has too little room, the data is longer than a message may be, or
 * the remote buf is not of the right kind; NOT_CONNECTED; AGAIN if the connection's send queue is
 * full; IN_USE if a buf is in flight; SHUTDOWN or CONNECTION_RESET if the peer has withdrawn the
 * memory or ended. It fails with: SHUTDOWN or CONNECTION_RESET for the same during the transfer,
 * which ends the connection (part of the data may have been moved); CONNECTION_RESET if the peer
 * ended; CONNECTION_ABORTED if this side stopped, or the connection failed for something before it.
 *
 * <p>Not atomic. Thread: that of the engine. From submit to callback the bufs must not be touched.
 */
public sealed interface RdmaReadTask extends Task permits ReadTask {
    /**
     * The connection to the peer whose memory is meant.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Chooses another connection of the same instance. */
    RdmaReadTask setConnection(RdmaConnection connection);

    /**
     * The buf with the data to be moved: all of its data section.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf source();

    /** Chooses the buf with the data, over remote memory. */
    RdmaReadTask setSource(Buf source);

    /**
     * The buf to whose data the data is appended.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf destination();

    /** Chooses the buf that is appended to, over local memory. */
    RdmaReadTask setDestination(Buf destination);

    /** Bytes that were read; valid after success. */
    long resultLength();
}
