package io.softdpu.perf.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.perf.text.SizeText;

/**
 * One measurement.
 *
 * @param mode kind of measurement
 * @param sizeBytes bytes of a message, 1 to {@link #MAX_SIZE_BYTES}
 * @param waiting how both sides wait
 * @param nanos how long, after a warm-up of the same length
 */
public record PerfPlan(PerfMode mode, long sizeBytes, PerfWait waiting, long nanos) {
    /** Largest message. */
    public static final long MAX_SIZE_BYTES = 64 << 20;

    /** Memory for the messages of one way. */
    private static final long WINDOW_BYTES = 64 << 20;

    private static final int PING_PONG_BUFFERS = 4;
    private static final int MOST_BUFFERS = 256;

    /** Checks the values: INVALID_VALUE that names the field. */
    public PerfPlan {
        if (sizeBytes < 1 || sizeBytes > MAX_SIZE_BYTES) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "message size is illegal: size=%s, expected=1 to %s"
                            .formatted(
                                    SizeText.format(sizeBytes), SizeText.format(MAX_SIZE_BYTES)));
        }
        if (nanos < 1) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "time is illegal: nanos=" + nanos + ", expected=1 or more");
        }
    }

    /**
     * Buffers that a consumer has posted, and messages of a producer: what one way holds. A
     * ping-pong has one under way, and room for it to be posted again.
     *
     * <p>One way it is as many as bridge the time in which the other end wakes up. That is a matter
     * of how many where they are small, so 256; where they are large it is a matter of how many
     * bytes are still to be copied, so those that {@value #WINDOW_BYTES} bytes hold, but at least
     * two: one is filled while the other is taken.
     */
    int buffers() {
        return mode == PerfMode.LATENCY
                ? PING_PONG_BUFFERS
                : Math.clamp(WINDOW_BYTES / sizeBytes, 2, MOST_BUFFERS);
    }

    /**
     * Whether messages begin with the moment at which they were sent: one way, if there is room.
     */
    boolean isStamped() {
        return mode != PerfMode.LATENCY && sizeBytes >= Long.BYTES;
    }
}
