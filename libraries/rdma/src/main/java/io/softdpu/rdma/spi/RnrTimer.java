package io.softdpu.rdma.spi;

/**
 * Step of the timer after which a sender repeats a message that has found no receive, by its code
 * in the InfiniBand specification ("RNR NAK timer field"). A receiver sets it for its peers.
 *
 * @param code 0 to 31
 */
public record RnrTimer(int code) {
    /** Steps by code, in units of 10 µs. */
    private static final int[] STEPS = {
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
        1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152
    };

    private static final long UNIT_NANOS = 10_000;

    /** The longest step: 655.36 ms. */
    public static final RnrTimer LONGEST = new RnrTimer(0);

    /**
     * Checks the code.
     *
     * @throws IllegalArgumentException if it is not 0 to 31
     */
    public RnrTimer {
        if (!isCode(code)) {
            throw new IllegalArgumentException(
                    "no code of an RNR timer: code=" + code + ", expected=0 to 31");
        }
    }

    /** Whether a number that comes from a peer is a code. */
    public static boolean isCode(int code) {
        return code >= 0 && code < STEPS.length;
    }

    /**
     * The shortest step that is not shorter than a duration.
     *
     * @param nanos at most that of {@link #LONGEST}
     */
    public static RnrTimer atLeast(long nanos) {
        for (int code = 1; code < STEPS.length; code++) {
            if (STEPS[code] * UNIT_NANOS >= nanos) {
                return new RnrTimer(code);
            }
        }
        return LONGEST;
    }

    /** Its duration in nanoseconds. */
    public long nanos() {
        return nanosOf(code);
    }

    /**
     * Duration of a code in nanoseconds.
     *
     * @param code 0 to 31
     */
    public static long nanosOf(int code) {
        return STEPS[code] * UNIT_NANOS;
    }
}
