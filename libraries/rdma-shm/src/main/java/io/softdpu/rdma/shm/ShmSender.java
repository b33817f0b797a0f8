package io.softdpu.rdma.shm;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.LocalList;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Send queue of a connection and producer of the peer's ring.
 *
 * <pre>
 *   head ............ executed ............ tail
 *    |  executed, not   |  waiting for         |
 *    |  yet completed   |  execution           |
 * </pre>
 *
 * <p>Work is executed in order: a send writes its fragments into the ring, a read or write copies
 * slice by slice, an atomic operation changes the peer's memory, and a write with immediate copies
 * and then writes a message without payload. One pass copies at most {@link Copier#SLICE_BYTES} of
 * each kind: otherwise a peer that consumes fragments as fast as they are sent would block the
 * engine. Work is completed in order, too: a send when the peer has released its last fragment, a
 * read or write when it was copied. A send never overtakes the data of an earlier write, since the
 * store that publishes it follows the copy in program order.
 *
 * <p>A send, and all other work of less than a slice, is executed by its submission if no work
 * waits for execution before it. It is completed in progress all the same.
 */
final class ShmSender {
    /**
     * Messages after which progress rings the doorbell at the latest; they are published at once.
     * Checking whether the peer sleeps takes a full fence, which waits for the preceding copies:
     * with 8 instead of 4 a target completes 5 % more reads per second, with 64 no more than that.
     */
    private static final int MESSAGES_PER_DOORBELL = 8;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final ShmConnection connection;
    private final Copier copier;
    private final RemoteAccess remoteAccess;

    private final MessageRing.Producer producer;
    private final MemorySegment peerRegion;
    private final Link doorbell;
    private final int maxPayloadBytes;

    /** Null if retries are not limited. */
    private final @Nullable RnrWait rnrWait;

    private final @Nullable WorkRequest[] queue;
    private final int mask;
    private final Refusal full;
    private long head;
    private long executed;
    private long tail;
    private long messagesSent;

    /** The peer's limit when it was last read, which is when the one before was used up. */
    private long receiveLimit;

    private int messagesSinceDoorbell;

    /** Bytes that sends may still copy in this pass, or in this call outside of a pass. */
    private long sendBudgetBytes = Copier.SLICE_BYTES;

    /**
     * Bytes that reads and writes may still copy until the next pass begins. Not for each call
     * outside of a pass, as that of sends: the ring limits those, and nothing would limit what the
     * callbacks of another context submit here, as many as its peer causes.
     */
    private long accessBudgetBytes = Copier.SLICE_BYTES;

    ShmSender(
            ShmConnection connection,
            Copier copier,
            MemorySegment peerRegion,
            MessageRing.Geometry geometry,
            Link doorbell,
            int queueSize,
            @Nullable RnrWait rnrWait) {
        this.connection = connection;
        this.copier = copier;
        this.remoteAccess = new RemoteAccess(connection, copier);
        this.peerRegion = peerRegion;
        this.producer =
                MessageRing.producer(
                        peerRegion.asSlice(ShmWire.RING_OFFSET, geometry.sizeBytes()), geometry);
        this.doorbell = doorbell;
        this.maxPayloadBytes = geometry.maxPayloadBytes();
        this.rnrWait = rnrWait;
        this.queue = new @Nullable WorkRequest[queueSize];
        this.mask = queueSize - 1;
        this.full =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                Text.format(
                                        "send queue is full: inFlight=%d, sendQueueSize=%d,"
                                                + " expected=a completion first",
                                        queueSize, queueSize));
    }

    /** Sends the first message of a connection, into the empty ring. */
    void hello(ShmDetails.Key receiver, ShmDetails.Key sender) {
        long at = producer.claim();
        if (at < 0) {
            connection.protocolError(
                    "its ring, " + producer.violation()); // an empty ring has a free slot
            return;
        }
        MemorySegment ring = producer.segment();
        ring.set(ValueLayout.JAVA_INT, at, ShmWire.HELLO_VERSION);
        ring.set(ValueLayout.JAVA_INT, at + 4, 0);
        receiver.encode(ring, at + ShmWire.HELLO_RECEIVER_KEY_OFFSET);
        sender.encode(ring, at + ShmWire.HELLO_SENDER_KEY_OFFSET);
        producer.commit(ShmWire.OPCODE_HELLO, ShmWire.HELLO_BYTES, 0);
        messagesSinceDoorbell++;
        ringIfArmed();
    }

    /** Begins a pass of progress. */
    void beginPass() {
        sendBudgetBytes = Copier.SLICE_BYTES;
        accessBudgetBytes = Copier.SLICE_BYTES;
    }

    /** Queues work, and executes it at once, as far as the budgets go, where it is allowed to. */
    @Nullable Refusal submit(WorkRequest request, boolean insideProgress) {
        if (tail - head > mask) {
            return full;
        }
        request.progressBytes = 0;
        request.providerWord = 0;
        request.local.rewind();
        queue[(int) tail & mask] = request;
        boolean next = executed == tail;
        tail++;
        if (next && isExecutedAtSubmission(request)) {
            if (!insideProgress) {
                sendBudgetBytes = Copier.SLICE_BYTES;
            }
            try {
                boolean _ = execute();
            } catch (IllegalStateException | InternalError e) {
                // Memory that the program has closed, or a file that it has truncated: thrown again
                // by progress, as for work that had to wait. The task is in flight already.
            }
            if (!insideProgress) {
                ringIfArmed();
            }
        }
        return null;
    }

    /**
     * Whether a request with no work before it is executed by its submission. Once the connection
     * is to end, nothing but messages is: the peer may have left.
     */
    private boolean isExecutedAtSubmission(WorkRequest request) {
        return isSend(request)
                || (request.lengthBytes < Copier.SLICE_BYTES && !connection.hasEnded());
    }

    /** Executes queued work within the budgets. */
    boolean execute() {
        boolean moved = false;
        while (executed != tail) {
            WorkRequest request = at(executed);
            long before = request.progressBytes;
            boolean done;
            if (isSend(request)) {
                done = send(request);
            } else {
                done = access(request, accessBudgetBytes);
                accessBudgetBytes -= request.progressBytes - before;
            }
            moved |= done || request.progressBytes != before;
            if (!done) {
                break;
            }
            executed++;
        }
        return moved;
    }

    /**
     * Sends a message; returns whether all of it is in the ring. False if the ring is full, the
     * budget is exhausted, or the connection has to end.
     */
    private boolean send(WorkRequest request) {
        if (request.progressBytes == 0 && !receiverReady()) {
            return false;
        }
        long length = request.lengthBytes;
        do {
            long offset = request.progressBytes;
            int chunk = (int) Math.min(maxPayloadBytes, length - offset);
            if (chunk > sendBudgetBytes) { // the rest waits for the next pass
                return false;
            }
            long at = producer.claim();
            if (at < 0) {
                if (at == MessageRing.CORRUPT) {
                    connection.protocolError("its ring, " + producer.violation());
                }
                return false;
            }
            gather(request.local, at, chunk);
            boolean first = offset == 0;
            boolean last = offset + chunk == length;
            int type =
                    opcode(request)
                            | (first ? ShmWire.FLAG_FIRST : 0)
                            | (last ? ShmWire.FLAG_LAST : 0);
            commit(type, chunk, first ? ShmWire.firstWord(length, request.immediate) : offset);
            request.progressBytes = offset + chunk;
            sendBudgetBytes -= chunk;
        } while (request.progressBytes < length);
        return messageSent(request);
    }

    private static boolean isSend(WorkRequest request) {
        return request.kind == WorkRequest.Kind.SEND
                || request.kind == WorkRequest.Kind.SEND_IMMEDIATE;
    }

    private static int opcode(WorkRequest request) {
        return request.kind == WorkRequest.Kind.SEND
                ? ShmWire.OPCODE_SEND
                : ShmWire.OPCODE_SEND_IMMEDIATE;
    }

    private void commit(int type, int payloadBytes, long word) {
        producer.commit(type, payloadBytes, word);
        if (++messagesSinceDoorbell >= MESSAGES_PER_DOORBELL) {
            ringIfArmed();
        }
    }

    /** All of a message is in the ring: it is complete when the peer has released that. */
    private boolean messageSent(WorkRequest request) {
        request.providerWord = producer.produced();
        messagesSent++;
        return true;
    }

    /**
     * Notifies the peer of a write with immediate whose data is in its memory; returns whether the
     * message is in the ring, which publishes the data with it.
     */
    private boolean notifyWritten(WorkRequest request) {
        if (!receiverReady()) {
            return false;
        }
        long at = producer.claim();
        if (at < 0) {
            if (at == MessageRing.CORRUPT) {
                connection.protocolError("its ring, " + producer.violation());
            }
            return false;
        }
        commit(
                ShmWire.OPCODE_WRITE_IMMEDIATE | ShmWire.FLAG_FIRST | ShmWire.FLAG_LAST,
                0,
                ShmWire.firstWord(request.lengthBytes, request.immediate));
        return messageSent(request);
    }

    /**
     * Whether the peer has published a receive for the next message; checked only if the retries
     * are limited. Otherwise a message waits in the peer's ring for its receive. The peer's limit
     * is read again when the known one is used up: its line moves between the processors otherwise.
     */
    private boolean receiverReady() {
        if (rnrWait == null || messagesSent < receiveLimit) {
            return true;
        }
        receiveLimit = publishedLimit();
        if (messagesSent < receiveLimit) {
            rnrWait.stop();
            return true;
        }
        if (!rnrWait.proceed()) {
            connection.end(CloseReason.RECEIVER_NOT_READY);
        }
        return false;
    }

    private long publishedLimit() {
        return (long) LONG.getAcquire(peerRegion, ShmWire.RECEIVE_LIMIT_OFFSET);
    }

    /** Copies a fragment's payload from the position of the list. */
    private void gather(LocalList from, long to, int length) {
        long at = to;
        int left = length;
        while (left > 0) {
            int piece = (int) Math.min(left, from.pieceBytes());
            copier.message(from.piece(), from.pieceOffset(), producer.segment(), at, piece);
            from.advance(piece);
            at += piece;
            left -= piece;
        }
    }

    /** Accesses the peer's memory, copies within the budget; returns whether it is done. */
    private boolean access(WorkRequest request, long budget) {
        return switch (request.kind) {
            case READ, WRITE -> remoteAccess.copy(request, budget);
            case WRITE_IMMEDIATE ->
                    (isWritten(request) || remoteAccess.copy(request, budget))
                            && notifyWritten(request);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> remoteAccess.update(request);
            case RECEIVE, SEND, SEND_IMMEDIATE ->
                    throw new IllegalStateException("no access: kind=" + request.kind);
        };
    }

    /** Whether nothing is left to do for a write with immediate but its message. */
    private static boolean isWritten(WorkRequest request) {
        return request.progressBytes == request.lengthBytes;
    }

    /** Whether a request waits for the peer, not for its turn: for a receive, or for room. */
    private static boolean isMessage(WorkRequest request) {
        return isSend(request)
                || (request.kind == WorkRequest.Kind.WRITE_IMMEDIATE && isWritten(request));
    }

    /** Completes finished work, oldest first. */
    boolean complete() {
        long limit = executed;
        boolean moved = false;
        while (head != limit && isReleased(at(head).providerWord)) {
            WorkRequest request = take();
            request.resultLengthBytes = request.lengthBytes;
            request.sink.completed(Status.SUCCESS);
            moved = true;
        }
        return moved;
    }

    /**
     * Whether the peer has released this number of messages. Reads the peer's index only if the
     * value that was read last is too low, since a read of a new value moves its cache line.
     */
    private boolean isReleased(long messages) {
        if (messages <= producer.knownConsumed()) {
            return true;
        }
        long released = producer.consumed();
        if (released == MessageRing.CORRUPT) {
            connection.protocolError("its ring, " + producer.violation());
            return false;
        }
        return messages <= released;
    }

    /**
     * Completes acknowledged work with success, and the rest with the statuses of the close reason.
     */
    void flush(CloseReason cause, Status failedStatus) {
        if (rnrWait != null) {
            rnrWait.stop();
        }
        complete();
        boolean failedFound = false;
        while (head != tail) {
            boolean unexecuted = head >= executed;
            WorkRequest request = take();
            boolean failed = !failedFound && isFailedRequest(cause, request, unexecuted);
            failedFound |= failed;
            request.sink.completed(failed ? failedStatus : cause.taskStatus);
        }
        executed = tail;
    }

    /** Whether this request failed the connection; called for the oldest first. */
    private static boolean isFailedRequest(
            CloseReason cause, WorkRequest request, boolean unexecuted) {
        boolean send = isSend(request);
        return switch (cause) {
            case PEER_RECEIVE_TOO_SMALL -> send;
            case RECEIVER_NOT_READY -> isMessage(request) && unexecuted;
            case REMOTE_MEMORY_REVOKED -> !send && unexecuted;
            case LOCAL_DISCONNECT,
                    PEER_DISCONNECT,
                    PEER_GONE,
                    PEER_FAILED,
                    LOCAL_RECEIVE_TOO_SMALL,
                    PROTOCOL_ERROR_DETECTED,
                    PROTOCOL_ERROR_REPORTED,
                    WRONG_PEER,
                    CONNECT_FAILED ->
                    false;
        };
    }

    /** Rings the peer's doorbell if it sleeps and messages were sent since the last check. */
    void ringIfArmed() {
        if (messagesSinceDoorbell > 0) {
            messagesSinceDoorbell = 0;
            if (producer.peerArmed()) {
                doorbell.ring();
            }
        }
    }

    /** The status word of the peer's end of the connection. */
    int peerStatus() {
        return producer.status();
    }

    /** Requests a doorbell for acknowledgements and receives; true if there is work already. */
    boolean arm() {
        if (head == tail) {
            return false;
        }
        if (executed != tail && !isMessage(at(executed))) {
            return true;
        }
        if (rnrWait != null && rnrWait.isWaiting()) { // a free slot in the ring is of no use then
            // The limit after arm(): the peer publishes it before it sees whether this side sleeps.
            return producer.arm()
                    || messagesSent < publishedLimit()
                    || acknowledged()
                    || producer.corrupt()
                    || rnrWait.isDue();
        }
        // After the last read of the index by arm(): a slot may have been freed, or a message
        // acknowledged, before the peer could see that this side sleeps.
        return producer.arm()
                || (executed != tail && producer.free() > 0)
                || acknowledged()
                || producer.corrupt();
    }

    private boolean acknowledged() {
        return head != executed && producer.consumed() >= at(head).providerWord;
    }

    void disarm() {
        producer.disarm();
    }

    private WorkRequest at(long position) {
        return Objects.requireNonNull(queue[(int) position & mask], "send queue has a hole");
    }

    private WorkRequest take() {
        WorkRequest request = at(head);
        queue[(int) head & mask] = null;
        head++;
        return request;
    }
}
