package io.softdpu.core.copy;

import java.lang.foreign.MemorySegment;

/**
 * A copy of one contiguous range that is made slice by slice, so that a large one does not keep an
 * engine from the rest, and how far it has come. Whoever makes it checks between two slices whether
 * the memory on both sides may still be used. Used for one copy after another; allocates nothing.
 * Belongs to the thread of its copier.
 */
public final class SlicedCopy {
    private MemorySegment source = MemorySegment.NULL;
    private MemorySegment destination = MemorySegment.NULL;
    private long sourceOffset;
    private long destinationOffset;
    private long sizeBytes;
    private long copiedBytes;

    /** One that has nothing to copy. */
    public SlicedCopy() {}

    /** Begins a copy; nothing is copied yet. What was left of the one before is forgotten. */
    // Mostly the same memory again, and a look costs less than a store.
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

    /** Forgets what is left: the copy is done. */
    public void end() {
        sizeBytes = copiedBytes;
    }

    /**
     * Copies the next slice, as {@link Copier#payload} does.
     *
     * @param budgetBytes at most how much; mostly what is left of {@link Copier#SLICE_BYTES}
     * @return how much
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

    /** Whether all has been copied. */
    public boolean isDone() {
        return copiedBytes == sizeBytes;
    }

    /** How much has been copied. */
    public long copiedBytes() {
        return copiedBytes;
    }
}
