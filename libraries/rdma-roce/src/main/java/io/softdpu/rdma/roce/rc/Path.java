package io.softdpu.rdma.roce.rc;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.SequenceNumber;

/**
 * Terms that the two ends of a connection have agreed on, as one of them sees it.
 *
 * @param peer address of the peer's adapter
 * @param peerQueuePair number of the peer's queue pair, 24 bits
 * @param sendPsn number of the first request packet of this end, 24 bits
 * @param receivePsn number of the first request packet of the peer, 24 bits
 * @param mtuBytes largest payload of a packet: 256, 512, 1024, 2048 or 4096
 * @param peerIdentifications the IPv4 identifications of the peer's packets are below this number:
 *     1 to 65,536
 * @param responderResources reads and atomic operations of the peer that this end answers at a
 *     time, 0 to 255
 * @param initiatorDepth those of this end that the peer answers at a time, 0 to 255
 * @param transportRetries number of times that a timeout may pass without progress, 0 to 7
 * @param timeoutNanos longest time after which packets are repeated; the connection fails after
 *     (transportRetries + 1) times this without progress
 * @param rnrRetries limit of the wait for a receive of the peer: 0 to 6 times {@link
 *     Attachment#rnrTimer}; 7 for no limit
 */
public record Path(
        Gid peer,
        int peerQueuePair,
        int sendPsn,
        int receivePsn,
        int mtuBytes,
        int peerIdentifications,
        int responderResources,
        int initiatorDepth,
        int transportRetries,
        long timeoutNanos,
        int rnrRetries) {
    /** Timeout of a connection by default: code 17 of the specification, 4.096 µs times 2^17. */
    public static final long DEFAULT_TIMEOUT_NANOS = 4096L << 17;

    /** Retries of a connection by default. */
    public static final int DEFAULT_TRANSPORT_RETRIES = 7;

    /** Every identification. */
    public static final int ANY_IDENTIFICATION = 1 << 16;

    /** Number of retries without a limit. */
    static final int UNLIMITED_RNR_RETRIES = 7;

    private static final int MIN_MTU_BYTES = 256;
    private static final int MAX_RESOURCES = 255;
    private static final int MAX_RETRIES = 7;

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException if a value is outside of its limits
     */
    public Path {
        require("peerQueuePair", peerQueuePair, 0, SequenceNumber.MAX);
        require("sendPsn", sendPsn, 0, SequenceNumber.MAX);
        require("receivePsn", receivePsn, 0, SequenceNumber.MAX);
        require("mtuBytes", mtuBytes, MIN_MTU_BYTES, Headers.MAX_PAYLOAD_BYTES);
        require("bits of mtuBytes", Integer.bitCount(mtuBytes), 1, 1);
        require("peerIdentifications", peerIdentifications, 1, ANY_IDENTIFICATION);
        require("responderResources", responderResources, 0, MAX_RESOURCES);
        require("initiatorDepth", initiatorDepth, 0, MAX_RESOURCES);
        require("transportRetries", transportRetries, 0, MAX_RETRIES);
        require("timeoutNanos", timeoutNanos, 1, Long.MAX_VALUE / (MAX_RETRIES + 1));
        require("rnrRetries", rnrRetries, 0, UNLIMITED_RNR_RETRIES);
    }

    private static void require(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    "value of a path: "
                            + name
                            + "="
                            + value
                            + ", expected="
                            + least
                            + " to "
                            + most);
        }
    }

    /** Time without progress after which the connection fails. */
    long patienceNanos() {
        return (transportRetries + 1) * timeoutNanos;
    }
}
