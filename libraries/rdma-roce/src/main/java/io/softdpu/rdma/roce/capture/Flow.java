package io.softdpu.rdma.roce.capture;

import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.roce.wire.Syndrome;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection: the packets for one queue pair, and which sequence numbers are
 * expected next. A read reserves a number per packet of its data, which depends on the path MTU:
 * until a packet has shown it, each number that some MTU gives is taken as expected.
 */
public final class Flow {
    private static final int MIN_MTU_BYTES = 256;

    /** Path MTUs from 256 bytes on, each twice the one before. */
    private static final int MTUS = 5;

    private final String from;
    private final String to;
    private final int queuePair;
    private @Nullable Flow reverse;

    private boolean hasRequests;
    private int firstRequest;
    private int nextRequest;
    private final int[] reserved = new int[MTUS]; // behind nextRequest, by reads
    private int mtu = -1; // index, once a packet has shown it
    private boolean hasAnswers;
    private int lastAnswer;

    private long packets;
    private long payloadBytes;
    private long retransmissions;
    private long duplicates;
    private long gaps;
    private long negativeAcknowledgements;
    private long notReady;

    Flow(String from, String to, int queuePair) {
        this.from = from;
        this.to = to;
        this.queuePair = queuePair;
    }

    /** Takes the number of the first request from connection management. */
    void startAt(int psn) {
        hasRequests = true;
        firstRequest = psn;
        nextRequest = psn;
    }

    /** Makes this and another flow the two directions of a connection. */
    void join(Flow other) {
        reverse = other;
        other.reverse = this;
        showMtu(other.mtu);
        other.showMtu(mtu);
    }

    private void showMtu(int shown) {
        mtu = shown < 0 ? mtu : shown;
    }

    /** Whether an answer with that number may be one to requests of this flow. */
    boolean mayHaveRequested(int psn) {
        return hasRequests
                && SequenceNumber.distance(firstRequest, psn) >= 0
                && SequenceNumber.distance(psn, highestNext()) >= 0;
    }

    /** Counts a packet with a right ICRC, and compares it with those before. */
    @Nullable Note add(Packet packet) {
        packets++;
        payloadBytes += packet.payloadBytes();
        Note note =
                switch (packet.opcode().role()) {
                    case REQUEST -> addRequest(packet);
                    case RESPONSE -> addAnswer(packet);
                    case DATAGRAM, NOTIFICATION -> null;
                };
        if (packet.opcode().hasPayload() && !packet.opcode().isLast()) {
            learnMtu(packet.payloadBytes());
        }
        switch (note) {
            case RETRANSMISSION -> retransmissions++;
            case DUPLICATE -> duplicates++;
            case GAP -> gaps++;
            case null -> {} // as expected
        }
        return note;
    }

    private void learnMtu(int bytes) {
        int index = Integer.numberOfTrailingZeros(bytes / MIN_MTU_BYTES);
        boolean isMtu = index < MTUS && bytes == MIN_MTU_BYTES << index;
        if (isMtu) {
            mtu = index;
            if (reverse != null) {
                reverse.mtu = index;
            }
        }
    }

    private @Nullable Note addRequest(Packet packet) {
        int psn = packet.psn();
        if (!hasRequests) {
            startAt(psn);
        }
        if (SequenceNumber.distance(lowestNext(), psn) < 0) {
            return Note.RETRANSMISSION;
        }
        boolean isGap = SequenceNumber.distance(highestNext(), psn) > 0;
        nextRequest = psn;
        for (int i = 0; i < MTUS; i++) {
            reserved[i] = 0;
        }
        if (packet.opcode() == Opcode.READ_REQUEST) {
            for (int i = 0; i < MTUS; i++) {
                long mtuBytes = (long) MIN_MTU_BYTES << i;
                long count = (packet.lengthBytes() + mtuBytes - 1) / mtuBytes;
                reserved[i] = Math.clamp(count, 1, SequenceNumber.MAX_WINDOW - 1);
            }
        } else {
            nextRequest = SequenceNumber.next(psn);
        }
        return isGap ? Note.GAP : null;
    }

    private int lowestNext() {
        return SequenceNumber.add(nextRequest, reserved[mtu < 0 ? MTUS - 1 : mtu]);
    }

    private int highestNext() {
        return SequenceNumber.add(nextRequest, reserved[mtu < 0 ? 0 : mtu]);
    }

    private @Nullable Note addAnswer(Packet packet) {
        if (packet.opcode().has(ExtensionHeader.AETH)) {
            if (Syndrome.isNegative(packet.syndrome())) {
                negativeAcknowledgements++;
                return null;
            }
            if (Syndrome.isReceiverNotReady(packet.syndrome())) {
                notReady++;
                return null;
            }
        }
        int psn = packet.psn();
        int steps = SequenceNumber.distance(lastAnswer, psn);
        if (hasAnswers && steps <= 0) {
            return Note.DUPLICATE;
        }
        boolean continues = !packet.opcode().isFirst();
        boolean isGap = hasAnswers && continues && steps > 1;
        hasAnswers = true;
        lastAnswer = psn;
        return isGap ? Note.GAP : null;
    }

    /** The sender's address. */
    public String from() {
        return from;
    }

    /** The receiver's address. */
    public String to() {
        return to;
    }

    /** Number of the receiver's queue pair. */
    public int queuePair() {
        return queuePair;
    }

    /** The other direction; null if the capture does not show which it is. */
    public @Nullable Flow reverse() {
        return reverse;
    }

    /** Number of packets with a right ICRC. */
    public long packets() {
        return packets;
    }

    /** Their payload, without padding. */
    public long payloadBytes() {
        return payloadBytes;
    }

    /** How often {@link Note#RETRANSMISSION} was noted. */
    public long retransmissions() {
        return retransmissions;
    }

    /** How often {@link Note#DUPLICATE} was noted. */
    public long duplicates() {
        return duplicates;
    }

    /** How often {@link Note#GAP} was noted. */
    public long gaps() {
        return gaps;
    }

    /** Number of negative acknowledgements. */
    public long negativeAcknowledgements() {
        return negativeAcknowledgements;
    }

    /** Number of acknowledgements that say that there was no receive. */
    public long notReady() {
        return notReady;
    }
}
