package io.softdpu.storage.initiator;

import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Latencies of operations: to the receipt of the response, from the submission of the request or
 * from the time at which it was due.
 *
 * @param count number of operations
 * @param minNanos minimum
 * @param maxNanos maximum
 * @param meanNanos mean
 * @param p50Nanos median
 * @param p90Nanos 90th percentile
 * @param p99Nanos 99th percentile
 * @param p999Nanos 99.9th percentile
 */
public record LatencySummary(
        long count,
        long minNanos,
        long maxNanos,
        double meanNanos,
        long p50Nanos,
        long p90Nanos,
        long p99Nanos,
        long p999Nanos) {

    /** Summarizes the operations of all cores by one histogram: percentiles have no mean. */
    static LatencySummary of(List<Histogram> cores) {
        if (cores.size() == 1) {
            return of(cores.getFirst());
        }
        Histogram all = PhaseRun.newLatencies();
        cores.forEach(all::add);
        return of(all);
    }

    static LatencySummary of(Histogram histogram) {
        if (histogram.getTotalCount() == 0) {
            return new LatencySummary(0, 0, 0, 0, 0, 0, 0, 0);
        }
        return new LatencySummary(
                histogram.getTotalCount(),
                histogram.getMinValue(),
                histogram.getMaxValue(),
                histogram.getMean(),
                histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(90),
                histogram.getValueAtPercentile(99),
                histogram.getValueAtPercentile(99.9));
    }
}
