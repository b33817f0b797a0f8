package io.softdpu.storage.workload;

import io.softdpu.storage.wire.IoType;

/** Makes the request source of a core for a phase, before the phase begins. */
@FunctionalInterface
public interface RequestSourceFactory {
    /** A source for this core. */
    RequestSource create(Range range);

    /**
     * What a core has to do with.
     *
     * @param core its index
     * @param type what the phase does
     * @param firstByte where its part of the storage begins, in bytes
     * @param endByte where it ends
     * @param ioSizeBytes bytes of an operation
     * @param blockSizeBytes the storage's
     * @param memoryFirstByte where the part of the initiator's memory begins that it may use for
     *     transactions with a buffer of their own
     * @param memoryEndByte where that ends
     * @param mirrored whether the requester offset is the storage offset
     */
    record Range(
            int core,
            IoType type,
            long firstByte,
            long endByte,
            int ioSizeBytes,
            int blockSizeBytes,
            long memoryFirstByte,
            long memoryEndByte,
            boolean mirrored) {

        /** Where in the initiator's memory the data of an operation stands. */
        public long requesterOffset(int transaction, long storageOffset) {
            if (mirrored) {
                return storageOffset;
            }
            long buffers = Math.max(1, (memoryEndByte - memoryFirstByte) / ioSizeBytes);
            return memoryFirstByte + transaction % buffers * ioSizeBytes;
        }
    }
}
