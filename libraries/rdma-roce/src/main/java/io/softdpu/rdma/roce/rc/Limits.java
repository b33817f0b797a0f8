package io.softdpu.rdma.roce.rc;

import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.spi.RnrTimer;

/**
 * Limits of the queue pairs of an adapter.
 *
 * @param windowPackets packets that are sent and not acknowledged, 1 to 2^23 - 1
 * @param windowBytes bytes of payload that are sent, or asked for, and not acknowledged; one packet
 *     is sent whatever its size
 * @param ackBytes an acknowledgement is requested after this many bytes at the latest
 * @param atomicResults results of atomic operations that are kept for repeats, at least 16
 * @param maxPieces limit of the pieces of a payload: of elements of a local list
 * @param idleNanos a connection that has received nothing for this time asks whether its peer is
 *     there
 * @param rnrTimer time after which a peer is to repeat a message that has found no receive
 */
public record Limits(
        int windowPackets,
        long windowBytes,
        int ackBytes,
        int atomicResults,
        int maxPieces,
        long idleNanos,
        RnrTimer rnrTimer) {
    private static final int MIN_ATOMIC_RESULTS = 16;

    /** Limits for ordinary use. */
    public static Limits defaults(int maxPieces) {
        return new Limits(
                1024,
                1 << 20,
                64 << 10,
                MIN_ATOMIC_RESULTS,
                maxPieces,
                2_000_000_000,
                RnrTimer.atLeast(1_280_000));
    }

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException if a value is outside of its limits
     */
    public Limits {
        require("windowPackets", windowPackets, 1, SequenceNumber.MAX_WINDOW - 1);
        require("windowBytes", windowBytes, 1, Long.MAX_VALUE);
        require("ackBytes", ackBytes, 1, Integer.MAX_VALUE);
        require("atomicResults", atomicResults, MIN_ATOMIC_RESULTS, 1 << 16);
        require("maxPieces", maxPieces, 1, 1 << 16);
        require("idleNanos", idleNanos, 1, Long.MAX_VALUE / 2);
    }

    private static void require(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    "limit of queue pairs: "
                            + name
                            + "="
                            + value
                            + ", expected="
                            + least
                            + " to "
                            + most);
        }
    }
}
