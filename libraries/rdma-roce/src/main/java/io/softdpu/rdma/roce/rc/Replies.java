package io.softdpu.rdma.roce.rc;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.roce.wire.Syndrome;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Answers of a responder that wait for their transmission, in the order of the requests. An
 * acknowledgement replaces one right before it, which it includes; an answer to a read is read from
 * memory packet by packet, when it is transmitted. So the number of answers is limited by that of
 * reads and atomic operations.
 *
 * <p>Allocates nothing after its construction.
 */
final class Replies {
    private enum Kind {
        /** An acknowledgement, or a negative one. */
        ACKNOWLEDGEMENT,
        /** The result of an atomic operation. */
        ATOMIC,
        /** Data of a read. */
        READ
    }

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final PeerMemory memory;
    private final int mtuBytes;
    private final int maxAnswers;
    private final Kind[] kinds;
    private final int[] psns; // of the next packet
    private final int[] syndromes;
    private final int[] msns;
    private final int[] packets; // of a read, with those that were sent
    private final int[] sent;
    private final long[] addresses; // of the next byte; of an atomic operation its result
    private final long[] bytesLeft;
    private final int[] keys;
    private final boolean[] repeats;
    private final int mask;
    private int first;
    private int count;
    private int answers;

    /**
     * No answers.
     *
     * @param maxAnswers limit of answers to reads and atomic operations
     */
    Replies(PeerMemory memory, int mtuBytes, int maxAnswers) {
        this.memory = memory;
        this.mtuBytes = mtuBytes;
        this.maxAnswers = maxAnswers;
        // Between two answers is at most one acknowledgement; and one is before and behind them.
        int size = Integer.highestOneBit(2 * maxAnswers + 1) << 1;
        mask = size - 1;
        kinds = new Kind[size];
        psns = new int[size];
        syndromes = new int[size];
        msns = new int[size];
        packets = new int[size];
        sent = new int[size];
        addresses = new long[size];
        bytesLeft = new long[size];
        keys = new int[size];
        repeats = new boolean[size];
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

    /** Acknowledges all up to a PSN, positively or negatively. */
    void acknowledge(int psn, int syndrome, int msn) {
        if (isAcknowledgementLast()) {
            count--;
        }
        int place = append(Kind.ACKNOWLEDGEMENT, psn, msn);
        syndromes[place] = syndrome;
    }

    /** Acknowledges again, unless the last answer does so already. */
    void acknowledgeAgain(int psn, int msn) {
        if (!isAcknowledgementLast()) {
            acknowledge(psn, Syndrome.ACKNOWLEDGED, msn);
        }
    }

    private boolean isAcknowledgementLast() {
        return count > 0 && kinds[first + count - 1 & mask] == Kind.ACKNOWLEDGEMENT;
    }

    /** Answers an atomic operation; not while {@link #isFull}. */
    void atomic(int psn, long before, int msn) {
        answers++;
        addresses[append(Kind.ATOMIC, psn, msn)] = before;
    }

    /** Answers an atomic operation again, unless its answer waits, or there are too many. */
    void atomicAgain(int psn, long before, int msn) {
        for (int i = 0; i < count; i++) {
            int place = first + i & mask;
            if (kinds[place] == Kind.ATOMIC && psns[place] == psn) {
                return;
            }
        }
        if (!isFull()) {
            atomic(psn, before, msn);
        }
    }

    /**
     * Answers a read; not while {@link #isFull}.
     *
     * @param number of packets
     */
    void read(int psn, int number, int key, long address, long bytes, int msn) {
        answers++;
        int place = append(Kind.READ, psn, msn);
        begin(place, psn, number, key, address, bytes);
        repeats[place] = false;
    }

    private void begin(int place, int psn, int number, int key, long address, long bytes) {
        psns[place] = psn;
        packets[place] = number;
        sent[place] = 0;
        keys[place] = key;
        addresses[place] = address;
        bytesLeft[place] = bytes;
    }

    /**
     * Answers a read again, from the byte that is asked for. An answer that still comes to it stays
     * as it is, one that is past it begins again: however often a read is repeated, one answer at a
     * time is under way.
     */
    void readAgain(int psn, int number, int key, long address, long bytes, int msn) {
        for (int i = 0; i < count; i++) {
            int place = first + i & mask;
            if (kinds[place] == Kind.READ) {
                int begin = SequenceNumber.add(psns[place], -sent[place]);
                if (SequenceNumber.isInWindow(psn, begin, packets[place])) {
                    if (SequenceNumber.isBefore(psn, psns[place])) {
                        begin(place, psn, number, key, address, bytes);
                        repeats[place] = true;
                    }
                    return;
                }
            }
        }
        if (!isFull()) {
            read(psn, number, key, address, bytes, msn);
            repeats[first + count - 1 & mask] = true;
        }
    }

    private int append(Kind kind, int psn, int msn) {
        int place = first + count & mask;
        count++;
        kinds[place] = kind;
        psns[place] = psn;
        msns[place] = msn;
        return place;
    }

    private void removeFirst() {
        if (kinds[first] != Kind.ACKNOWLEDGEMENT) {
            answers--;
        }
        first = first + 1 & mask;
        count--;
    }

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
        return psns[first];
    }

    /** Writes the next packet, if there is one. */
    Outcome next(OutgoingPacket packet, Path path, int sourcePort) {
        int place = first;
        return switch (kinds[place]) {
            case ACKNOWLEDGEMENT -> {
                begin(packet, path, sourcePort, Opcode.ACKNOWLEDGE, psns[place], 0);
                writeAeth(packet, syndromes[place], msns[place]);
                removeFirst();
                yield Outcome.PACKET;
            }
            case ATOMIC -> {
                begin(packet, path, sourcePort, Opcode.ATOMIC_ACKNOWLEDGE, psns[place], 0);
                writeAeth(packet, Syndrome.ACKNOWLEDGED, msns[place]);
                Headers.writeAtomicAckEth(
                        packet.headers(),
                        Opcode.ATOMIC_ACKNOWLEDGE.offset(ExtensionHeader.ATOMIC_ACK_ETH),
                        addresses[place]);
                removeFirst();
                yield Outcome.PACKET;
            }
            case READ -> nextOfRead(place, packet, path, sourcePort);
        };
    }

    private Outcome nextOfRead(int place, OutgoingPacket packet, Path path, int sourcePort) {
        int bytes = (int) Math.min(mtuBytes, bytesLeft[place]);
        GrantedMemory granted = null;
        if (bytes > 0) {
            granted = memory.find(keys[place], addresses[place], bytes, AccessFlag.RDMA_READ);
            if (granted == null) {
                if (!repeats[place]) {
                    return Outcome.WITHDRAWN;
                }
                removeFirst();
                return Outcome.NOTHING;
            }
        }
        Opcode opcode = opcodeOfRead(place);
        begin(packet, path, sourcePort, opcode, psns[place], bytes);
        if (opcode.has(ExtensionHeader.AETH)) {
            writeAeth(packet, Syndrome.ACKNOWLEDGED, msns[place]);
        }
        if (granted != null) {
            add(packet, granted.memory(), addresses[place] - granted.address(), bytes);
        }
        psns[place] = SequenceNumber.next(psns[place]);
        addresses[place] += bytes;
        bytesLeft[place] -= bytes;
        sent[place]++;
        if (sent[place] == packets[place]) {
            removeFirst();
        }
        return Outcome.PACKET;
    }

    private Opcode opcodeOfRead(int place) {
        if (packets[place] == 1) {
            return Opcode.READ_RESPONSE_ONLY;
        }
        if (sent[place] == 0) {
            return Opcode.READ_RESPONSE_FIRST;
        }
        return sent[place] == packets[place] - 1
                ? Opcode.READ_RESPONSE_LAST
                : Opcode.READ_RESPONSE_MIDDLE;
    }

    /** Eight bytes at a multiple of eight are loaded at once: the sink may copy them in pieces. */
    private static void add(OutgoingPacket packet, MemorySegment from, long offset, int bytes) {
        if (bytes == Long.BYTES && Words.isAligned(from, offset)) {
            packet.addWord((long) LONG.getAcquire(from, offset));
        } else {
            packet.add(from, offset, bytes);
        }
    }

    private static void begin(
            OutgoingPacket packet, Path path, int sourcePort, Opcode opcode, int psn, int bytes) {
        packet.begin(path.peer(), sourcePort, opcode, path.peerQueuePair(), false, psn, bytes);
    }

    private static void writeAeth(OutgoingPacket packet, int syndrome, int msn) {
        Headers.writeAeth(
                packet.headers(), packet.opcode().offset(ExtensionHeader.AETH), syndrome, msn);
    }
}
