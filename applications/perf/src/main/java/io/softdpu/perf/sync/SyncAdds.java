package io.softdpu.perf.sync;

/**
 * Additions of 1 to one event by both processes at once.
 *
 * @param host number of those of the host
 * @param hostNanos the time that these took
 * @param dpu number of those of the DPU
 * @param dpuNanos the time that these took
 * @param value of the event, which was 0 before: their sum
 */
public record SyncAdds(long host, long hostNanos, long dpu, long dpuNanos, long value) {
    /** Additions of the host per second. */
    public double hostPerSecond() {
        return host / (hostNanos / 1e9);
    }

    /** Additions of the DPU per second. */
    public double dpuPerSecond() {
        return dpu / (dpuNanos / 1e9);
    }
}
