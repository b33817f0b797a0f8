package io.softdpu.cli.perf;

/** What is measured. */
public enum PerfMode {
    /** One message at a time goes there and back. */
    LATENCY(64),
    /** Many small messages go one way. */
    RATE(32),
    /** Large messages go one way. */
    BANDWIDTH(1 << 20);

    private final int defaultSizeBytes;

    PerfMode(int defaultSizeBytes) {
        this.defaultSizeBytes = defaultSizeBytes;
    }

    /** Bytes of a message where nobody asked for a size. */
    public int defaultSizeBytes() {
        return defaultSizeBytes;
    }
}
