package io.softdpu.rdma.roce.rc;

/**
 * Time after which packets without an answer are repeated. It follows the measured round trips,
 * their mean and their variation, and doubles with each repeat, up to the timeout of the
 * connection. (Section 9.7.6.1.3 has a fixed timeout; this is the usual estimator of RFC 6298.)
 *
 * <p>The answer to a packet that was repeated measures nothing: it may be that to the first packet,
 * or to a repeat (Karn). So a path that has become slower than the time would never be measured.
 * After some such answers in a row the time stays long until one is measured, or lost. It does not
 * after each, as in RFC 6298: where many packets get lost, connections would not progress in time.
 *
 * <p>The least time is well above the round trips of a machine, since a peer is a process: it may
 * wait for a processor.
 */
final class RoundTrip {
    private static final long LEAST_NANOS = 4_000_000;
    private static final long FIRST_NANOS = 100_000_000;
    private static final int MAX_DOUBLINGS = 30;

    /** Answers to repeated packets, and no others between, after which the time stays long. */
    private static final int UNMEASURED_ANSWERS = 8;

    private long limitNanos;
    private boolean measured;
    private long meanNanos;
    private long variationNanos;
    private int doublings;

    /** Whether packets were repeated since the last answer. */
    private boolean repeated;

    private int unmeasuredAnswers;

    /** Whether the time stays long. */
    private boolean patient;

    /** Begins with a connection. */
    void start(long timeoutNanos) {
        limitNanos = timeoutNanos;
        measured = false;
        doublings = 0;
        repeated = false;
        unmeasuredAnswers = 0;
        patient = false;
    }

    /** Takes a measured round trip of a packet that was sent once. */
    void measure(long nanos) {
        repeated = false;
        unmeasuredAnswers = 0;
        patient = false;
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
        repeated = true;
        patient = false;
        lengthen();
    }

    private void lengthen() {
        doublings = Math.min(doublings + 1, MAX_DOUBLINGS);
    }

    /** The peer has answered. */
    void answered() {
        if (repeated) {
            repeated = false;
            unmeasuredAnswers++;
            patient = unmeasuredAnswers == UNMEASURED_ANSWERS;
            if (patient) {
                unmeasuredAnswers = 0;
                lengthen(); // longer than all times since the first packet
            }
        }
        if (!patient) {
            doublings = 0;
        }
    }

    /** The time until the next repeat. */
    long timeoutNanos() {
        long nanos = measured ? Math.max(LEAST_NANOS, meanNanos + 4 * variationNanos) : FIRST_NANOS;
        return nanos >= limitNanos >> doublings ? limitNanos : nanos << doublings;
    }
}
