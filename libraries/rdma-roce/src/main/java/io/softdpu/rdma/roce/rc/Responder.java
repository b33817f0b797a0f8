package io.softdpu.rdma.roce.rc;

import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.spi.memory.GrantedMemory;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.roce.wire.Syndrome;
import io.softdpu.rdma.spi.LocalList;
import io.softdpu.rdma.spi.ReceivedOpcode;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Responder of a queue pair: executes the requests of the peer in the order of their PSNs, and
 * answers them (section 9.7.4).
 *
 * <pre>
 *   PSN of a request   it is              and then
 *   = expected         the next one       checked, executed, acknowledged
 *   behind that        after a gap        dropped; one negative acknowledgement per gap
 *   before that        a duplicate        acknowledged or answered again, not executed
 *   half of all away   neither            dropped
 * </pre>
 *
 * <p>Allocates when it is connected, and when the connection fails.
 */
final class Responder {
    /** Kind of the message under way, whose last packet is still to come. */
    private enum Message {
        NONE,
        SEND,
        WRITE
    }

    /** Limit of a message (section 9.7.4.1.6). */
    private static final long MAX_MESSAGE_BYTES = 1L << 31;

    private static final int NOT_FATAL = -1;

    private final QueuePair queuePair;
    private final Attachment attachment;
    private final Limits limits;
    private AtomicResults results;
    private @Nullable Path path;
    private @Nullable Replies replies;
    private int mtuBytes;

    private int expectedPsn;

    /** PSN of the last packet of a send or write that was executed. */
    private int acknowledgedPsn;

    private int msn;

    /** Whether the sender knows that {@link #expectedPsn} is missing. */
    private boolean refused;

    private int fatalSyndrome = NOT_FATAL;

    // The message under way.
    private Message message = Message.NONE;
    private @Nullable WorkRequest receive;
    private long receivedBytes;
    private int writeKey;
    private long writeAddress;
    private long writeBytes;
    private long writeBytesLeft;

    Responder(QueuePair queuePair, Attachment attachment, Limits limits) {
        this.queuePair = queuePair;
        this.attachment = attachment;
        this.limits = limits;
        results = new AtomicResults(limits.atomicResults());
    }

    void connect(Path agreed) {
        path = agreed;
        mtuBytes = agreed.mtuBytes();
        expectedPsn = agreed.receivePsn();
        acknowledgedPsn = SequenceNumber.add(expectedPsn, -1);
        // All that the peer may have outstanding: each may be repeated.
        results = new AtomicResults(Math.max(limits.atomicResults(), agreed.responderResources()));
        replies = new Replies(attachment.memory(), agreed, queuePair.sourcePort());
    }

    // ---- answers ----

    boolean isReady() {
        return replies != null && !replies.isEmpty();
    }

    /**
     * Writes the next packet, while {@link #isReady}.
     *
     * @return whether there is one
     */
    boolean next(OutgoingPacket packet, long nowNanos) {
        Replies waiting = connectedReplies();
        return switch (waiting.next(packet)) {
            case PACKET -> true;
            case NOTHING -> false;
            case WITHDRAWN -> {
                int psn = waiting.firstPsn();
                waiting.clear();
                if (queuePair.isConnected()) {
                    refuseAccess(psn, "opcode=READ_REQUEST", nowNanos);
                }
                yield false;
            }
        };
    }

    private Replies connectedReplies() {
        Replies waiting = replies;
        if (waiting == null) {
            throw new IllegalStateException("no answers of an idle queue pair: " + queuePair);
        }
        return waiting;
    }

    private Path connectedPath() {
        Path agreed = path;
        if (agreed == null) {
            throw new IllegalStateException("no path of an idle queue pair: " + queuePair);
        }
        return agreed;
    }

    // ---- requests ----

    /** Takes a request of the peer. */
    void request(Packet packet, long nowNanos) {
        int psn = packet.psn();
        int ahead = SequenceNumber.distance(expectedPsn, psn);
        if (ahead == 0) {
            execute(packet, psn, nowNanos);
        } else if (ahead > 0) {
            queuePair.counters().increment(ConnectionCounter.DROPPED_BEHIND_GAP);
            if (!refused) {
                refuse(expectedPsn, Syndrome.negative(Syndrome.SEQUENCE_ERROR));
            }
        } else if (ahead > -SequenceNumber.MAX_WINDOW) {
            queuePair.counters().increment(ConnectionCounter.DUPLICATES);
            repeat(packet, psn);
        }
    }

    private void execute(Packet packet, int psn, long nowNanos) {
        Opcode opcode = packet.opcode();
        if (!isInSequence(opcode)) {
            refuseInvalid("opcode=" + opcode + ", message=" + message, nowNanos);
            return;
        }
        if (!isLengthLegal(packet)) {
            refuseInvalid(
                    "opcode="
                            + opcode
                            + ", payloadBytes="
                            + packet.payloadBytes()
                            + ", mtuBytes="
                            + mtuBytes,
                    nowNanos);
            return;
        }
        switch (opcode) {
            case SEND_FIRST,
                    SEND_MIDDLE,
                    SEND_LAST,
                    SEND_LAST_IMMEDIATE,
                    SEND_ONLY,
                    SEND_ONLY_IMMEDIATE ->
                    send(packet, psn, nowNanos);
            case WRITE_FIRST,
                    WRITE_MIDDLE,
                    WRITE_LAST,
                    WRITE_LAST_IMMEDIATE,
                    WRITE_ONLY,
                    WRITE_ONLY_IMMEDIATE ->
                    write(packet, psn, nowNanos);
            case READ_REQUEST -> read(packet, psn, nowNanos);
            case COMPARE_SWAP, FETCH_ADD -> update(packet, psn, nowNanos);
            case SEND_LAST_INVALIDATE, SEND_ONLY_INVALIDATE ->
                    refuseInvalid("opcode=" + opcode, nowNanos);
            case READ_RESPONSE_FIRST,
                    READ_RESPONSE_MIDDLE,
                    READ_RESPONSE_LAST,
                    READ_RESPONSE_ONLY,
                    ACKNOWLEDGE,
                    ATOMIC_ACKNOWLEDGE,
                    DATAGRAM,
                    DATAGRAM_IMMEDIATE,
                    CONGESTION_NOTIFICATION ->
                    throw new IllegalArgumentException("no request: opcode=" + opcode);
        }
    }

    /** Section 9.7.4.1.2: a message is not interrupted by another. */
    private boolean isInSequence(Opcode opcode) {
        return message == (opcode.isFirst() ? Message.NONE : messageOf(opcode));
    }

    private static Message messageOf(Opcode opcode) {
        return switch (opcode) {
            case SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMMEDIATE, SEND_LAST_INVALIDATE ->
                    Message.SEND;
            case WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMMEDIATE -> Message.WRITE;
            default -> Message.NONE;
        };
    }

    /** Section 9.7.4.1.6. */
    private boolean isLengthLegal(Packet packet) {
        int bytes = packet.payloadBytes();
        return switch (packet.opcode().position()) {
            case FIRST, MIDDLE -> bytes == mtuBytes;
            case LAST -> bytes > 0 && bytes <= mtuBytes;
            case ONLY -> bytes <= mtuBytes;
        };
    }

    private void send(Packet packet, int psn, long nowNanos) {
        Opcode opcode = packet.opcode();
        WorkRequest to = receive;
        if (opcode.isFirst()) {
            to = attachment.receives().take();
            if (to == null) {
                refuse(psn, Syndrome.receiverNotReady(limits.rnrTimer().code()));
                return;
            }
            to.local.rewind();
            to.resultOpcode = ReceivedOpcode.SEND;
            receive = to;
            receivedBytes = 0;
            message = Message.SEND;
        }
        if (to == null) {
            throw new IllegalStateException("send without a receive: " + queuePair);
        }
        boolean immediate = opcode.has(ExtensionHeader.IMMEDIATE);
        if (immediate) {
            to.resultOpcode = ReceivedOpcode.SEND_IMMEDIATE;
        }
        int bytes = packet.payloadBytes();
        if (receivedBytes + bytes > to.lengthBytes) {
            // Linux answers so (v4-nak-rem-op-recv-too-small.pcap); cards send invalid request.
            refuseFatally(
                    psn,
                    Syndrome.REMOTE_OPERATIONAL_ERROR,
                    Failure.RECEIVE_TOO_SMALL,
                    "receiveBytes=" + to.lengthBytes,
                    nowNanos);
            return;
        }
        scatter(packet, bytes, to.local);
        receivedBytes += bytes;
        boolean last = opcode.isLast();
        if (last) {
            message = Message.NONE;
            receive = null;
            to.resultLengthBytes = receivedBytes;
            to.immediate = immediate ? packet.immediate() : 0;
        }
        executed(packet, psn, last);
        if (last) {
            attachment.listener().received(queuePair, to, Status.SUCCESS);
        }
    }

    private void scatter(Packet packet, int bytes, LocalList to) {
        long at = packet.payloadAt();
        int left = bytes;
        while (left > 0) {
            int piece = (int) Math.min(left, to.pieceBytes());
            attachment.copier().message(packet.memory(), at, to.piece(), to.pieceOffset(), piece);
            to.advance(piece);
            at += piece;
            left -= piece;
        }
    }

    private void write(Packet packet, int psn, long nowNanos) {
        Opcode opcode = packet.opcode();
        int bytes = packet.payloadBytes();
        boolean first = opcode.isFirst();
        boolean last = opcode.isLast();
        long length = first ? packet.lengthBytes() : writeBytes;
        long left = first ? length : writeBytesLeft;
        if (length > MAX_MESSAGE_BYTES || (last ? bytes != left : bytes >= left)) {
            refuseInvalid(
                    "opcode="
                            + opcode
                            + ", payloadBytes="
                            + bytes
                            + ", lengthBytes="
                            + length
                            + ", bytesLeft="
                            + left,
                    nowNanos);
            return;
        }
        int key = first ? packet.key() : writeKey;
        long address = first ? packet.address() : writeAddress;
        GrantedMemory to = null;
        boolean granted = attachment.grants().has(AccessFlag.RDMA_WRITE);
        if (granted && left > 0) { // a write of 0 bytes needs no key
            to = attachment.memory().find(key, address, left, AccessFlag.RDMA_WRITE);
            granted = to != null;
        }
        if (!granted) {
            refuseAccess(psn, details(opcode, key, address, left), nowNanos);
            return;
        }
        WorkRequest consumed = null;
        if (opcode.has(ExtensionHeader.IMMEDIATE)) {
            consumed = attachment.receives().take();
            if (consumed == null) {
                refuse(psn, Syndrome.receiverNotReady(limits.rnrTimer().code()));
                return;
            }
        }
        if (to != null) {
            store(packet, to, address - to.address(), bytes);
        }
        message = last ? Message.NONE : Message.WRITE;
        writeKey = key;
        writeAddress = address + bytes;
        writeBytes = length;
        writeBytesLeft = left - bytes;
        executed(packet, psn, last);
        if (last && to != null) {
            to.changed();
        }
        if (consumed != null) {
            consumed.resultOpcode = ReceivedOpcode.WRITE_IMMEDIATE;
            consumed.resultLengthBytes = length;
            consumed.immediate = packet.immediate();
            attachment.listener().received(queuePair, consumed, Status.SUCCESS);
        }
    }

    private void store(Packet packet, GrantedMemory to, long offset, int bytes) {
        MemorySegment memory = to.memory();
        if (bytes == Long.BYTES && Words.isAligned(memory, offset)) {
            attachment.copier().storeWord(packet.memory(), packet.payloadAt(), memory, offset);
        } else {
            attachment.copier().payload(packet.memory(), packet.payloadAt(), memory, offset, bytes);
        }
        queuePair.counters().copied(bytes);
    }

    private void read(Packet packet, int psn, long nowNanos) {
        int packets = packetsOfRead(packet);
        if (packets == 0 || connectedPath().responderResources() == 0) {
            refuseInvalid(
                    "opcode=READ_REQUEST, lengthBytes="
                            + packet.lengthBytes()
                            + ", responderResources="
                            + connectedPath().responderResources(),
                    nowNanos);
        } else if (!isReadGranted(packet)) {
            refuseAccess(
                    psn,
                    details(packet.opcode(), packet.key(), packet.address(), packet.lengthBytes()),
                    nowNanos);
        } else if (!connectedReplies().isFull()) { // else as if it were lost
            expectedPsn = SequenceNumber.add(psn, packets);
            refused = false;
            msn = SequenceNumber.next(msn);
            connectedReplies()
                    .read(psn, packets, packet.key(), packet.address(), packet.lengthBytes(), msn);
        }
    }

    private int packetsOf(Packet request) {
        return request.opcode() == Opcode.READ_REQUEST ? Math.max(1, packetsOfRead(request)) : 1;
    }

    /** Number of packets of the answer; 0 if it would not be a legal one. */
    private int packetsOfRead(Packet packet) {
        long bytes = packet.lengthBytes();
        if (bytes > MAX_MESSAGE_BYTES) {
            return 0;
        }
        long packets = Math.max(1, (bytes + mtuBytes - 1) / mtuBytes);
        return packets < SequenceNumber.MAX_WINDOW ? (int) packets : 0;
    }

    private boolean isReadGranted(Packet packet) {
        long bytes = packet.lengthBytes();
        return attachment.grants().has(AccessFlag.RDMA_READ)
                && (bytes == 0
                        || attachment
                                        .memory()
                                        .find(
                                                packet.key(),
                                                packet.address(),
                                                bytes,
                                                AccessFlag.RDMA_READ)
                                != null);
    }

    /** Executes an atomic operation (section 9.4.5), in the byte order of this machine. */
    private void update(Packet packet, int psn, long nowNanos) {
        Opcode opcode = packet.opcode();
        long address = packet.address();
        if ((address & (Long.BYTES - 1)) != 0 || connectedPath().responderResources() == 0) {
            refuseInvalid(
                    "opcode="
                            + opcode
                            + ", address="
                            + Long.toHexString(address)
                            + ", responderResources="
                            + connectedPath().responderResources(),
                    nowNanos);
            return;
        }
        GrantedMemory to =
                attachment.grants().has(AccessFlag.RDMA_ATOMIC)
                        ? attachment
                                .memory()
                                .find(packet.key(), address, Long.BYTES, AccessFlag.RDMA_ATOMIC)
                        : null;
        if (to == null) {
            refuseAccess(psn, details(opcode, packet.key(), address, Long.BYTES), nowNanos);
            return;
        }
        if (connectedReplies().isFull()) { // as if it were lost
            return;
        }
        MemorySegment memory = to.memory();
        long offset = address - to.address();
        if (!Words.isAligned(memory, offset)) {
            refuseFatally(
                    psn,
                    Syndrome.REMOTE_OPERATIONAL_ERROR,
                    Failure.OPERATION_REFUSED,
                    details(opcode, packet.key(), address, Long.BYTES),
                    nowNanos);
            return;
        }
        long before =
                opcode == Opcode.FETCH_ADD
                        ? (long) Words.LONG.getAndAdd(memory, offset, packet.swapOrAdd())
                        : (long)
                                Words.LONG.compareAndExchange(
                                        memory, offset, packet.compare(), packet.swapOrAdd());
        results.put(psn, before);
        expectedPsn = SequenceNumber.next(psn);
        refused = false;
        msn = SequenceNumber.next(msn);
        connectedReplies().atomic(psn, before, msn);
        to.changed();
    }

    /** A packet of a send or write was executed. */
    private void executed(Packet packet, int psn, boolean last) {
        expectedPsn = SequenceNumber.next(psn);
        acknowledgedPsn = psn;
        refused = false;
        if (last) {
            msn = SequenceNumber.next(msn);
        }
        if (packet.asksAcknowledgement()) {
            connectedReplies().acknowledge(psn, Syndrome.ACKNOWLEDGED, msn);
        }
    }

    /**
     * Answers a duplicate (section 9.7.5.1). Changes nothing but the answers: neither the PSN that
     * is expected nor the message under way.
     */
    private void repeat(Packet packet, int psn) {
        Opcode opcode = packet.opcode();
        switch (opcode) {
            case READ_REQUEST -> {
                int packets = packetsOfRead(packet);
                boolean answered = packets > 0 && SequenceNumber.of(expectedPsn - psn) >= packets;
                if (answered && isReadGranted(packet)) {
                    connectedReplies()
                            .readAgain(
                                    psn,
                                    packets,
                                    packet.key(),
                                    packet.address(),
                                    packet.lengthBytes(),
                                    msn);
                }
            }
            case COMPARE_SWAP, FETCH_ADD -> {
                int place = results.find(psn);
                if (place >= 0) {
                    connectedReplies().atomicAgain(psn, results.value(place), msn);
                }
            }
            // Not with its own PSN, and never with that of a read, whose data it would confirm.
            default -> connectedReplies().acknowledgeAgain(acknowledgedPsn, msn);
        }
    }

    // ---- refusals ----

    /** Tells the sender from which PSN on it has to repeat; once, until that one comes. */
    private void refuse(int psn, int syndrome) {
        refused = true;
        queuePair.counters().refused(syndrome);
        connectedReplies().acknowledge(psn, syndrome, msn);
    }

    private void refuseInvalid(String details, long nowNanos) {
        refuseFatally(
                expectedPsn, Syndrome.INVALID_REQUEST, Failure.INVALID_REQUEST, details, nowNanos);
    }

    private void refuseAccess(int psn, String details, long nowNanos) {
        refuseFatally(psn, Syndrome.REMOTE_ACCESS_ERROR, Failure.ACCESS_REFUSED, details, nowNanos);
    }

    private void refuseFatally(int psn, int code, Failure failure, String details, long nowNanos) {
        fatalSyndrome = Syndrome.negative(code);
        expectedPsn = psn;
        refuse(psn, fatalSyndrome);
        queuePair.fail(failure, QueuePair.NO_POSITION, details, nowNanos);
    }

    /**
     * Refuses again what has ended the connection, if it is repeated, or a read that was refused in
     * its middle: the refusal may have been lost.
     */
    void refuseAgain(Packet packet) {
        if (fatalSyndrome != NOT_FATAL
                && packet.opcode().role() == Opcode.Role.REQUEST
                && SequenceNumber.isInWindow(expectedPsn, packet.psn(), packetsOf(packet))) {
            refuse(expectedPsn, fatalSyndrome);
        }
    }

    private static String details(Opcode opcode, int key, long address, long bytes) {
        return "opcode="
                + opcode
                + ", key="
                + Integer.toHexString(key)
                + ", address="
                + Long.toHexString(address)
                + ", lengthBytes="
                + bytes;
    }

    /** Completes the receive of the message under way. */
    void flush(Status status) {
        WorkRequest request = receive;
        message = Message.NONE;
        receive = null;
        if (request != null) {
            attachment.listener().received(queuePair, request, status);
        }
    }

    /** Keeps the answers that tell of executed requests, and refer to no memory. */
    void end() {
        if (replies != null) {
            replies.keepUpToRead();
        }
        fatalSyndrome = NOT_FATAL;
    }

    /** Forgets all answers. */
    void clear() {
        if (replies != null) {
            replies.clear();
        }
    }
}
