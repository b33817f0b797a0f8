package io.softdpu.perf.pair;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * Percentiles and maximum of latencies.
 *
 * @param p50Nanos the median
 * @param p99Nanos the 99th percentile
 * @param p999Nanos the 99.9th percentile
 * @param maxNanos the longest
 */
public record Percentiles(long p50Nanos, long p99Nanos, long p999Nanos, long maxNanos) {
    /** Puts them into an object as {@code p50_ns} to {@code max_ns}; nulls without any. */
    public static ObjectNode put(ObjectNode node, @Nullable Percentiles percentiles) {
        return node.put("p50_ns", percentiles == null ? null : (Long) percentiles.p50Nanos)
                .put("p99_ns", percentiles == null ? null : (Long) percentiles.p99Nanos)
                .put("p999_ns", percentiles == null ? null : (Long) percentiles.p999Nanos)
                .put("max_ns", percentiles == null ? null : (Long) percentiles.maxNanos);
    }
}
