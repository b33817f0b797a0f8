package io.softdpu.rdma.spi;

import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Work request of a task to a provider. A task owns one permanently and fills it at each submit;
 * from submit to completion it belongs to the provider. Public fields instead of accessors, since
 * both sides access nearly all of them per message, and no other code does.
 */
public final class WorkRequest {
    /** Operation. */
    public enum Kind {
        /** Receive a message of a peer. */
        RECEIVE,
        /** Send the local bytes as a message. */
        SEND,
        /** Copy remote bytes to local memory. */
        READ,
        /** Copy local bytes to remote memory. */
        WRITE
    }

    /** The operation; fixed. */
    public final Kind kind;

    /** The task that owns this request; for the listener. */
    public final Object owner;

    /** Local memory; an empty segment if there is none. */
    public MemorySegment local = MemorySegment.NULL;

    /** Offset in {@link #local}, in bytes. */
    public long localOffset;

    /** Bytes to transfer; of a receive, the free bytes of the destination. */
    public long lengthBytes;

    /** The buf over the peer's memory, of reads and writes. */
    public @Nullable Buf remote;

    /** Offset in the remote mmap, in bytes. */
    public long remoteOffset;

    /** Result of a receive: the peer's operation. */
    public ReceivedOpcode resultOpcode = ReceivedOpcode.SEND;

    /** Result: number of transferred bytes. */
    public long resultLengthBytes;

    /** For the provider while it owns the request: bytes transferred so far. */
    public long progressBytes;

    /** For the provider while it owns the request. */
    public long providerWord;

    /** Creates the request of a task. */
    public WorkRequest(Kind kind, Object owner) {
        this.kind = kind;
        this.owner = owner;
    }
}
