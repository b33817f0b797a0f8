package io.softdpu.rdma.roce.cm;

/**
 * Limits and times of connection management.
 *
 * @param maxRequests limit of requests of peers at a time: those that wait for the program, and
 *     those that it has rejected, as long as their peers may repeat them. An address may have as
 *     many that wait as there are places left for others.
 * @param maxConnections limit of connections at a time, those in TIMEWAIT excepted; the adapter has
 *     more places for queue pairs, since each is kept until the end of its TIMEWAIT
 * @param firstRepeatNanos time after which a message without an answer is repeated; doubles per
 *     repeat
 * @param lastRepeatNanos limit of that time; stated to peers as the period of this side's messages
 * @param requestWaitNanos limit of the time for which a request is kept that is not repeated,
 *     whatever period its sender states
 * @param disconnectNanos time for which a DREQ is repeated
 * @param timeWaitNanos duration of TIMEWAIT
 */
public record CmLimits(
        int maxRequests,
        int maxConnections,
        long firstRepeatNanos,
        long lastRepeatNanos,
        long requestWaitNanos,
        long disconnectNanos,
        long timeWaitNanos) {
    /**
     * Checks that each limit is positive, and that the times of repeats are in order.
     *
     * @throws IllegalArgumentException if one is not
     */
    public CmLimits {
        boolean counts = maxRequests > 0 && maxConnections > 0;
        boolean repeats = firstRepeatNanos > 0 && lastRepeatNanos >= firstRepeatNanos;
        if (!counts
                || !repeats
                || requestWaitNanos <= 0
                || disconnectNanos <= 0
                || timeWaitNanos <= 0) {
            throw new IllegalArgumentException(
                    "limits of connection management are out of order: maxRequests="
                            + maxRequests
                            + ", maxConnections="
                            + maxConnections
                            + ", firstRepeatNanos="
                            + firstRepeatNanos
                            + ", lastRepeatNanos="
                            + lastRepeatNanos
                            + ", requestWaitNanos="
                            + requestWaitNanos
                            + ", disconnectNanos="
                            + disconnectNanos
                            + ", timeWaitNanos="
                            + timeWaitNanos
                            + ", expected=all positive, firstRepeatNanos <= lastRepeatNanos");
        }
    }
}
