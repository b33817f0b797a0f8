package io.softdpu.block.memory;

import java.lang.foreign.MemorySegment;

/** Zeros of memory. */
final class Zeros {
    /** Size of the pieces in bytes: these stay in the first-level cache. */
    private static final int PIECE_BYTES = 16 << 10;

    private static final MemorySegment PIECE =
            MemorySegment.ofArray(new byte[PIECE_BYTES]).asReadOnly();

    private Zeros() {}

    /**
     * Fills a part of memory with zeros. Copies them, since {@link MemorySegment#fill} fills a
     * whole segment, and a slice of it is an object wherever C2 does not remove it.
     */
    static void fill(MemorySegment memory, long offset, long sizeBytes) {
        for (long done = 0; done < sizeBytes; done += PIECE_BYTES) {
            MemorySegment.copy(
                    PIECE, 0, memory, offset + done, Math.min(PIECE_BYTES, sizeBytes - done));
        }
    }
}
