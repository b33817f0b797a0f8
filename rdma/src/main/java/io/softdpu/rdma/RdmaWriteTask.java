package io.softdpu.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.WorkRequest;

/**
 * Stores the data section of a local buf into the peer's memory, behind the data that the buf over
 * it has (RDMA guide, write task). The peer's program takes no part and is told nothing: a send
 * after it on the same connection is seen after its data.
 *
 * <p>{@link #trySubmit()} refuses, and the task stays the user's: NOT_PERMITTED if the local mmap
 * lacks LOCAL_READ_WRITE or the device, or the peer's mmap or instance does not grant RDMA_WRITE;
 * INVALID_VALUE if the remote buf has too little room, the data is longer than a message may be, or
 * the other buf is not of the right kind; NOT_CONNECTED; AGAIN if the connection's send queue is
 * full; IN_USE if a buf is in flight; SHUTDOWN or CONNECTION_RESET if the peer has withdrawn the
 * memory or ended. It fails with: SHUTDOWN or CONNECTION_RESET for the same during the transfer,
 * which ends the connection (part of the data may have been moved); CONNECTION_RESET if the peer
 * ended; CONNECTION_ABORTED if this side stopped, or the connection failed for something before it.
 *
 * <p>Not atomic, and its bytes are stored in an unspecified order: the last of them may be seen in
 * the peer's memory before the first. Thread: that of the engine. From submit to callback the bufs
 * must not be touched.
 */
public final class RdmaWriteTask extends RemoteTask {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_WRITE);

    RdmaWriteTask(Rdma rdma) {
        super(rdma, WorkRequest.Kind.WRITE, RIGHT);
    }

    /** Chooses another connection of the same instance. */
    public RdmaWriteTask setConnection(RdmaConnection connection) {
        use(connection, source(), destination());
        return this;
    }

    /** Chooses the buf with the data, over local memory. */
    public RdmaWriteTask setSource(Buf source) {
        use(connection(), source, destination());
        return this;
    }

    /** Chooses the buf that is appended to, over remote memory. */
    public RdmaWriteTask setDestination(Buf destination) {
        use(connection(), source(), destination);
        return this;
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().write.completed(this);
    }
}
