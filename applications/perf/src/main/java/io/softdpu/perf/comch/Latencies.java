package io.softdpu.perf.comch;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** A histogram of latencies; allocates nothing while it records. Belongs to one thread. */
final class Latencies {
    /** Latencies above this count as this. */
    private static final long HIGHEST_NANOS = 10_000_000_000L;

    private static final int SIGNIFICANT_DIGITS = 3;

    private final Histogram histogram = new Histogram(1, HIGHEST_NANOS, SIGNIFICANT_DIGITS);

    void record(long nanos) {
        histogram.recordValue(Math.clamp(nanos, 1, HIGHEST_NANOS));
    }

    void reset() {
        histogram.reset();
    }

    /** The percentiles since the last reset; null without a value. */
    @Nullable Percentiles percentiles() {
        return histogram.getTotalCount() == 0
                ? null
                : new Percentiles(
                        histogram.getValueAtPercentile(50),
                        histogram.getValueAtPercentile(99),
                        histogram.getValueAtPercentile(99.9));
    }
}
