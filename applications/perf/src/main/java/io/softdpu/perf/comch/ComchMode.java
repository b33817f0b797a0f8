package io.softdpu.perf.comch;

import io.softdpu.perf.text.Word;

/** Kind of measurement. */
public enum ComchMode implements Word {
    /** One message at a time goes there and back. */
    LATENCY(64),
    /** Many small messages go one way. */
    RATE(32),
    /** Large messages go one way. */
    BANDWIDTH(1 << 20),
    /** One message of the basic path at a time goes there and back. */
    CONTROL(64),
    /** Connections without messages. */
    IDLE(0);

    private final int defaultSizeBytes;

    ComchMode(int defaultSizeBytes) {
        this.defaultSizeBytes = defaultSizeBytes;
    }

    /** Default size of a message in bytes; 0 without messages. */
    public int defaultSizeBytes() {
        return defaultSizeBytes;
    }

    /** Whether there are no messages but those of the basic path. */
    boolean isBasic() {
        return this == CONTROL || this == IDLE;
    }

    /** Whether round trips are measured, of one message at a time. */
    boolean isRoundTrip() {
        return this == LATENCY || this == CONTROL;
    }

    /** Whether messages in one direction are measured, with full queues. */
    boolean isOneWay() {
        return this == RATE || this == BANDWIDTH;
    }
}
