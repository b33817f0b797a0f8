package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import io.softdpu.rdma.spi.WorkRequest;
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
public final class RdmaSendTask extends RdmaTask {
    private static final Regions REGIONS = Regions.get();

    private @Nullable RdmaConnection connection;
    private @Nullable Buf source;

    RdmaSendTask(Rdma rdma) {
        super(rdma, WorkRequest.Kind.SEND);
    }

    /**
     * The connection that it goes out on.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    public RdmaConnection connection() {
        return requireSet(connection, "connection");
    }

    /** Chooses another connection of the same instance. */
    public RdmaSendTask setConnection(RdmaConnection connection) {
        requireUser();
        this.connection = rdma.requireOwn(connection);
        return this;
    }

    /** The buf with the message; null for an empty message. */
    public @Nullable Buf source() {
        return source;
    }

    /** Chooses the buf with the message; null for an empty message. */
    public RdmaSendTask setSource(@Nullable Buf source) {
        requireUser();
        this.source = source;
        return this;
    }

    @Override
    protected Status onSubmit() {
        Buf from = source;
        if (from == null) {
            setLocal(null, 0, 0);
            return submit(connection(), request);
        }
        Status local = checkLocal(from);
        if (local != Status.SUCCESS) {
            return local;
        }
        if (from.dataLength() > rdma.maxMessageBytes()) {
            return Status.INVALID_VALUE;
        }
        Status marked = REGIONS.markSource(from, MAX_LIST_LENGTH);
        if (marked != Status.SUCCESS) {
            return marked;
        }
        setLocal(from, from.dataOffset(), from.dataLength());
        Status submitted = submit(connection(), request);
        if (submitted != Status.SUCCESS) {
            REGIONS.clearInFlight(from);
        }
        return submitted;
    }

    @Override
    void finish(Status status) {
        Buf from = source;
        if (from != null) {
            REGIONS.clearInFlight(from);
        }
        complete(status);
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().send.completed(this);
    }

    @Override
    protected String submissionDetails() {
        return BufLists.describe("source", source, MAX_LIST_LENGTH);
    }

    @Override
    protected void onFree() {
        connection = null;
        source = null;
    }
}
