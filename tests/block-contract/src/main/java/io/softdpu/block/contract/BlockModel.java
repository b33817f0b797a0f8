package io.softdpu.block.contract;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Model of the blocks of a device: the value that each holds, as far as the contract tells. A block
 * is unknown until it is written, after a discard, and after writes that were in flight together,
 * until the next write.
 *
 * <p>The words of a block are made of its value, its place and their own place, so that bytes of
 * another write, block or offset are detected.
 */
final class BlockModel {
    /** Value of a block of zeros. */
    static final long ZEROS = 0;

    /** Value of a block that may hold anything. */
    static final long UNKNOWN = -1;

    private static final long BLOCK_FACTOR = 0x9E37_79B9_7F4A_7C15L;
    private static final long WORD_FACTOR = 0xC2B2_AE3D_27D4_EB4FL;

    /** Values that a read has to deliver. */
    static final class Expected {
        private final int first;

        /**
         * The value of each block when the read was submitted; UNKNOWN if a write was in flight.
         */
        private final long[] values;

        /** Number of writes of each block that had begun then. */
        private final long[] changes;

        private Expected(int first, int count) {
            this.first = first;
            this.values = new long[count];
            this.changes = new long[count];
        }
    }

    private final int blockBytes;
    private final boolean alwaysZeros;
    private final long[] values;
    private final int[] writers;
    private final boolean[] overlapped;
    private final long[] changes;
    private long lastValue;

    /**
     * Creates a model.
     *
     * @param alwaysZeros whether reads deliver zeros whatever was written
     */
    BlockModel(int blocks, int blockBytes, boolean alwaysZeros) {
        this.blockBytes = blockBytes;
        this.alwaysZeros = alwaysZeros;
        values = new long[blocks];
        writers = new int[blocks];
        overlapped = new boolean[blocks];
        changes = new long[blocks];
        Arrays.fill(values, alwaysZeros ? ZEROS : UNKNOWN);
    }

    /** A value that no block had before. */
    long newValue() {
        return ++lastValue;
    }

    // ---- writes ----

    void writeBegins(int first, int count) {
        for (int block = first; block < first + count; block++) {
            overlapped[block] |= writers[block] > 0;
            writers[block]++;
            changes[block]++;
        }
    }

    /**
     * A write has completed.
     *
     * @param value its value, ZEROS, or UNKNOWN for a discard
     */
    void writeEnded(int first, int count, long value) {
        for (int block = first; block < first + count; block++) {
            writers[block]--;
            if (!alwaysZeros) {
                values[block] = overlapped[block] ? UNKNOWN : value;
            }
            if (writers[block] == 0) {
                overlapped[block] = false;
            }
        }
    }

    // ---- reads ----

    Expected readBegins(int first, int count) {
        Expected expected = new Expected(first, count);
        for (int i = 0; i < count; i++) {
            int block = first + i;
            boolean known = writers[block] == 0 || alwaysZeros;
            expected.values[i] = known ? values[block] : UNKNOWN;
            expected.changes[i] = changes[block];
        }
        return expected;
    }

    /**
     * Compares what a read has delivered.
     *
     * @return number of blocks that were compared, since nothing else was in flight there
     * @throws AssertionError if one has other bytes
     */
    int readEnded(Expected expected, MemorySegment memory, long at) {
        int compared = 0;
        for (int i = 0; i < expected.values.length; i++) {
            int block = expected.first + i;
            boolean steady = changes[block] == expected.changes[i] || alwaysZeros;
            if (steady && expected.values[i] != UNKNOWN) {
                compare(memory, at + (long) i * blockBytes, block, expected.values[i]);
                compared++;
            }
        }
        return compared;
    }

    private void compare(MemorySegment memory, long at, int block, long value) {
        for (int word = 0; word < blockBytes / Long.BYTES; word++) {
            long actual =
                    memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at + (long) word * Long.BYTES);
            if (actual != wordOf(value, block, word)) {
                throw new AssertionError(
                        "block has other bytes: block="
                                + block
                                + ", word="
                                + word
                                + ", value="
                                + value
                                + ", actual="
                                + Long.toHexString(actual)
                                + ", expected="
                                + Long.toHexString(wordOf(value, block, word)));
            }
        }
    }

    /** Fills memory with the bytes of a value. */
    void fill(MemorySegment memory, long at, int first, int count, long value) {
        for (int i = 0; i < count; i++) {
            for (int word = 0; word < blockBytes / Long.BYTES; word++) {
                memory.set(
                        ValueLayout.JAVA_LONG_UNALIGNED,
                        at + (long) i * blockBytes + (long) word * Long.BYTES,
                        wordOf(value, first + i, word));
            }
        }
    }

    private static long wordOf(long value, int block, int word) {
        if (value == ZEROS) {
            return 0;
        }
        long mixed = value * BLOCK_FACTOR + block;
        return (mixed ^ (mixed >>> 29)) * WORD_FACTOR + word;
    }
}
