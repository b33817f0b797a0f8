package io.softdpu.perf.block;

/**
 * Figures that only the run of a block device has.
 *
 * @param method how the device executes its requests
 * @param description of the device
 * @param p90Nanos the 90th percentile of the latency
 */
public record BlockFigures(String method, String description, long p90Nanos) {}
