package io.softdpu.block.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Pattern whose words of 8 bytes are all different, so that bytes from a wrong offset are detected:
 * the little-endian number at byte {@code 8 * i} is the finalizer of SplitMix64 of {@code SEED + i
 * * STEP}.
 */
final class Pattern {
    private static final long SEED = 0x736F_6674_6470_7531L;
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;
    private static final ValueLayout.OfLong LITTLE =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Pattern() {}

    /** Fills memory whose size is a multiple of 8, from the beginning of the pattern on. */
    static void fill(MemorySegment memory) {
        for (long offset = 0; offset < memory.byteSize(); offset += Long.BYTES) {
            memory.set(LITTLE, offset, word(offset / Long.BYTES));
        }
    }

    private static long word(long index) {
        long z = SEED + index * STEP;
        z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }
}
