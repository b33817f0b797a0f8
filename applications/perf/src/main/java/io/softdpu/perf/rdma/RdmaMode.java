package io.softdpu.perf.rdma;

import java.util.Locale;

/** Kind of measurement of RDMA. */
public enum RdmaMode {
    /** One operation at a time. */
    LATENCY(64),
    /** Many small operations, a window of them in flight. */
    RATE(32),
    /** Large operations, a window of them in flight. */
    BANDWIDTH(1 << 20);

    private final int defaultSizeBytes;

    RdmaMode(int defaultSizeBytes) {
        this.defaultSizeBytes = defaultSizeBytes;
    }

    /** The name on command lines and in results. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Default size of an operation in bytes. */
    int defaultSizeBytes() {
        return defaultSizeBytes;
    }
}
