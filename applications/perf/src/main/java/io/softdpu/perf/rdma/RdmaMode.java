package io.softdpu.perf.rdma;

import io.softdpu.perf.text.Word;

/** Kind of measurement of RDMA. */
public enum RdmaMode implements Word {
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

    /** Default size of an operation in bytes. */
    int defaultSizeBytes() {
        return defaultSizeBytes;
    }
}
