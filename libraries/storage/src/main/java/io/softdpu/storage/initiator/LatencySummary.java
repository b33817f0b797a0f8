package io.softdpu.storage.initiator;

import org.HdrHistogram.Histogram;

/**
 * Latencies of operations, each from the submission of its request until its answer has come.
 *
 * @param count operations
 * @param minNanos the shortest
 * @param maxNanos the longest
 * @param meanNanos the mean
 * @param p50Nanos half of them took no longer
 * @param p99Nanos 99 of 100 took no longer
 * @param p999Nanos 999 of 1000 took no longer
 */
public record LatencySummary(
        long count,
        long minNanos,
        long maxNanos,
        double meanNanos,
        long p50Nanos,
        long p99Nanos,
        long p999Nanos) {

    static LatencySummary of(Histogram histogram) {
        if (histogram.getTotalCount() == 0) {
            return new LatencySummary(0, 0, 0, 0, 0, 0, 0);
        }
        return new LatencySummary(
                histogram.getTotalCount(),
                histogram.getMinValue(),
                histogram.getMaxValue(),
                histogram.getMean(),
                histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(99),
                histogram.getValueAtPercentile(99.9));
    }
}
