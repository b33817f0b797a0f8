package io.softdpu.storage.workload;

import io.softdpu.storage.wire.IoType;

/** Mutable request that a {@link RequestSource} fills in; one object is reused. */
public final class IoRequest {
    private IoType type = IoType.READ;
    private int sizeBytes;
    private long requesterOffset;
    private long storageOffset;

    /** Creates a request that has not been filled in. */
    public IoRequest() {}

    /**
     * Fills the request in. Values are not checked: the target rejects ranges outside of the
     * storage or the exported memory.
     *
     * @param type read or write
     * @param sizeBytes size of the operation
     * @param requesterOffset offset in the initiator's memory, in bytes
     * @param storageOffset offset in the storage, in bytes
     */
    public void set(IoType type, int sizeBytes, long requesterOffset, long storageOffset) {
        this.type = type;
        this.sizeBytes = sizeBytes;
        this.requesterOffset = requesterOffset;
        this.storageOffset = storageOffset;
    }

    /** Read or write. */
    public IoType type() {
        return type;
    }

    /** Size of the operation. */
    public int sizeBytes() {
        return sizeBytes;
    }

    /** Offset in the initiator's memory, in bytes. */
    public long requesterOffset() {
        return requesterOffset;
    }

    /** Offset in the storage, in bytes. */
    public long storageOffset() {
        return storageOffset;
    }
}
