package io.softdpu.rdma.roce.rc;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.roce.wire.Syndrome;
import io.softdpu.rdma.spi.LocalList;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Requester of a queue pair: its send queue, the packets of the requests in it, and their
 * completion by the answers of the peer (sections 9.7.3, 9.7.5 and 9.7.6).
 *
 * <pre>
 *   requests   head ............. cursor ........ tail
 *   PSNs       unacknowledged ... cursor ... sent
 *               |  in flight       |  to be repeated
 * </pre>
 *
 * <p>A packet that gets lost makes the cursor go back to the oldest PSN that is not acknowledged,
 * from where all is sent again, and makes the window smaller. A request has one PSN per packet, a
 * read one per packet of its answer. A long read is asked for in parts, so that its data stay
 * within the window.
 *
 * <p>Allocates when it is connected, and when the connection fails.
 */
final class Requester {
    /** Limit of a request (section 9.7.4.1.6). */
    private static final long MAX_MESSAGE_BYTES = 1L << 31;

    private final QueuePair queuePair;
    private final Attachment attachment;
    private final Limits limits;
    private final SendWindow window;
    private final RoundTrip roundTrip = new RoundTrip();
    private final @Nullable WorkRequest[] queue;
    private final int[] firstPsns;
    private final int[] packetCounts;
    private final int mask;
    private final Refusal full;
    private @Nullable Path path;
    private int mtuBytes;
    private int mtuShift;

    private long head;
    private long tail;

    /** The first request without PSNs. */
    private long numbered;

    private int unacknowledgedPsn;

    /** The PSN behind the last that was ever sent. */
    private int sentPsn;

    // The next packet.
    private long cursor;
    private int cursorPacket;
    private int cursorPsn;
    private boolean cursorInList;

    /** Position of the request of the last packet. */
    private long latest = QueuePair.NO_POSITION;

    // In flight: what is between the oldest PSN and the cursor.
    private long bytesInFlight;
    private int answersInFlight;
    private int bytesSinceAckRequest;

    /** PSNs behind the answers in flight, a ring. */
    private int[] answerEnds = {};

    private int firstAnswer;

    // A round trip that is measured.
    private boolean measuring;
    private int measuredPsn;
    private long measuredAtNanos;

    // The timer of repeats.
    private boolean timing;
    private long timeoutAtNanos;
    private long progressAtNanos;

    /** Whether the oldest PSN was repeated before its timeout; it is so once. */
    private boolean repeated;

    // The wait for a receive of the peer.
    private boolean rnrWaiting;
    private long rnrUntilNanos;
    private boolean rnrCounting;
    private long rnrSinceNanos;

    /** Number of retries; that of the path if it is negative. */
    private int rnrRetries = -1;

    private RnrTimer rnrTimer;

    // The question whether the peer is there.
    private long heardAtNanos;
    private boolean probing;

    /** Whether the peer is not asked, since no packet of it has come. */
    private boolean unheard;

    private boolean probeDue;

    Requester(QueuePair queuePair, Attachment attachment, Limits limits) {
        this.queuePair = queuePair;
        this.attachment = attachment;
        this.limits = limits;
        window = new SendWindow(limits);
        rnrTimer = attachment.rnrTimer();
        int size = attachment.sendQueueSize();
        queue = new @Nullable WorkRequest[size];
        firstPsns = new int[size];
        packetCounts = new int[size];
        mask = size - 1;
        full =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                "send queue is full: inFlight="
                                        + size
                                        + ", sendQueueSize="
                                        + size
                                        + ", expected=a completion first");
    }

    void connect(Path agreed, long nowNanos) {
        path = agreed;
        mtuBytes = agreed.mtuBytes();
        mtuShift = Integer.numberOfTrailingZeros(mtuBytes);
        window.start(mtuBytes, agreed.sendPsn());
        answerEnds = new int[Integer.highestOneBit(agreed.initiatorDepth() | 1) << 1];
        unacknowledgedPsn = agreed.sendPsn();
        sentPsn = unacknowledgedPsn;
        cursorPsn = unacknowledgedPsn;
        roundTrip.start(agreed.timeoutNanos());
        heardAtNanos = nowNanos;
    }

    /** Does not ask whether the peer is there before its first packet. */
    void awaitFirstPacket() {
        unheard = true;
    }

    private Path connectedPath() {
        return Objects.requireNonNull(path, "the path of a connected queue pair");
    }

    void limitReceiverNotReady(int retries, RnrTimer timer) {
        rnrRetries = retries;
        rnrTimer = timer;
    }

    // ---- submission ----

    @Nullable Refusal submit(WorkRequest request) {
        if (tail - head > mask) {
            return full;
        }
        if (request.lengthBytes > MAX_MESSAGE_BYTES) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "request is too long: lengthBytes=%d, limit=%d",
                    request.lengthBytes,
                    MAX_MESSAGE_BYTES);
        }
        if (isAnswered(request) && connectedPath().initiatorDepth() == 0) {
            return Refusal.of(
                    Status.NOT_SUPPORTED,
                    "peer answers no reads and atomic operations: kind=%s, initiatorDepth=0",
                    request.kind);
        }
        request.progressBytes = 0;
        request.local.rewind();
        queue[(int) tail & mask] = request;
        tail++;
        return null;
    }

    /** Whether its answer brings data. */
    private static boolean isAnswered(WorkRequest request) {
        return switch (request.kind) {
            case READ, COMPARE_AND_SWAP, FETCH_AND_ADD -> true;
            case SEND, SEND_IMMEDIATE, WRITE, WRITE_IMMEDIATE -> false;
            case RECEIVE -> throw new IllegalArgumentException("no request: kind=RECEIVE");
        };
    }

    private WorkRequest at(long position) {
        WorkRequest request = queue[(int) position & mask];
        if (request == null) {
            throw new IllegalStateException(
                    "send queue has a hole: position=" + position + ", head=" + head);
        }
        return request;
    }

    // ---- packets ----

    /** Whether a packet can be sent now. */
    boolean isReady() {
        if (probing || rnrWaiting || cursor == tail) {
            return probeDue;
        }
        WorkRequest request = at(cursor);
        if (isAnswered(request)
                && (answersInFlight >= connectedPath().initiatorDepth() || isBehindPartOfRead())) {
            return false;
        }
        int inFlight = inFlight();
        return inFlight == 0
                || (inFlight + packetsAt(request, cursorPacket) <= window.packets()
                        && bytesInFlight + bytesAt(request, cursorPacket) <= limits.windowBytes());
    }

    /**
     * Whether a read is asked for again, and an answer to a part of it may be in flight. Linux
     * answers no repeat that begins before the last one within the same part of the first time: so
     * these go one after the other, and the next loss finds none that is later.
     */
    private boolean isBehindPartOfRead() {
        return cursorPacket > 0 && answersInFlight > 0 && cursorPsn != sentPsn;
    }

    private int inFlight() {
        return SequenceNumber.of(cursorPsn - unacknowledgedPsn);
    }

    private int packetsOf(WorkRequest request) {
        return isAtomic(request)
                ? 1
                : (int) Math.max(1, (request.lengthBytes + mtuBytes - 1) >> mtuShift);
    }

    private static boolean isAtomic(WorkRequest request) {
        return request.kind == WorkRequest.Kind.COMPARE_AND_SWAP
                || request.kind == WorkRequest.Kind.FETCH_AND_ADD;
    }

    /** Number of PSNs that the request packet for an index takes: those up to the end of a part. */
    private int packetsAt(WorkRequest request, int index) {
        if (request.kind != WorkRequest.Kind.READ) {
            return 1;
        }
        int part = window.partPackets();
        return Math.min(packetsOf(request) - index, part - (index & part - 1));
    }

    /** Number of bytes before a packet of a request. */
    private long bytesBefore(WorkRequest request, int index) {
        return Math.min(request.lengthBytes, (long) index * mtuBytes);
    }

    /** Number of bytes that the request packet for an index sends, or asks for. */
    private long bytesAt(WorkRequest request, int index) {
        return bytesBefore(request, index + packetsAt(request, index))
                - bytesBefore(request, index);
    }

    /** Writes the next packet, while {@link #isReady}. */
    void next(OutgoingPacket packet, int sourcePort, long nowNanos) {
        if (probeDue) {
            probeDue = false;
            begin(packet, sourcePort, Opcode.SEND_ONLY, true, previous(cursorPsn), 0);
            return;
        }
        WorkRequest request = at(cursor);
        int slot = (int) cursor & mask;
        latest = cursor;
        if (cursor == numbered) {
            number(request, slot);
        }
        int psn = cursorPsn;
        int index = cursorPacket;
        int packets = packetsAt(request, index);
        long bytes = bytesAt(request, index);
        boolean last = index + packets == packetCounts[slot];
        boolean fresh = moveCursor(packets, bytes);
        boolean answered = isAnswered(request);
        boolean acknowledge = answered || isAcknowledgementDue(last, (int) bytes);
        if (answered) {
            ask(packet, sourcePort, request, psn, index, bytes);
        } else {
            bytesSinceAckRequest = acknowledge ? 0 : bytesSinceAckRequest + (int) bytes;
            send(packet, sourcePort, request, psn, index, last, (int) bytes, acknowledge);
        }
        if (last) {
            cursor++;
            cursorPacket = 0;
            cursorInList = false;
        }
        startTimers(fresh && acknowledge, psn, nowNanos);
    }

    private void number(WorkRequest request, int slot) {
        firstPsns[slot] = cursorPsn;
        packetCounts[slot] = packetsOf(request);
        numbered++;
    }

    /**
     * Moves the cursor over PSNs of its request.
     *
     * @return whether they were not sent before
     */
    private boolean moveCursor(int packets, long bytes) {
        boolean fresh = cursorPsn == sentPsn;
        cursorPsn = SequenceNumber.add(cursorPsn, packets);
        cursorPacket += packets;
        bytesInFlight += bytes;
        if (fresh) {
            sentPsn = cursorPsn;
        } else {
            queuePair.counters().increment(ConnectionCounter.RETRANSMISSIONS);
        }
        return fresh;
    }

    private static int previous(int psn) {
        return SequenceNumber.add(psn, -1);
    }

    /** At the end of a message, after some bytes, and before the window may be closed. */
    private boolean isAcknowledgementDue(boolean last, int bytes) {
        return last
                || bytesSinceAckRequest + bytes >= window.requestBytes()
                || inFlight() >= window.packets()
                || bytesInFlight + mtuBytes > limits.windowBytes();
    }

    private void startTimers(boolean measurable, int psn, long nowNanos) {
        if (measurable && !measuring) {
            measuring = true;
            measuredPsn = psn;
            measuredAtNanos = nowNanos;
        }
        if (!timing) {
            timing = true;
            progressAtNanos = nowNanos;
            timeoutAtNanos = nowNanos + roundTrip.timeoutNanos();
        }
    }

    private void begin(
            OutgoingPacket packet,
            int sourcePort,
            Opcode opcode,
            boolean acknowledge,
            int psn,
            int bytes) {
        Path to = connectedPath();
        packet.begin(to.peer(), sourcePort, opcode, to.peerQueuePair(), acknowledge, psn, bytes);
    }

    private void send(
            OutgoingPacket packet,
            int sourcePort,
            WorkRequest request,
            int psn,
            int index,
            boolean last,
            int bytes,
            boolean acknowledge) {
        Opcode opcode = opcodeOf(request.kind, index == 0, last);
        begin(packet, sourcePort, opcode, acknowledge, psn, bytes);
        if (opcode.has(ExtensionHeader.RETH)) {
            writeReth(packet, request, 0, request.lengthBytes);
        }
        if (opcode.has(ExtensionHeader.IMMEDIATE)) {
            Headers.writeWord(
                    packet.headers(), opcode.offset(ExtensionHeader.IMMEDIATE), request.immediate);
        }
        LocalList list = request.local;
        if (!cursorInList) {
            list.position(bytesBefore(request, index));
            cursorInList = true;
        }
        packet.gather(list);
    }

    private static Opcode opcodeOf(WorkRequest.Kind kind, boolean first, boolean last) {
        return switch (kind) {
            case SEND ->
                    first
                            ? (last ? Opcode.SEND_ONLY : Opcode.SEND_FIRST)
                            : (last ? Opcode.SEND_LAST : Opcode.SEND_MIDDLE);
            case SEND_IMMEDIATE ->
                    first
                            ? (last ? Opcode.SEND_ONLY_IMMEDIATE : Opcode.SEND_FIRST)
                            : (last ? Opcode.SEND_LAST_IMMEDIATE : Opcode.SEND_MIDDLE);
            case WRITE ->
                    first
                            ? (last ? Opcode.WRITE_ONLY : Opcode.WRITE_FIRST)
                            : (last ? Opcode.WRITE_LAST : Opcode.WRITE_MIDDLE);
            case WRITE_IMMEDIATE ->
                    first
                            ? (last ? Opcode.WRITE_ONLY_IMMEDIATE : Opcode.WRITE_FIRST)
                            : (last ? Opcode.WRITE_LAST_IMMEDIATE : Opcode.WRITE_MIDDLE);
            case READ -> Opcode.READ_REQUEST;
            case COMPARE_AND_SWAP -> Opcode.COMPARE_SWAP;
            case FETCH_AND_ADD -> Opcode.FETCH_ADD;
            case RECEIVE -> throw new IllegalArgumentException("no request: kind=RECEIVE");
        };
    }

    /** Asks for data of a read from a packet on, or for an atomic operation. */
    private void ask(
            OutgoingPacket packet,
            int sourcePort,
            WorkRequest request,
            int psn,
            int index,
            long bytes) {
        answerEnds[firstAnswer + answersInFlight & answerEnds.length - 1] = cursorPsn;
        answersInFlight++;
        Opcode opcode = opcodeOf(request.kind, true, true);
        begin(packet, sourcePort, opcode, true, psn, 0);
        if (opcode == Opcode.READ_REQUEST) {
            writeReth(packet, request, bytesBefore(request, index), bytes);
            return;
        }
        boolean swap = opcode == Opcode.COMPARE_SWAP;
        Headers.writeAtomicEth(
                packet.headers(),
                opcode.offset(ExtensionHeader.ATOMIC_ETH),
                addressOf(request),
                keyOf(request),
                swap ? request.swap : request.operand,
                swap ? request.operand : 0);
    }

    private void writeReth(
            OutgoingPacket packet, WorkRequest request, long from, long lengthBytes) {
        Headers.writeReth(
                packet.headers(),
                packet.opcode().offset(ExtensionHeader.RETH),
                addressOf(request) + from,
                keyOf(request),
                lengthBytes);
    }

    private long addressOf(WorkRequest request) {
        return request.remote == null
                ? 0
                : attachment.keys().address(request.remote) + request.remoteOffset;
    }

    private int keyOf(WorkRequest request) {
        return request.remote == null ? 0 : attachment.keys().key(request.remote);
    }

    /** Position of the oldest request; that of none if there is none. */
    long oldest() {
        return head == tail ? QueuePair.NO_POSITION : head;
    }

    /** Position of the request whose packet {@link #next} was to write last. */
    long latest() {
        return latest < head ? QueuePair.NO_POSITION : latest;
    }

    /** Whether the answer to a PSN is awaited. */
    boolean isAwaited(int psn) {
        return probing
                ? psn == previous(cursorPsn)
                : SequenceNumber.isInWindow(psn, unacknowledgedPsn, inFlight());
    }

    // ---- answers ----

    /** A valid packet of the peer has come, of whatever kind. */
    void heard(long nowNanos) {
        heardAtNanos = nowNanos;
        unheard = false;
        if (probing) {
            probing = false;
            probeDue = false;
            timing = false;
            roundTrip.answered();
        }
    }

    /** Takes an answer of the peer; one to no PSN in flight is an old one, or none at all. */
    void answer(Packet packet, long nowNanos) {
        int psn = packet.psn();
        if (SequenceNumber.of(psn - unacknowledgedPsn)
                >= SequenceNumber.of(sentPsn - unacknowledgedPsn)) {
            queuePair.counters().increment(ConnectionCounter.DROPPED_ANSWERS);
            return;
        }
        switch (packet.opcode()) {
            case ACKNOWLEDGE -> acknowledgement(packet, psn, nowNanos);
            case ATOMIC_ACKNOWLEDGE -> atomic(packet, psn, nowNanos);
            case READ_RESPONSE_FIRST,
                    READ_RESPONSE_MIDDLE,
                    READ_RESPONSE_LAST,
                    READ_RESPONSE_ONLY ->
                    data(packet, psn, nowNanos);
            default -> throw new IllegalArgumentException("no answer: opcode=" + packet.opcode());
        }
    }

    private void acknowledgement(Packet packet, int psn, long nowNanos) {
        int syndrome = packet.syndrome();
        queuePair.counters().refusedByPeer(syndrome);
        if (Syndrome.isAcknowledgement(syndrome)) {
            if (isAllAcknowledged(SequenceNumber.next(psn), nowNanos)) {
                return;
            }
        } else if (Syndrome.isReceiverNotReady(syndrome)) {
            if (isAllAcknowledged(psn, nowNanos)) {
                if (queuePair.isConnected()) {
                    receiverNotReady(Syndrome.value(syndrome), nowNanos);
                }
                return;
            }
        } else if (Syndrome.isNegative(syndrome)) {
            negative(Syndrome.value(syndrome), psn, nowNanos);
            return;
        } else {
            return; // a reserved one
        }
        repeat(nowNanos); // the data of a read before that PSN are missing
    }

    private void negative(int code, int psn, long nowNanos) {
        Failure failure =
                switch (code) {
                    case Syndrome.INVALID_REQUEST -> Failure.PEER_INVALID;
                    case Syndrome.REMOTE_ACCESS_ERROR -> Failure.PEER_ACCESS;
                    case Syndrome.REMOTE_OPERATIONAL_ERROR -> Failure.PEER_OPERATION;
                    default -> null;
                };
        if (failure == null && code != Syndrome.SEQUENCE_ERROR) {
            return; // a reserved one
        }
        boolean acknowledged = isAllAcknowledged(psn, nowNanos);
        if (!queuePair.isConnected()) {
            return;
        }
        if (failure == null) {
            repeat(nowNanos);
        } else {
            long position = acknowledged ? head : positionOf(psn);
            queuePair.fail(failure, position, details(at(position)), nowNanos);
        }
    }

    private String details(WorkRequest request) {
        return "peerQueuePair="
                + connectedPath().peerQueuePair()
                + ", kind="
                + request.kind
                + ", lengthBytes="
                + request.lengthBytes
                + ", mtuBytes="
                + mtuBytes;
    }

    /** Position of the request that has a PSN in flight. */
    private long positionOf(int psn) {
        long position = head;
        while (!SequenceNumber.isInWindow(
                psn, firstPsns[(int) position & mask], packetCounts[(int) position & mask])) {
            position++;
        }
        return position;
    }

    private void atomic(Packet packet, int psn, long nowNanos) {
        if (!isAllAcknowledged(psn, nowNanos)) {
            repeat(nowNanos);
            return;
        }
        if (!queuePair.isConnected() || !isAtomic(at(head))) {
            return;
        }
        LocalList to = at(head).local;
        to.piece().set(ValueLayout.JAVA_LONG_UNALIGNED, to.pieceOffset(), packet.valueBefore());
        advance(1, nowNanos);
        rearm(nowNanos);
    }

    private void data(Packet packet, int psn, long nowNanos) {
        if (!isAllAcknowledged(psn, nowNanos)) {
            repeat(nowNanos);
            return;
        }
        if (!queuePair.isConnected() || at(head).kind != WorkRequest.Kind.READ) {
            return;
        }
        WorkRequest request = at(head);
        int bytes = packet.payloadBytes();
        long expected = Math.min(mtuBytes, request.lengthBytes - request.progressBytes);
        if (bytes != expected) { // as of a peer with another path MTU, at each repeat
            queuePair.fail(
                    Failure.INVALID_ANSWER,
                    head,
                    details(request) + ", payloadBytes=" + bytes + ", expected=" + expected,
                    nowNanos);
            return;
        }
        long from = packet.payloadAt();
        int left = bytes;
        LocalList to = request.local;
        while (left > 0) {
            int piece = (int) Math.min(left, to.pieceBytes());
            attachment.copier().payload(packet.memory(), from, to.piece(), to.pieceOffset(), piece);
            to.advance(piece);
            from += piece;
            left -= piece;
        }
        queuePair.counters().copied(bytes);
        request.progressBytes += bytes;
        advance(1, nowNanos);
        rearm(nowNanos);
    }

    /**
     * Takes everything before a PSN as acknowledged, up to a request that waits for data.
     *
     * @return whether nothing before that PSN waits for data; also if the connection has ended
     *     meanwhile
     */
    private boolean isAllAcknowledged(int psn, long nowNanos) {
        boolean all = true;
        boolean progress = false;
        while (unacknowledgedPsn != psn) {
            int slot = (int) head & mask;
            if (isAnswered(at(head))) {
                all = false;
                break;
            }
            int end = SequenceNumber.add(firstPsns[slot], packetCounts[slot]);
            advance(
                    Math.min(
                            SequenceNumber.of(psn - unacknowledgedPsn),
                            SequenceNumber.of(end - unacknowledgedPsn)),
                    nowNanos);
            progress = true;
            if (!queuePair.isConnected()) {
                return true;
            }
        }
        if (progress) {
            rearm(nowNanos);
        }
        return all;
    }

    /** Takes packets of the oldest request as acknowledged; completes it with its last. */
    private void advance(int packets, long nowNanos) {
        int slot = (int) head & mask;
        WorkRequest request = at(head);
        int from = SequenceNumber.of(unacknowledgedPsn - firstPsns[slot]);
        int to = from + packets;
        boolean passed = inFlight() < packets;
        if (!passed) {
            bytesInFlight -= bytesBefore(request, to) - bytesBefore(request, from);
        }
        if (measuring && SequenceNumber.isInWindow(measuredPsn, unacknowledgedPsn, packets)) {
            measuring = false;
            roundTrip.measure(nowNanos - measuredAtNanos);
        }
        moveOldest(packets);
        boolean done = to == packetCounts[slot];
        if (done) {
            queue[slot] = null;
            head++;
        }
        if (passed) { // what was sent before has been acknowledged, and need not be repeated
            moveCursorToOldest();
        }
        if (done) {
            request.resultLengthBytes = request.lengthBytes;
            attachment.listener().completed(queuePair, request, Status.SUCCESS);
        }
    }

    private void moveOldest(int packets) {
        unacknowledgedPsn = SequenceNumber.add(unacknowledgedPsn, packets);
        if (answersInFlight > 0 && unacknowledgedPsn == answerEnds[firstAnswer]) {
            answersInFlight--;
            firstAnswer = firstAnswer + 1 & answerEnds.length - 1;
        }
        if (window.isReduced()) {
            window.acknowledged(packets, unacknowledgedPsn, cursorPsn, cursorPsn == sentPsn);
        }
    }

    private void moveCursorToOldest() {
        cursor = head;
        cursorPsn = unacknowledgedPsn;
        cursorPacket =
                head == numbered
                        ? 0
                        : SequenceNumber.of(unacknowledgedPsn - firstPsns[(int) head & mask]);
        cursorInList = false;
        bytesInFlight = 0;
        answersInFlight = 0;
        bytesSinceAckRequest = 0;
    }

    // ---- time ----

    /** The peer has made progress: all timers begin again. */
    private void rearm(long nowNanos) {
        if (!queuePair.isConnected()) {
            return;
        }
        progressAtNanos = nowNanos;
        roundTrip.answered();
        repeated = false;
        rnrWaiting = false;
        rnrCounting = false;
        timing = unacknowledgedPsn != sentPsn;
        timeoutAtNanos = nowNanos + roundTrip.timeoutNanos();
    }

    /**
     * Repeats from the oldest PSN on, since the peer has missed it: once, since each answer to the
     * packets behind it tells the same. If the repeat gets lost too, its timeout follows.
     */
    private void repeat(long nowNanos) {
        if (queuePair.isConnected() && !repeated && !rnrWaiting) {
            repeated = true;
            window.lost();
            goBack();
            setTimeout(nowNanos);
        }
    }

    /** Sets the time of the next repeat: the end of the connection at the latest. */
    private void setTimeout(long nowNanos) {
        long leftNanos = connectedPath().patienceNanos() - (nowNanos - progressAtNanos);
        timeoutAtNanos = nowNanos + Math.min(roundTrip.timeoutNanos(), leftNanos);
    }

    private void goBack() {
        measuring = false;
        window.goneBack(unacknowledgedPsn);
        moveCursorToOldest();
    }

    /**
     * Waits for a receive of the peer. The retries of the connection count as time, by the timer of
     * the instance: that of the peer may be short.
     */
    private void receiverNotReady(int timerCode, long nowNanos) {
        int retries = rnrRetries < 0 ? connectedPath().rnrRetries() : rnrRetries;
        if (!rnrCounting) {
            rnrCounting = true;
            rnrSinceNanos = nowNanos;
        }
        if (retries != Path.UNLIMITED_RNR_RETRIES
                && nowNanos - rnrSinceNanos >= retries * rnrTimer.nanos()) {
            queuePair.fail(
                    Failure.RECEIVER_NOT_READY,
                    head,
                    details(at(head)) + ", rnrRetries=" + retries,
                    nowNanos);
            return;
        }
        if (!rnrWaiting) {
            rnrWaiting = true;
            rnrUntilNanos = nowNanos + RnrTimer.nanosOf(timerCode);
            timing = false;
            goBack();
        }
    }

    boolean hasDeadline() {
        return timing || rnrWaiting || isIdle();
    }

    private boolean isIdle() {
        return head == tail && !probing && !unheard;
    }

    /** The next deadline, if there is one. */
    long deadline() {
        if (rnrWaiting) {
            return rnrUntilNanos;
        }
        return timing ? timeoutAtNanos : heardAtNanos + limits.idleNanos();
    }

    /** Number of requests that were not completed. */
    int outstanding() {
        return (int) (tail - head);
    }

    void expire(long nowNanos) {
        if (rnrWaiting) {
            if (nowNanos - rnrUntilNanos >= 0) {
                rnrWaiting = false;
                repeated = false;
            }
        } else if (timing) {
            if (nowNanos - timeoutAtNanos >= 0) {
                timeout(nowNanos);
            }
        } else if (isIdle() && nowNanos - heardAtNanos >= limits.idleNanos()) {
            // An empty send with the PSN before the next one: a duplicate, which the peer
            // acknowledges. Linux does so with the PSN of what it executed last, or 0xffffff:
            // requests wait until the answer is there.
            probing = true;
            probeDue = true;
            startTimers(false, 0, nowNanos);
        }
    }

    private void timeout(long nowNanos) {
        long waitedNanos = nowNanos - progressAtNanos;
        if (waitedNanos >= connectedPath().patienceNanos()) {
            queuePair.fail(
                    Failure.NO_ANSWER,
                    head,
                    "peerQueuePair="
                            + connectedPath().peerQueuePair()
                            + ", waitedNanos="
                            + waitedNanos
                            + ", psn="
                            + unacknowledgedPsn,
                    nowNanos);
            return;
        }
        queuePair.counters().increment(ConnectionCounter.TIMEOUTS);
        roundTrip.repeated();
        repeated = false;
        if (probing) {
            probeDue = true;
        } else {
            window.lost();
            goBack();
        }
        setTimeout(nowNanos);
    }

    // ---- end ----

    /**
     * Completes all requests.
     *
     * @param failed position of the one that has failed, if it is in the queue
     */
    void flush(long failed, Status failedStatus, Status status) {
        while (head != tail) {
            long position = head;
            WorkRequest request = at(position);
            queue[(int) position & mask] = null;
            head++;
            attachment
                    .listener()
                    .completed(queuePair, request, position == failed ? failedStatus : status);
        }
        numbered = tail;
        cursor = tail;
        timing = false;
        rnrWaiting = false;
        probing = false;
        probeDue = false;
    }
}
