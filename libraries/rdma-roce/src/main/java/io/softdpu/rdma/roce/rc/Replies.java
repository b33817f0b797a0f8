package io.softdpu.rdma.roce.rc;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.spi.memory.GrantedMemory;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.roce.wire.Syndrome;
import java.lang.foreign.MemorySegment;

/**
 * Answers of a responder that wait for their transmission, in the order of their PSNs. An
 * acknowledgement replaces one right before it, which it includes; an answer to a read is read from
 * memory packet by packet, when it is transmitted. So the number of answers is limited by that of
 * reads and atomic operations.
 *
 * <p>An answer that is repeated comes before those to later requests: a sender drops these until it
 * has the earlier one.
 *
 * <p>Allocates nothing after its construction.
 */
final class Replies {
    /** Answers that may wait, as a multiple of those that a peer may ask for: repeats come too. */
    private static final int ANSWERS_PER_RESOURCE = 2;

    private enum Kind {
        /** An acknowledgement, or a negative one. */
        ACKNOWLEDGEMENT,
        /** The result of an atomic operation. */
        ATOMIC,
        /** Data of a read. */
        READ
    }

    /** One answer; used again for later ones. */
    private static final class Reply {
        Kind kind = Kind.ACKNOWLEDGEMENT;

        /** Of the next packet. */
        int psn;

        int msn;

        // Of an acknowledgement.
        int syndrome;

        // Of an atomic operation.
        long valueBefore;

        // Of a read.
        int key;
        int packetsSent;
        int packetsLeft;

        /** Of the next byte. */
        long address;

        long bytesLeft;
        boolean repeated;

        void read(int nextPsn, int packets, int ofKey, long from, long bytes, boolean again) {
            psn = nextPsn;
            packetsSent = 0;
            packetsLeft = packets;
            key = ofKey;
            address = from;
            bytesLeft = bytes;
            repeated = again;
        }

        /** Whether it answers a read, and the PSN is that of one of its packets. */
        boolean isReadOf(int anyPsn) {
            return kind == Kind.READ
                    && SequenceNumber.isInWindow(
                            anyPsn,
                            SequenceNumber.add(psn, -packetsSent),
                            packetsSent + packetsLeft);
        }

        Opcode opcodeOfRead() {
            if (packetsLeft == 1) {
                return packetsSent == 0 ? Opcode.READ_RESPONSE_ONLY : Opcode.READ_RESPONSE_LAST;
            }
            return packetsSent == 0 ? Opcode.READ_RESPONSE_FIRST : Opcode.READ_RESPONSE_MIDDLE;
        }
    }

    private final PeerMemory memory;
    private final Path path;
    private final int sourcePort;
    private final int maxAnswers;
    private final Reply[] ring;
    private final int mask;
    private int first;
    private int count;
    private int answers;

    /** No answers yet. */
    Replies(PeerMemory memory, Path path, int sourcePort) {
        this.memory = memory;
        this.path = path;
        this.sourcePort = sourcePort;
        maxAnswers = ANSWERS_PER_RESOURCE * path.responderResources();
        // Between two answers is at most one acknowledgement; and one is before and behind them.
        int size = Integer.highestOneBit(2 * maxAnswers + 1) << 1;
        mask = size - 1;
        ring = new Reply[size];
        for (int i = 0; i < size; i++) {
            ring[i] = new Reply();
        }
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Whether no answer to a read or an atomic operation can be added. */
    boolean isFull() {
        return answers == maxAnswers;
    }

    void clear() {
        count = 0;
        answers = 0;
    }

    /**
     * Forgets the answer to a read, and all behind it: a peer takes none of these before it has the
     * data.
     */
    void keepUpToRead() {
        int kept = 0;
        int keptAnswers = 0;
        while (kept < count && at(kept).kind != Kind.READ) {
            if (at(kept).kind == Kind.ATOMIC) {
                keptAnswers++;
            }
            kept++;
        }
        count = kept;
        answers = keptAnswers;
    }

    private Reply at(int index) {
        return ring[first + index & mask];
    }

    private void put(int index, Reply reply) {
        ring[first + index & mask] = reply;
    }

    private Reply append(Kind kind, int psn, int msn) {
        Reply reply = at(count);
        reply.kind = kind;
        reply.psn = psn;
        reply.msn = msn;
        count++;
        return reply;
    }

    /** Adds an answer before those with a later PSN. */
    private Reply insert(Kind kind, int psn, int msn) {
        Reply reply = append(kind, psn, msn);
        int index = count - 1;
        while (index > 0 && SequenceNumber.isBefore(psn, at(index - 1).psn)) {
            put(index, at(index - 1));
            index--;
        }
        put(index, reply);
        return reply;
    }

    // ---- acknowledgements ----

    /** Acknowledges all up to a PSN, positively or negatively. */
    void acknowledge(int psn, int syndrome, int msn) {
        if (isAcknowledgementLast()) {
            count--;
        }
        append(Kind.ACKNOWLEDGEMENT, psn, msn).syndrome = syndrome;
    }

    /** Acknowledges again, unless the last answer does so already. */
    void acknowledgeAgain(int psn, int msn) {
        if (!isAcknowledgementLast()) {
            acknowledge(psn, Syndrome.ACKNOWLEDGED, msn);
        }
    }

    private boolean isAcknowledgementLast() {
        return count > 0 && at(count - 1).kind == Kind.ACKNOWLEDGEMENT;
    }

    // ---- atomic operations ----

    /** Answers an atomic operation; not while {@link #isFull}. */
    void atomic(int psn, long before, int msn) {
        answers++;
        append(Kind.ATOMIC, psn, msn).valueBefore = before;
    }

    /** Answers an atomic operation again, unless its answer waits, or there are too many. */
    void atomicAgain(int psn, long before, int msn) {
        for (int i = 0; i < count; i++) {
            if (at(i).kind == Kind.ATOMIC && at(i).psn == psn) {
                return;
            }
        }
        if (!isFull()) {
            answers++;
            insert(Kind.ATOMIC, psn, msn).valueBefore = before;
        }
    }

    // ---- reads ----

    /**
     * Answers a read; not while {@link #isFull}.
     *
     * @param packets of the whole answer
     */
    void read(int psn, int packets, int key, long address, long bytes, int msn) {
        answers++;
        append(Kind.READ, psn, msn).read(psn, packets, key, address, bytes, false);
    }

    /**
     * Answers a read again, from the byte that is asked for. An answer that still comes to it stays
     * as it is, one that is past it begins again: however often a read is repeated, one answer at a
     * time is under way.
     */
    void readAgain(int psn, int packets, int key, long address, long bytes, int msn) {
        for (int i = 0; i < count; i++) {
            Reply reply = at(i);
            if (reply.isReadOf(psn)) {
                if (SequenceNumber.isBefore(psn, reply.psn)) {
                    reply.read(psn, packets, key, address, bytes, true);
                }
                return;
            }
        }
        if (!isFull()) {
            answers++;
            insert(Kind.READ, psn, msn).read(psn, packets, key, address, bytes, true);
        }
    }

    // ---- packets ----

    /** Outcome of {@link #next}. */
    enum Outcome {
        /** The packet is to be sent. */
        PACKET,
        /** Nothing is to be sent for this answer: to be called again. */
        NOTHING,
        /** The memory of a read was withdrawn, at {@link #firstPsn}: the connection fails. */
        WITHDRAWN
    }

    /** PSN of the next packet. */
    int firstPsn() {
        return at(0).psn;
    }

    /** Writes the next packet, if there is one; not while {@link #isEmpty}. */
    Outcome next(OutgoingPacket packet) {
        Reply reply = at(0);
        return switch (reply.kind) {
            case ACKNOWLEDGEMENT -> {
                begin(packet, Opcode.ACKNOWLEDGE, reply, 0);
                writeAeth(packet, reply.syndrome, reply.msn);
                removeFirst();
                yield Outcome.PACKET;
            }
            case ATOMIC -> {
                begin(packet, Opcode.ATOMIC_ACKNOWLEDGE, reply, 0);
                writeAeth(packet, Syndrome.ACKNOWLEDGED, reply.msn);
                Headers.writeAtomicAckEth(
                        packet.headers(),
                        Opcode.ATOMIC_ACKNOWLEDGE.offset(ExtensionHeader.ATOMIC_ACK_ETH),
                        reply.valueBefore);
                removeFirst();
                yield Outcome.PACKET;
            }
            case READ -> nextOfRead(reply, packet);
        };
    }

    private Outcome nextOfRead(Reply reply, OutgoingPacket packet) {
        int bytes = (int) Math.min(path.mtuBytes(), reply.bytesLeft);
        GrantedMemory granted = null;
        if (bytes > 0) {
            granted = memory.find(reply.key, reply.address, bytes, AccessFlag.RDMA_READ);
            if (granted == null) {
                if (!reply.repeated) {
                    return Outcome.WITHDRAWN;
                }
                removeFirst();
                return Outcome.NOTHING;
            }
        }
        Opcode opcode = reply.opcodeOfRead();
        begin(packet, opcode, reply, bytes);
        if (opcode.has(ExtensionHeader.AETH)) {
            writeAeth(packet, Syndrome.ACKNOWLEDGED, reply.msn);
        }
        if (granted != null) {
            add(packet, granted.memory(), reply.address - granted.address(), bytes);
        }
        reply.psn = SequenceNumber.next(reply.psn);
        reply.address += bytes;
        reply.bytesLeft -= bytes;
        reply.packetsSent++;
        reply.packetsLeft--;
        if (reply.packetsLeft == 0) {
            removeFirst();
        }
        return Outcome.PACKET;
    }

    private void removeFirst() {
        if (at(0).kind != Kind.ACKNOWLEDGEMENT) {
            answers--;
        }
        first = first + 1 & mask;
        count--;
    }

    /** Eight bytes at a multiple of eight are loaded at once: the sink may copy them in pieces. */
    private static void add(OutgoingPacket packet, MemorySegment from, long offset, int bytes) {
        if (bytes == Long.BYTES && Words.isAligned(from, offset)) {
            packet.addWord((long) Words.LONG.getAcquire(from, offset));
        } else {
            packet.add(from, offset, bytes);
        }
    }

    private void begin(OutgoingPacket packet, Opcode opcode, Reply reply, int bytes) {
        packet.begin(
                path.peer(), sourcePort, opcode, path.peerQueuePair(), false, reply.psn, bytes);
    }

    private static void writeAeth(OutgoingPacket packet, int syndrome, int msn) {
        Headers.writeAeth(
                packet.headers(), packet.opcode().offset(ExtensionHeader.AETH), syndrome, msn);
    }
}
