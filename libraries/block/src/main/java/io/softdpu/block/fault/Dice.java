package io.softdpu.block.fault;

/**
 * Random decisions about the requests of a device, each from seed, number of the request and
 * subject alone: neither threads nor times change them. Immutable; any thread.
 */
final class Dice {
    /** Subject of a decision; each has its own for the same request. */
    enum Subject {
        /** Whether the request fails. */
        FAILURE(1),
        /** Whether a write is torn. */
        TEAR(2),
        /** Which of its sectors are written. */
        SECTORS(3),
        /** Whether one of its bits is changed. */
        CORRUPTION(4),
        /** Which bit. */
        BIT(5),
        /** Whether a block of a cache is written out. */
        WRITE_OUT(6),
        /** Where the search for that block begins. */
        BLOCK(7);

        private final int step;

        Subject(int step) {
            this.step = step;
        }
    }

    /** Step of SplitMix64, whose finalizer makes a random number of each. */
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

    private static final int STEPS = Subject.values().length;
    private static final int BITS_OF_FRACTION = 53;

    private final long seed;

    Dice(long seed) {
        this.seed = seed;
    }

    /** Whether something happens to a request that happens with this probability. */
    boolean isHit(Subject subject, long number, double rate) {
        return (bits(subject, number) >>> (Long.SIZE - BITS_OF_FRACTION))
                < rate * (1L << BITS_OF_FRACTION);
    }

    /** A number from 0 to less than a bound. */
    long below(Subject subject, long number, long bound) {
        return Long.remainderUnsigned(bits(subject, number), bound);
    }

    /** 64 random bits. */
    long bits(Subject subject, long number) {
        long z = seed + (number * STEPS + subject.step) * STEP;
        z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }
}
