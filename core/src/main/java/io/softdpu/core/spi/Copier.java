package io.softdpu.core.spi;

import io.softdpu.fabric.engine.PayloadCopy;
import java.lang.foreign.MemorySegment;

/**
 * Copies payload for the libraries that do not know the bus, and counts it with the rest of what
 * the engine or the work queue copies. Belongs to the thread of that; allocates nothing.
 */
public final class Copier {
    /**
     * Most that one pass of progress should copy for a context, so that an engine with a large copy
     * in flight still serves the rest.
     */
    public static final long SLICE_BYTES = PayloadCopy.SLICE_BYTES;

    private final PayloadCopy copier;

    Copier(PayloadCopy copier) {
        this.copier = copier;
    }

    /**
     * Copies; the segments check the bounds. Where the ranges overlap, all of the source is read
     * before it is written over.
     *
     * @throws IllegalStateException if the memory was freed meanwhile
     */
    public void copy(
            MemorySegment source,
            long sourceOffset,
            MemorySegment destination,
            long destinationOffset,
            long sizeBytes) {
        copier.payload(source, sourceOffset, destination, destinationOffset, sizeBytes);
    }
}
