package io.softdpu.rdma.shm;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.LocalList;
import io.softdpu.rdma.spi.ReceivedOpcode;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Consumer of this side's ring. A fragment is copied to the receive task of its message and its
 * slot released, which acknowledges it; a message without a receive task waits in the ring, and so
 * do all later messages.
 *
 * <p>Header and order of each fragment are checked against the expected next fragment. The payload
 * is copied to the user's buffer unchecked: the user has to treat it as untrusted.
 */
final class ShmReceiver {
    /**
     * Messages received per progress, so that a busy peer does not starve the engine's other
     * contexts.
     */
    private static final int MESSAGES_PER_PROGRESS = 64;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final ShmConnection connection;
    private final Copier copier;
    private final MemorySegment region;
    private final MessageRing.Consumer consumer;
    private final int maxPayloadBytes;
    private final FixedQueue<WorkRequest> receives;

    /** Whether peers may write through this instance. */
    private final boolean writesGranted;

    private final MemorySegment hello = MemorySegment.ofArray(new long[ShmWire.HELLO_BYTES / 8]);
    private boolean helloSeen;
    private @Nullable WorkRequest current;

    // Opcode and value of the message that the current receive is for.
    private int currentOpcode;
    private int currentImmediate;

    private long messageBytes;
    private long receivedBytes;
    private long messagesTaken;

    /** The limit that the peer can see. */
    private long publishedLimit;

    private long releasedAtDoorbell;

    ShmReceiver(
            ShmConnection connection,
            Copier copier,
            MemorySegment region,
            MessageRing.Geometry geometry,
            FixedQueue<WorkRequest> receives,
            boolean writesGranted) {
        this.connection = connection;
        this.copier = copier;
        this.region = region;
        region.asSlice(0, ShmWire.RING_OFFSET).fill((byte) 0);
        this.consumer =
                MessageRing.consumer(
                        region.asSlice(ShmWire.RING_OFFSET, geometry.sizeBytes()), geometry);
        this.maxPayloadBytes = geometry.maxPayloadBytes();
        this.receives = receives;
        this.writesGranted = writesGranted;
    }

    /**
     * Polls for the peer's hello and checks that its sender has both blobs.
     *
     * @return whether a valid hello was received, now or before
     */
    boolean helloFrom(ShmDetails.Key own, ShmDetails.Key peer) {
        if (helloSeen) {
            return true;
        }
        long at = consumer.poll();
        if (at == MessageRing.EMPTY) {
            return false;
        }
        if (at == MessageRing.CORRUPT) {
            connection.protocolError("own ring, " + consumer.violation());
            return false;
        }
        if (consumer.type() != ShmWire.OPCODE_HELLO || consumer.length() != ShmWire.HELLO_BYTES) {
            connection.protocolError(
                    Text.format(
                            "first message is not a hello: type=%d, lengthBytes=%d",
                            consumer.type(), consumer.length()));
            return false;
        }
        copier.message(consumer.segment(), at, hello, 0, ShmWire.HELLO_BYTES);
        int version = hello.get(ValueLayout.JAVA_INT, 0);
        if (version != ShmWire.HELLO_VERSION) {
            connection.protocolError(
                    Text.format(
                            "hello has another version: version=%d, expected=%d",
                            version, ShmWire.HELLO_VERSION));
            return false;
        }
        if (!own.equals(ShmDetails.Key.decode(hello, ShmWire.HELLO_RECEIVER_KEY_OFFSET))
                || !peer.equals(ShmDetails.Key.decode(hello, ShmWire.HELLO_SENDER_KEY_OFFSET))) {
            connection.end(CloseReason.WRONG_PEER);
            return false;
        }
        consumer.release();
        helloSeen = true;
        return true;
    }

    /** Receives messages while there are receive tasks for them. */
    boolean receive() {
        boolean moved = false;
        for (int i = 0; i < MESSAGES_PER_PROGRESS && !connection.isEnding(); i++) {
            long at = consumer.poll();
            if (at == MessageRing.EMPTY) {
                break;
            }
            if (at == MessageRing.CORRUPT) {
                connection.protocolError("own ring, " + consumer.violation());
                break;
            }
            if (!take(at)) {
                break;
            }
            moved = true;
        }
        return moved;
    }

    /** Whether no fragment can be received now: the ring is empty, or no receive task is posted. */
    boolean isDrained() {
        return consumer.poll() < 0 || (current == null && receives.isEmpty());
    }

    /** Receives one fragment; false if it has to wait, or the connection has to end. */
    private boolean take(long at) {
        int type = consumer.type();
        int opcode = type & ShmWire.OPCODE_MASK;
        boolean first = (type & ShmWire.FLAG_FIRST) != 0;
        boolean last = (type & ShmWire.FLAG_LAST) != 0;
        if ((type & ~(ShmWire.OPCODE_MASK | ShmWire.FLAG_FIRST | ShmWire.FLAG_LAST)) != 0
                || first != (current == null)
                || (first ? !isMessage(opcode) : opcode != currentOpcode)) {
            connection.protocolError(
                    Text.format(
                            "fragment type is wrong: type=0x%x, expected=a message's %s fragment",
                            type, current == null ? "first" : "later"));
            return false;
        }
        if (opcode == ShmWire.OPCODE_WRITE_IMMEDIATE) {
            return takeImmediate(last, consumer.length(), consumer.word());
        }
        if (current == null && !begin(opcode, consumer.word())) {
            return false;
        }
        WorkRequest request = current;
        if (request == null || (!first && consumer.word() != receivedBytes)) {
            connection.protocolError(
                    Text.format(
                            "fragment offset is wrong: offsetBytes=%d, expected=%d",
                            consumer.word(), receivedBytes));
            return false;
        }
        int length = consumer.length();
        if (length != Math.min(maxPayloadBytes, messageBytes - receivedBytes)
                || last != (receivedBytes + length == messageBytes)) {
            connection.protocolError(
                    Text.format(
                            "fragment length is wrong: lengthBytes=%d, last=%b, offsetBytes=%d,"
                                    + " messageBytes=%d",
                            length, last, receivedBytes, messageBytes));
            return false;
        }
        scatter(at, length, request.local);
        receivedBytes += length;
        consumer.release();
        if (last) {
            current = null;
            request.resultLengthBytes = messageBytes;
            request.immediate = currentImmediate;
            connection.received(request, Status.SUCCESS);
        }
        return true;
    }

    /** Copies the payload of a fragment to where the position of the list is. */
    private void scatter(long from, int length, LocalList to) {
        long at = from;
        int left = length;
        while (left > 0) {
            int piece = (int) Math.min(left, to.pieceBytes());
            copier.message(consumer.segment(), at, to.piece(), to.pieceOffset(), piece);
            to.advance(piece);
            at += piece;
            left -= piece;
        }
    }

    private static boolean isMessage(int opcode) {
        return opcode == ShmWire.OPCODE_SEND
                || opcode == ShmWire.OPCODE_SEND_IMMEDIATE
                || opcode == ShmWire.OPCODE_WRITE_IMMEDIATE;
    }

    /**
     * Completes a receive task with the value of a write; false if it has to wait, or the
     * connection has to end. The length is the peer's statement: nothing here is read or written by
     * it.
     */
    private boolean takeImmediate(boolean last, int payloadBytes, long word) {
        if (!writesGranted) {
            connection.protocolError(
                    Text.format(
                            "write with immediate is not granted: opcode=%d, expected=RDMA_WRITE in"
                                    + " Rdma.setPermissions",
                            ShmWire.OPCODE_WRITE_IMMEDIATE));
            return false;
        }
        if (!last || payloadBytes != 0) {
            connection.protocolError(
                    Text.format(
                            "fragment of a write has a payload: lengthBytes=%d, last=%b, expected=0"
                                    + " and the last",
                            payloadBytes, last));
            return false;
        }
        if (!isLengthLegal(word)) {
            return false;
        }
        WorkRequest request = takeReceive();
        if (request == null) {
            return false;
        }
        consumer.release();
        request.resultOpcode = ReceivedOpcode.WRITE_IMMEDIATE;
        request.resultLengthBytes = ShmWire.messageLength(word);
        request.immediate = ShmWire.immediate(word);
        connection.received(request, Status.SUCCESS);
        return true;
    }

    /**
     * Takes a receive task for a new message; false if there is none, or the message does not fit.
     */
    private boolean begin(int opcode, long word) {
        if (!isLengthLegal(word)) {
            return false;
        }
        boolean send = opcode == ShmWire.OPCODE_SEND;
        if (send && ShmWire.immediate(word) != 0) {
            connection.protocolError(
                    Text.format(
                            "send has an immediate: immediate=%d, expected=0",
                            ShmWire.immediate(word)));
            return false;
        }
        WorkRequest request = takeReceive();
        if (request == null) {
            return false;
        }
        long length = ShmWire.messageLength(word);
        request.resultOpcode = send ? ReceivedOpcode.SEND : ReceivedOpcode.SEND_IMMEDIATE;
        if (length > request.lengthBytes) {
            connection.end(CloseReason.LOCAL_RECEIVE_TOO_SMALL);
            connection.received(request, Status.TOO_BIG);
            return false;
        }
        request.local.rewind();
        current = request;
        currentOpcode = opcode;
        currentImmediate = ShmWire.immediate(word);
        messageBytes = length;
        receivedBytes = 0;
        return true;
    }

    private boolean isLengthLegal(long word) {
        long length = ShmWire.messageLength(word);
        if (length > ShmWire.MAX_MESSAGE_BYTES) {
            connection.protocolError(
                    Text.format(
                            "message is too large: lengthBytes=%d, limit=%d",
                            length, ShmWire.MAX_MESSAGE_BYTES));
            return false;
        }
        return true;
    }

    /** The oldest receive task; null if there is none. */
    private @Nullable WorkRequest takeReceive() {
        WorkRequest request = receives.poll();
        if (request != null) {
            messagesTaken++;
            connection.endpoint().receiveTaken();
        }
        return request;
    }

    /**
     * Publishes the number of messages that the peer may send with a receive task for each.
     *
     * @return whether the peer may wait for that: each receive of the limit before was taken. While
     *     one is left the peer is woken by the release of a message, if it has sent as many
     */
    boolean publishReceiveLimit() {
        boolean usedUp = publishedLimit <= messagesTaken;
        publishedLimit = messagesTaken + receives.size();
        LONG.setRelease(region, ShmWire.RECEIVE_LIMIT_OFFSET, publishedLimit);
        return usedUp && publishedLimit > messagesTaken;
    }

    /** Whether the peer sleeps, and waits for this side to release messages or post receives. */
    boolean isPeerAsleep() {
        return consumer.peerArmed();
    }

    /** Whether messages were released since the last call, and the peer sleeps until that. */
    boolean isAcknowledgementAwaited() {
        if (consumer.consumed() == releasedAtDoorbell) {
            return false;
        }
        releasedAtDoorbell = consumer.consumed();
        return consumer.peerArmed();
    }

    /** Publishes the end of this side to the peer, and fails the receive in progress. */
    void end(CloseReason cause) {
        consumer.setStatus(cause.wireStatus);
        WorkRequest request = current;
        if (request != null) {
            current = null;
            connection.received(request, cause.taskStatus);
        }
    }

    /** Requests a doorbell for messages that could be received; true if there is one already. */
    boolean arm() {
        boolean wanted = !helloSeen || current != null || !receives.isEmpty();
        return wanted && consumer.arm();
    }

    void disarm() {
        consumer.disarm();
    }
}
