package io.softdpu.rdma.roce.rc;

/**
 * Time after which packets without an answer are repeated. It follows the measured round trips,
 * their mean and their variation, and doubles with each repeat, up to the timeout of the
 * connection. (Section 9.7.6.1.3 has a fixed timeout; this is the usual estimator of RFC 6298.)
 *
 * <p>The least time is well above the round trips of a machine, since a peer is a process: it may
 * wait for a processor.
 */
final class RoundTrip {
    private static final long LEAST_NANOS = 4_000_000;
    private static final long FIRST_NANOS = 100_000_000;
    private static final int MAX_DOUBLINGS = 30;

    private long limitNanos;
    private boolean measured;
    private long meanNanos;
    private long variationNanos;
    private int doublings;

    /** Begins with a connection. */
    void start(long timeoutNanos) {
        limitNanos = timeoutNanos;
        measured = false;
        doublings = 0;
    }

    /** Takes a measured round trip of a packet that was sent once. */
    void measure(long nanos) {
        if (measured) {
            variationNanos += (Math.abs(meanNanos - nanos) - variationNanos) / 4;
            meanNanos += (nanos - meanNanos) / 8;
        } else {
            measured = true;
            meanNanos = nanos;
            variationNanos = nanos / 2;
        }
    }

    /** Packets are repeated: the next time is twice as long. */
    void repeated() {
        doublings = Math.min(doublings + 1, MAX_DOUBLINGS);
    }

    /** The peer has answered. */
    void answered() {
        doublings = 0;
    }

    /** The time until the next repeat. */
    long timeoutNanos() {
        long nanos = measured ? Math.max(LEAST_NANOS, meanNanos + 4 * variationNanos) : FIRST_NANOS;
        return nanos >= limitNanos >> doublings ? limitNanos : nanos << doublings;
    }
}
