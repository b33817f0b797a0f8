package io.softdpu.rdma.spi;

import io.softdpu.core.Status;
import io.softdpu.core.spi.memory.RemoteMemory;
import org.jspecify.annotations.Nullable;

/**
 * Work request of a task to a provider: an operation of a reliable connection. A task owns one
 * permanently and fills it at each submit; from submit to completion it belongs to the provider.
 * Public fields instead of accessors, since both sides access nearly all of them per message, and
 * no other code does.
 *
 * <p>Remote sync events are no kinds of their own: a get is a {@link Kind#READ} of eight bytes, a
 * set a {@link Kind#WRITE} of as many, and an add a {@link Kind#FETCH_AND_ADD}. Their local memory
 * is in one element.
 */
public final class WorkRequest {
    /** Receiver of the completion of one request. */
    @FunctionalInterface
    public interface Sink {
        /**
         * The request has completed and no longer belongs to the provider, which has set its
         * results before. Called once for each that was accepted, inside progress or a flush; as a
         * call of an {@link EndpointListener} it may run user callbacks. Allocates nothing.
         */
        void completed(Status status);
    }

    /** Operation. */
    public enum Kind {
        /** Receive a message or an immediate value of a peer. */
        RECEIVE,
        /** Send the local bytes as a message. */
        SEND,
        /** Send the local bytes as a message with an immediate value. */
        SEND_IMMEDIATE,
        /** Copy local bytes to remote memory. */
        WRITE,
        /** Copy local bytes to remote memory, then complete a receive of the peer. */
        WRITE_IMMEDIATE,
        /** Copy remote bytes to local memory. */
        READ,
        /** Replace eight remote bytes if they have a value, and return the value before. */
        COMPARE_AND_SWAP,
        /** Add to eight remote bytes, and return the value before. */
        FETCH_AND_ADD
    }

    /** The operation; fixed. */
    public final Kind kind;

    /** The task that owns this request, to which a provider completes it; fixed. */
    public final Sink sink;

    /**
     * Local memory: the bytes to send or write, or the place for those that are received or read;
     * of an atomic operation the place for the value before. May hold more than {@link
     * #lengthBytes}, which then is less than its sum.
     */
    public final LocalList local;

    /** Bytes to transfer, 8 for an atomic operation; of a receive, the free bytes of the list. */
    public long lengthBytes;

    /** Value for the peer's receive; of a receive, the result. 0 for operations without one. */
    public int immediate;

    /** First operand of an atomic operation: the value to add, or to compare with. */
    public long operand;

    /** Second operand of a compare and swap: the new value. */
    public long swap;

    /**
     * The peer's memory, of all kinds but sends and receives: an import for RDMA, or the counter of
     * a remote sync event. The task keeps it open.
     */
    public @Nullable RemoteMemory remote;

    /** Offset in the peer's memory, in bytes; of an atomic operation a multiple of 8. */
    public long remoteOffset;

    /** Result of a receive: the connection that consumed it; null if none did, in a flush. */
    public @Nullable ProviderConnection resultConnection;

    /** Result of a receive that a connection consumed: the peer's operation. */
    public ReceivedOpcode resultOpcode = ReceivedOpcode.SEND;

    /** Result: number of transferred bytes; of a receive, those of the peer's operation. */
    public long resultLengthBytes;

    /** For the provider while it owns the request: bytes transferred so far. */
    public long progressBytes;

    /** For the provider while it owns the request. */
    public long providerWord;

    /**
     * Creates the request of a task.
     *
     * @param maxListLength limit of elements of {@link #local}
     */
    public WorkRequest(Kind kind, Sink sink, int maxListLength) {
        this.kind = kind;
        this.sink = sink;
        this.local = new LocalList(maxListLength);
    }
}
