package io.softdpu.rdma.spi;

import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One piece of work on its way through a provider. A task owns one for its whole life and fills it
 * at each submit; from then on until it is reported it is the provider's. Fields and not accessors,
 * since both sides touch nearly all of them for each message, and nobody else sees them.
 */
public final class WorkRequest {
    /** What is to be done. */
    public enum Kind {
        /** Take a message that a peer sends. */
        RECEIVE,
        /** Send the local bytes as a message. */
        SEND,
        /** Fetch remote bytes into the local ones. */
        READ,
        /** Store the local bytes into the remote ones. */
        WRITE
    }

    /** What is to be done; fixed. */
    public final Kind kind;

    /** The task that this is part of; the listener's. */
    public final Object owner;

    /** Local memory; an empty segment where there is none. */
    public MemorySegment local = MemorySegment.NULL;

    /** Where the work begins in {@link #local}. */
    public long localOffset;

    /** Bytes to move; of a receive, the bytes that there is room for. */
    public long lengthBytes;

    /** The buf over the peer's memory, of reads and writes. */
    public @Nullable Buf remote;

    /** Where the work begins in the remote mmap. */
    public long remoteOffset;

    /** Result of a receive. */
    public ReceivedOpcode resultOpcode = ReceivedOpcode.SEND;

    /** Result: bytes that were moved. */
    public long resultLengthBytes;

    /** The provider's, while it has the request: bytes moved so far, for one. */
    public long progressBytes;

    /** The provider's, while it has the request. */
    public long providerWord;

    /** Makes the request of a task. */
    public WorkRequest(Kind kind, Object owner) {
        this.kind = kind;
        this.owner = owner;
    }
}
