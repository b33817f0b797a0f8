package io.softdpu.perf.pair;

/**
 * Percentiles and maximum of latencies.
 *
 * @param p50Nanos the median
 * @param p99Nanos the 99th percentile
 * @param p999Nanos the 99.9th percentile
 * @param maxNanos the longest
 */
public record Percentiles(long p50Nanos, long p99Nanos, long p999Nanos, long maxNanos) {}
