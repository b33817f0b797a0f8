package io.softdpu.core.copy;

import java.lang.foreign.MemorySegment;

/**
 * Copy of one contiguous range in slices, so that a large one does not block an engine, and its
 * progress. The caller checks between two slices whether the memory on both sides may still be
 * used. Reusable; allocates nothing. Belongs to the thread of its copier.
 */
public final class SlicedCopy {
    private MemorySegment source = MemorySegment.NULL;
    private MemorySegment destination = MemorySegment.NULL;
    private long sourceOffset;
    private long destinationOffset;
    private long sizeBytes;
    private long copiedBytes;

    /** Creates an object without a copy. */
    public SlicedCopy() {}

    /** Begins a copy; nothing is copied yet. The remainder of the one before is dropped. */
    // Usually the same memory again, and a comparison costs less than a store.
    @SuppressWarnings({"ReferenceEquality", "MemorySegmentReferenceEquality"})
    public void begin(
            MemorySegment newSource,
            long newSourceOffset,
            MemorySegment newDestination,
            long newDestinationOffset,
            long newSizeBytes) {
        if (source != newSource) {
            source = newSource;
        }
        if (destination != newDestination) {
            destination = newDestination;
        }
        sourceOffset = newSourceOffset;
        destinationOffset = newDestinationOffset;
        sizeBytes = newSizeBytes;
        copiedBytes = 0;
    }

    /** Ends the copy and drops its remainder. */
    public void end() {
        sizeBytes = copiedBytes;
    }

    /**
     * Copies the next slice, as {@link Copier#payload} does.
     *
     * @param budgetBytes limit of bytes; usually the rest of {@link Copier#SLICE_BYTES}
     * @return number of bytes copied
     * @throws IllegalStateException if the memory was freed meanwhile; the slice does not count
     *     then
     */
    public long advance(Copier copier, long budgetBytes) {
        long slice = Math.min(budgetBytes, sizeBytes - copiedBytes);
        if (slice > 0) {
            copier.payload(
                    source,
                    sourceOffset + copiedBytes,
                    destination,
                    destinationOffset + copiedBytes,
                    slice);
            copiedBytes += slice;
        }
        return slice;
    }

    /** Whether everything has been copied. */
    public boolean isDone() {
        return copiedBytes == sizeBytes;
    }

    /** Number of bytes copied. */
    public long copiedBytes() {
        return copiedBytes;
    }
}
