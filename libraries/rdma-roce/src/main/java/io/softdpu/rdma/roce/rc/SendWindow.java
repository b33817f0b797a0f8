package io.softdpu.rdma.roce.rc;

import io.softdpu.rdma.roce.wire.SequenceNumber;

/**
 * Number of packets that a requester may have in flight, and the size of the parts in which it asks
 * for reads. A receiver drops everything behind a packet that is lost, so a loss costs a whole
 * flight: each loss halves the window, and each eighth packet that is acknowledged adds one. So the
 * window settles at about a quarter of the packets between two losses, and without losses it is
 * that of the {@link Limits}.
 *
 * <p>Parts are powers of two, and end at their multiples. A part that is asked for again must be
 * within one that was asked for before: Linux drops others. So parts become longer only while
 * nothing is to be repeated and all in flight have the present size, and shorter if the requester
 * goes back while shorter ones are in flight.
 *
 * <p>Allocates nothing.
 */
final class SendWindow {
    /** Packets of a window that is never reduced. */
    private static final int LEAST_PACKETS = 8;

    /** Packets that are acknowledged before the window grows by one. */
    private static final int PACKETS_PER_STEP = 8;

    /** Packets behind a loss in which another one is the same: one that was late, not lost. */
    private static final int SAME_LOSS_PACKETS = 3;

    /** Acknowledgements that are asked for in a window, so that the next packets do not wait. */
    private static final int REQUESTS_PER_WINDOW = 4;

    private final Limits limits;
    private int mtuShift;

    /** Limit of a window that is reduced: one of packets of the path MTU. */
    private int reducedLimit;

    private int fullPartPackets;
    private int packets;
    private int requestBytes;
    private int partPackets;
    private boolean reduced;

    /** Packets acknowledged since the last step. */
    private int acknowledged;

    /** Packets acknowledged since the last reduction, while the window is reduced. */
    private int sinceLoss;

    /** Parts of reads before this PSN may have half the present size. */
    private int uniformFromPsn;

    SendWindow(Limits limits) {
        this.limits = limits;
    }

    /** Begins with a connection, at its first PSN. */
    void start(int mtuBytes, int psn) {
        mtuShift = Integer.numberOfTrailingZeros(mtuBytes);
        reducedLimit = (int) Math.min(limits.windowPackets(), limits.windowBytes() >> mtuShift);
        fullPartPackets = Integer.highestOneBit(Math.max(1, reducedLimit / 2));
        packets = limits.windowPackets();
        requestBytes = limits.ackBytes();
        partPackets = fullPartPackets;
        uniformFromPsn = psn;
    }

    /** Limit of the packets in flight. */
    int packets() {
        return packets;
    }

    /** Bytes after which an acknowledgement is requested. */
    int requestBytes() {
        return requestBytes;
    }

    /** Packets of the data that one request of a read asks for: a power of two. */
    int partPackets() {
        return partPackets;
    }

    /** Whether it is smaller than without losses. */
    boolean isReduced() {
        return reduced;
    }

    /**
     * Packets were acknowledged, while it is reduced.
     *
     * @param oldestPsn without an acknowledgement
     * @param nextPsn the next packet's
     * @param fresh whether that was never sent
     */
    void acknowledged(int count, int oldestPsn, int nextPsn, boolean fresh) {
        sinceLoss = Math.min(sinceLoss + count, SAME_LOSS_PACKETS + 1);
        acknowledged += count;
        int grown = packets + acknowledged / PACKETS_PER_STEP;
        acknowledged %= PACKETS_PER_STEP;
        packets = grown >= reducedLimit ? limits.windowPackets() : grown;
        if (!SequenceNumber.isBefore(oldestPsn, uniformFromPsn)) {
            uniformFromPsn = oldestPsn;
            if (fresh && partPackets < longestPart()) {
                partPackets *= 2;
                uniformFromPsn = nextPsn;
            }
        }
        update();
    }

    /** A packet is lost, as an answer tells, or a timeout does. */
    void lost() {
        if (reduced && sinceLoss <= SAME_LOSS_PACKETS) {
            return;
        }
        sinceLoss = 0;
        packets = Math.max(Math.min(packets, LEAST_PACKETS), Math.min(packets, reducedLimit) / 2);
        update();
    }

    /** The requester goes back to a PSN, from which on it sends again. */
    void goneBack(int oldestPsn) {
        if (SequenceNumber.isBefore(oldestPsn, uniformFromPsn)) {
            partPackets = Math.max(1, partPackets / 2);
        }
        uniformFromPsn = oldestPsn;
        partPackets = Math.min(partPackets, longestPart());
        update();
    }

    private int longestPart() {
        return Math.min(fullPartPackets, Integer.highestOneBit(Math.max(1, packets / 2)));
    }

    private void update() {
        reduced = packets < limits.windowPackets() || partPackets < fullPartPackets;
        int requestPackets = Math.max(1, packets / REQUESTS_PER_WINDOW);
        requestBytes =
                packets < limits.windowPackets()
                        ? (int) Math.min(limits.ackBytes(), (long) requestPackets << mtuShift)
                        : limits.ackBytes();
    }
}
