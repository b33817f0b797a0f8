package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;

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
public final class RdmaReadTask extends RemoteTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_READ);

    RdmaReadTask(Rdma rdma) {
        super(rdma, WorkRequest.Kind.READ, RIGHT);
    }

    /** Chooses another connection of the same instance. */
    public RdmaReadTask setConnection(RdmaConnection connection) {
        use(connection, source(), destination());
        return this;
    }

    /** Chooses the buf with the data, over remote memory. */
    public RdmaReadTask setSource(Buf source) {
        use(connection(), source, destination());
        return this;
    }

    /** Chooses the buf that is appended to, over local memory. */
    public RdmaReadTask setDestination(Buf destination) {
        use(connection(), source(), destination);
        return this;
    }

    /** Bytes that were read; valid after success. */
    public long resultLength() {
        return request.resultLengthBytes;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().read.completed(this);
    }
}
