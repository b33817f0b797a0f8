package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Takes one message that a peer sends (RDMA guide, receive task): its bytes are appended to the
 * data of the destination. The receives of an instance form one queue for all of its connections,
 * and are used up in the order of submission.
 *
 * <p>{@link #trySubmit()} refuses, and the task stays the user's: NOT_PERMITTED if the buf's mmap
 * lacks LOCAL_READ_WRITE or the device; INVALID_VALUE if the buf is a list of several; IN_USE if it
 * is in flight. It fails with: TOO_BIG if the message was larger than the room behind the data,
 * which ends the connection; CONNECTION_RESET or CONNECTION_ABORTED if the connection ended in the
 * middle of the message; CONNECTION_ABORTED if the instance stopped.
 *
 * <p>Thread: that of the engine. From submit to callback the buf must not be touched.
 */
public final class RdmaReceiveTask extends RdmaTask {
    private static final Regions REGIONS = Regions.get();

    private @Nullable Buf destination;
    private @Nullable RdmaConnection resultConnection;

    RdmaReceiveTask(Rdma rdma) {
        super(rdma, WorkRequest.Kind.RECEIVE);
    }

    /** The buf that the message is appended to; null if only empty messages are awaited. */
    public @Nullable Buf destination() {
        return destination;
    }

    /** Chooses the buf that the message is appended to; null if only empty ones are awaited. */
    public RdmaReceiveTask setDestination(@Nullable Buf destination) {
        requireUser();
        this.destination = destination;
        return this;
    }

    /** Length of the message in bytes; valid after success. */
    public long resultLength() {
        return request.resultLengthBytes;
    }

    /** What the peer did; valid after completion, success or not. */
    public RdmaOpcode resultOpcode() {
        return switch (request.resultOpcode) {
            case SEND -> RdmaOpcode.SEND;
            case SEND_IMMEDIATE -> RdmaOpcode.SEND_IMMEDIATE;
            case WRITE_IMMEDIATE -> RdmaOpcode.WRITE_IMMEDIATE;
        };
    }

    /** The connection that the message came on; null if the task ended without a message. */
    public @Nullable RdmaConnection resultConnection() {
        return resultConnection;
    }

    @Override
    protected Status onSubmit() {
        resultConnection = null;
        request.resultLengthBytes = 0;
        Buf into = destination;
        if (into == null) {
            setLocal(null, 0, 0);
            return rdma.postReceive(request);
        }
        Status local = checkLocal(into);
        if (local != Status.SUCCESS) {
            return local;
        }
        Status marked = REGIONS.markDestination(into, MAX_LIST_LENGTH);
        if (marked != Status.SUCCESS) {
            return marked;
        }
        setLocal(into, into.dataOffset() + into.dataLength(), into.tailroom());
        Status posted = rdma.postReceive(request);
        if (posted != Status.SUCCESS) {
            REGIONS.clearInFlight(into);
        }
        return posted;
    }

    void finish(Status status, @Nullable RdmaConnection from) {
        resultConnection = from;
        finish(status);
    }

    @Override
    void finish(Status status) {
        Buf into = destination;
        if (into != null) {
            REGIONS.clearInFlight(into);
            if (status == Status.SUCCESS) {
                REGIONS.appendData(into, request.resultLengthBytes);
            }
        }
        complete(status);
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().receive.completed(this);
    }

    @Override
    protected String submissionDetails() {
        return BufLists.describe("destination", destination, MAX_LIST_LENGTH);
    }

    @Override
    protected boolean completesInOrder() {
        return true;
    }

    @Override
    protected void onFree() {
        destination = null;
        resultConnection = null;
    }
}
