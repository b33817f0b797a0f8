package io.softdpu.perf.pair;

import io.softdpu.linux.text.Text;
import io.softdpu.perf.text.Word;

/**
 * Round trips of a cache line between the processors of a measurement. Cores of a virtual machine
 * may be near at one moment and far at the next, and the rate of messages follows it, so figures
 * compare only within one class.
 *
 * @param beforeNanos directly before the measurement
 * @param afterNanos directly after it
 */
public record LineTimes(long beforeNanos, long afterNanos) {
    private static final long NEAR_NANOS = 200;
    private static final long FAR_NANOS = 300;

    /** Class of a measurement by its line times. */
    public enum Distance implements Word {
        /** Both line times are at most 200 ns. */
        NEAR,
        /** Both line times are at least 300 ns. */
        FAR,
        /** Neither: the figures compare with no others. */
        MIXED
    }

    /** The times and their class, for people. */
    public String toText() {
        return Text.format(
                "round trip of a cache line: %d ns before, %d ns after (%s)",
                beforeNanos, afterNanos, distance().word());
    }

    /** The class. */
    public Distance distance() {
        if (Math.max(beforeNanos, afterNanos) <= NEAR_NANOS) {
            return Distance.NEAR;
        }
        return Math.min(beforeNanos, afterNanos) >= FAR_NANOS ? Distance.FAR : Distance.MIXED;
    }
}
