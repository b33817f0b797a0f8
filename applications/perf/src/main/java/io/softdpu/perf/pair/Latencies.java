package io.softdpu.perf.pair;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** A histogram of latencies; allocates nothing while it records. Belongs to one thread. */
public final class Latencies {
    /** Latencies above this count as this in percentiles. */
    private static final long HIGHEST_NANOS = 100_000_000_000L;

    private static final int SIGNIFICANT_DIGITS = 3;

    private final Histogram histogram = new Histogram(1, HIGHEST_NANOS, SIGNIFICANT_DIGITS);

    /** Exact, where the histogram has three digits. */
    private long longest;

    /** Records one. */
    public void record(long nanos) {
        longest = Math.max(longest, Math.max(1, nanos));
        histogram.recordValue(Math.clamp(nanos, 1, HIGHEST_NANOS));
    }

    /** Adds the values of another. */
    public void add(Latencies other) {
        histogram.add(other.histogram);
        longest = Math.max(longest, other.longest);
    }

    /** Forgets all. */
    public void reset() {
        histogram.reset();
        longest = 0;
    }

    /** The percentiles since the last reset; null without a value. */
    public @Nullable Percentiles percentiles() {
        return histogram.getTotalCount() == 0
                ? null
                : new Percentiles(percentile(50), percentile(99), percentile(99.9), longest);
    }

    /**
     * A percentile in nanoseconds since the last reset; 0 without a value. The histogram's answer
     * is the end of an interval, which may be beyond the longest value.
     *
     * @param percent from 0 to 100
     */
    public long percentile(double percent) {
        return Math.min(histogram.getValueAtPercentile(percent), longest);
    }
}
