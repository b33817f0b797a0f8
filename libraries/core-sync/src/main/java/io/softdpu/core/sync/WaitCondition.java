package io.softdpu.core.sync;

/** Comparison that ends a wait. Unsigned. */
enum WaitCondition {
    GREATER,
    EQUAL,
    NOT_EQUAL;

    /**
     * Whether a value ends a wait.
     *
     * @param value the value of the counter
     * @param threshold the value to compare with
     * @param mask applied to the value of the counter
     */
    boolean isMet(long value, long threshold, long mask) {
        long masked = value & mask;
        return switch (this) {
            case GREATER -> Long.compareUnsigned(masked, threshold) > 0;
            case EQUAL -> masked == threshold;
            case NOT_EQUAL -> masked != threshold;
        };
    }
}
