package io.softdpu.storage.workload;

import io.softdpu.storage.wire.IoType;

/** Factory of request sources, called per worker before a phase begins. */
@FunctionalInterface
public interface RequestSourceFactory {
    /** Creates the source of a worker. */
    RequestSource create(Range range);

    /**
     * Part of the storage and of the memory for a worker.
     *
     * @param worker index of the worker
     * @param type operation of the phase
     * @param firstByte beginning of its part of the storage, in bytes
     * @param endByte end of that part, exclusive
     * @param ioSizeBytes size of an operation
     * @param blockSizeBytes of the storage
     * @param memoryFirstByte beginning of its part of the initiator's memory, for transactions with
     *     a buffer of their own
     * @param memoryEndByte end of that part, exclusive
     * @param mirrored whether the requester offset is the storage offset
     */
    record Range(
            int worker,
            IoType type,
            long firstByte,
            long endByte,
            int ioSizeBytes,
            int blockSizeBytes,
            long memoryFirstByte,
            long memoryEndByte,
            boolean mirrored) {

        /** Offset of an operation's data in the initiator's memory. */
        public long requesterOffset(int transaction, long storageOffset) {
            if (mirrored) {
                return storageOffset;
            }
            long buffers = Math.max(1, (memoryEndByte - memoryFirstByte) / ioSizeBytes);
            return memoryFirstByte + transaction % buffers * ioSizeBytes;
        }
    }
}
