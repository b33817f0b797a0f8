package io.softdpu.storage.workload;

import io.softdpu.storage.wire.IoType;

/** A request that a {@link RequestSource} fills in; one object is used again and again. */
public final class IoRequest {
    private IoType type = IoType.READ;
    private int sizeBytes;
    private long requesterOffset;
    private long storageOffset;

    /** A request that has not been filled in. */
    public IoRequest() {}

    /**
     * Fills the request in. Nothing is checked here: what does not fit the storage or the exported
     * memory is the target's to refuse.
     *
     * @param type read or write
     * @param sizeBytes how much
     * @param requesterOffset where in the initiator's memory
     * @param storageOffset where in the storage
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

    /** How much. */
    public int sizeBytes() {
        return sizeBytes;
    }

    /** Where in the initiator's memory. */
    public long requesterOffset() {
        return requesterOffset;
    }

    /** Where in the storage. */
    public long storageOffset() {
        return storageOffset;
    }
}
