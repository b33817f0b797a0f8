package io.softdpu.block.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Pattern whose words of 8 bytes are all different, so that bytes from a wrong offset are detected:
 * the little-endian number at byte {@code 8 * i} is the finalizer of SplitMix64 of {@code seed + i
 * * 0x9E3779B97F4A7C15}. Immutable; any thread.
 *
 * @param seed any number
 */
public record Pattern(long seed) {
    /** Seed of the pattern of devices in memory. */
    public static final long DEVICE_SEED = 0x736F_6674_6470_7531L;

    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;
    private static final ValueLayout.OfLong LITTLE =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /**
     * Fills a piece of memory.
     *
     * @param destination filled completely
     * @param offset of the piece within the pattern, in bytes, not negative
     */
    public void fill(MemorySegment destination, long offset) {
        long size = destination.byteSize();
        long at = 0;
        for (; at < size && ((offset + at) & 7) != 0; at++) {
            putByte(destination, at, offset + at);
        }
        for (; at + 8 <= size; at += 8) {
            destination.set(LITTLE, at, word((offset + at) >>> 3));
        }
        for (; at < size; at++) {
            putByte(destination, at, offset + at);
        }
    }

    private void putByte(MemorySegment destination, long at, long position) {
        long word = word(position >>> 3);
        destination.set(ValueLayout.JAVA_BYTE, at, (byte) (word >>> ((position & 7) << 3)));
    }

    private long word(long index) {
        long z = seed + index * STEP;
        z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }
}
