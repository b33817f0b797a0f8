package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Data and control path of an established connection, over two rings and a link: sends, receives,
 * dispatches and closes as {@code docs/wire/comch.md} specifies.
 *
 * <p>Belongs to the thread of the connection's engine; callbacks run inside progress only.
 */
final class Channel {
    private enum Phase {
        /** Both sides may send. */
        OPEN,
        /**
         * One side has begun to disconnect: messages in flight are delivered, new ones are refused.
         */
        CLOSING,
        /** All resources have been released. */
        CLOSED
    }

    /**
     * Messages received per progress, so that a busy peer does not starve the engine's other
     * contexts.
     */
    private static final int RECEIVE_BATCH = 64;

    private final ComchConnection connection;
    private final EndpointServices services;
    private final Copier copier;
    private final ConsumerRegistry registry;
    private final ControlQueue control = new ControlQueue();
    private final SendWindow window;
    private final Refusal windowFull;
    private final Refusal ringFull;
    private final Refusal queuedBefore;
    private final Refusal queueFull;
    private final SendQueue queue;
    private final int maxMessageBytes;
    private final Link link;
    private final SharedSegment outboundMemory;
    private final MessageRing.Producer outbound;
    private final InboundRing inboundRing;
    private final MessageRing.Consumer inbound;
    private final EngineTimer closeTimer;
    private Phase phase = Phase.OPEN;
    private boolean disconnectReceived;
    private long closeDeadlineNanos;
    private boolean committed;

    /** Whether a send has found the peer's ring full, of which no send in flight would tell. */
    private boolean waitsForSlot;

    /** Whether the queue was full since the last callback for room: the next is due. */
    private boolean roomAwaited;

    /** Whether to disconnect when the queue is empty. */
    private boolean disconnectQueued;

    /**
     * Takes ownership of link, memory and ring, unless it throws, and watches the doorbell.
     *
     * @param remote the peer's terms, already checked against the size of its memory
     */
    Channel(
            ComchConnection connection,
            Attachment attachment,
            InboundRing inboundRing,
            ChannelTerms remote) {
        this.connection = connection;
        this.services = connection.services();
        this.copier = services.copier();
        this.registry = new ConsumerRegistry(connection, control);
        this.window = new SendWindow(remote.receiveQueue());
        this.windowFull =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                Text.format(
                                        "receive queue of the peer is full: messages=%d,"
                                                + " receiveQueueSize=%d, expected=a completed send"
                                                + " first",
                                        remote.receiveQueue(), remote.receiveQueue()));
        this.ringFull =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                Text.format(
                                        "ring to the peer is full: messages=%d, slots=%d,"
                                                + " expected=a message received by the peer first",
                                        remote.ring().slots(), remote.ring().slots()));
        this.queue = services.sendQueue(remote.maxMessageBytes());
        this.queuedBefore =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                Text.format(
                                        "messages of ComchConnection.send wait: messages=%d,"
                                                + " expected=a task after them",
                                        queue.messages()));
        this.queueFull =
                Refusal.ready(
                        Status.FULL,
                        () ->
                                Text.format(
                                        "send queue is full: connection=%s, messages=%d,"
                                                + " sendQueueMessages=%d, queuedBytes=%d,"
                                                + " sendQueueBytes=%d, expected=the writable"
                                                + " callback first, or a larger setSendQueue",
                                        connection,
                                        queue.messages(),
                                        queue.maxMessages(),
                                        queue.bytes(),
                                        queue.maxBytes()));
        this.maxMessageBytes = remote.maxMessageBytes();
        this.link = attachment.link();
        this.outboundMemory = attachment.remote();
        this.outbound = MessageRing.producer(outboundMemory.segment(), remote.ring());
        this.inboundRing = inboundRing;
        this.inbound = inboundRing.ring();
        // Only ends the engine's sleep: each progress of the channel compares the time itself.
        this.closeTimer = services.timer(() -> {});
        services.doorbells().add(link); // the last step that can fail
        connection.established(this, registry);
        link.onPeerGone(services::wake);
    }

    /** Copies the message of a task into the peer's ring. */
    @Nullable Refusal send(SendTask task, MemorySegment memory, long offset, int length) {
        Refusal refusal = refuse(length);
        if (refusal != null) {
            return refusal;
        }
        return queue.isEmpty() ? put(task, memory, offset, length) : queuedBefore;
    }

    /** Copies a message into the peer's ring, or to the queue if it has to wait. */
    @Nullable Refusal send(MemorySegment memory, long offset, int length) {
        Refusal refusal = refuse(length);
        if (refusal == null && queue.isEmpty()) {
            refusal = put(null, memory, offset, length);
            if (refusal == null) {
                return null;
            }
            if (refusal.status() == Status.AGAIN) {
                refusal = null;
            }
        }
        if (refusal == null && !queue.add(memory, offset, length)) {
            roomAwaited = true;
            refusal = queueFull;
        }
        return refusal;
    }

    /** Whether the queue has room for the longest message; if not, a callback follows. */
    boolean isWritable() {
        if (phase != Phase.OPEN) {
            return false;
        }
        boolean room = queue.hasRoom();
        roomAwaited |= !room;
        return room;
    }

    private @Nullable Refusal refuse(int length) {
        if (phase != Phase.OPEN) {
            return connection.notConnected();
        }
        if (length > maxMessageBytes) {
            return tooLong(length);
        }
        return link.peerGone() || outbound.corrupt() ? reset() : null;
    }

    /** Copies a message into the peer's ring, unless it is full. */
    private @Nullable Refusal put(
            @Nullable SendTask task, MemorySegment memory, long offset, int length) {
        if (window.isFull()) {
            return windowFull;
        }
        long slotOffset = outbound.claim();
        if (slotOffset < 0) {
            waitsForSlot = slotOffset == MessageRing.FULL;
            return waitsForSlot ? ringFull : reset();
        }
        waitsForSlot = false;
        copier.message(memory, offset, outbound.segment(), slotOffset, length);
        committed(task, length);
        return null;
    }

    private void committed(@Nullable SendTask task, int length) {
        outbound.commit(MessageType.DATA.code(), length, 0);
        window.add(task, length, outbound.produced());
        committed = true;
    }

    /**
     * Sends what is queued, as far as the peer has room, then what follows it. Inside progress;
     * called with a queue that is not empty, as whatever follows was requested while it was not.
     */
    private boolean sendQueued() {
        boolean worked = false;
        while (!queue.isEmpty() && !window.isFull() && !link.peerGone()) {
            long slotOffset = outbound.claim();
            if (slotOffset < 0) { // or the peer has violated the protocol, which is found next
                waitsForSlot = slotOffset == MessageRing.FULL;
                break;
            }
            committed(null, queue.moveFirst(outbound.segment(), slotOffset));
            worked = true;
        }
        if (disconnectQueued && queue.isEmpty()) {
            disconnectQueued = false;
            control.offerLast(MessageType.DISCONNECT, 0);
        }
        if (roomAwaited && phase == Phase.OPEN && queue.isHalfEmpty()) {
            roomAwaited = false;
            worked = true;
            services.writable(connection);
        }
        return worked;
    }

    private Refusal tooLong(int length) {
        return Refusal.of(
                Status.INVALID_VALUE,
                "message length %d > %d: connection=%s, expected=%d bytes at most, the maximum"
                        + " message size of both sides",
                length,
                maxMessageBytes,
                connection,
                maxMessageBytes);
    }

    /** The refusal after the peer has ended or violated the protocol, before progress sees it. */
    private Refusal reset() {
        return Refusal.of(
                Status.CONNECTION_RESET,
                "%s: connection=%s, expected=a new connection",
                link.peerGone()
                        ? "peer has ended"
                        : "peer violated the protocol, " + outbound.violation(),
                connection);
    }

    /** Begins an orderly close for the user. */
    Status disconnect() {
        if (phase != Phase.OPEN) {
            return Status.NOT_CONNECTED;
        }
        if (registry.inUse()) {
            return Status.IN_USE;
        }
        beginClosing();
        return Status.SUCCESS;
    }

    /** Begins an orderly close because the context stops, whatever the queues hold. */
    void stop() {
        if (phase == Phase.OPEN) {
            beginClosing();
        }
    }

    boolean inUse() {
        return registry.inUse();
    }

    /** The active producers and consumers, for a message. */
    String describeUsers() {
        return registry.describeUsers();
    }

    boolean isPeerGone() {
        return link.peerGone();
    }

    /** Receives, completes sends, and checks for the end. Inside progress. */
    boolean progress() {
        if (phase == Phase.CLOSED) {
            return false;
        }
        boolean worked = receive();
        if (phase != Phase.CLOSED) {
            worked |= completeDelivered();
        }
        if (!queue.isEmpty() && phase != Phase.CLOSED) {
            worked |= sendQueued();
        }
        if (phase != Phase.CLOSED && control.drainTo(outbound)) {
            committed = true;
            worked = true;
        }
        if (phase != Phase.CLOSED) {
            ringPeer(!worked);
            if (waitsForSlot && outbound.free() > 0) {
                waitsForSlot = false;
                worked = true;
            }
            worked |= checkEnd();
        }
        return worked;
    }

    /** Requests doorbells; true if there is work already. */
    boolean arm() {
        if (phase == Phase.CLOSED) {
            return false;
        }
        boolean ready = inbound.arm();
        ready |= committed || inbound.isPeerToBeAsked(true) || link.peerGone();
        // Control messages come from outside of the channel's pass, too, as from the mailbox.
        boolean waiting =
                waitsForSlot || !control.isEmpty() || (!queue.isEmpty() && !window.isFull());
        if (!window.isEmpty() || waiting || phase == Phase.CLOSING) {
            ready |= outbound.arm();
            ready |= waiting && outbound.free() > 0;
            // A claim may have read the peer's index after completeDelivered(): then the ring has
            // seen the release already, but the task has not been completed.
            ready |= window.hasDelivered(outbound.consumed());
        }
        return ready;
    }

    void disarm() {
        if (phase != Phase.CLOSED) {
            inbound.disarm();
            outbound.disarm();
        }
    }

    /** The peer violated the protocol: closes the connection at once. Inside progress. */
    void protocolViolated(String reason) {
        if (phase != Phase.CLOSED) {
            close(
                    new DpuException(
                            Status.CONNECTION_RESET,
                            Text.format(
                                    "peer violated the protocol: %s, connection=%s",
                                    reason, connection)));
        }
    }

    private boolean receive() {
        boolean worked = false;
        for (int i = 0; i < RECEIVE_BATCH; i++) {
            // Messages of a lost peer count as undelivered on its side, so they must not be
            // received.
            long payload = link.peerGone() ? MessageRing.EMPTY : inbound.poll();
            if (payload < 0) {
                break;
            }
            worked = true;
            String violation = dispatch(payload);
            if (violation != null) {
                protocolViolated(violation);
            }
            if (phase == Phase.CLOSED) {
                break;
            }
            inbound.release();
        }
        return worked;
    }

    /** Handles one message; returns the violation in it, or null. */
    private @Nullable String dispatch(long payload) {
        MessageType type = MessageType.ofCode(inbound.type());
        int length = inbound.length();
        long word = inbound.word();
        if (type == null) {
            return "message type is unknown, type=" + inbound.type();
        }
        if (disconnectReceived) {
            return "message after the disconnect, type=" + type;
        }
        if (type == MessageType.DATA) {
            if (length > maxMessageBytes || word != 0) {
                return "illegal data message, lengthBytes=" + length + ", word=" + word;
            }
            copier.message(inbound.segment(), payload, services.scratch(), 0, length);
            connection.received(length);
            services.deliver(connection, length);
            return null;
        }
        if (type == MessageType.DISCONNECT) {
            if (length != 0 || word != 0) {
                return "illegal disconnect, lengthBytes=" + length + ", word=" + word;
            }
            disconnectReceived = true;
            if (phase == Phase.OPEN) {
                beginClosing();
            }
            return null;
        }
        copier.message(inbound.segment(), payload, services.scratch(), 0, length);
        return registry.handle(
                type,
                ControlWord.consumerId(word),
                ControlWord.statusCode(word),
                services.scratch(),
                length);
    }

    private boolean completeDelivered() {
        if (window.isEmpty()) {
            return false;
        }
        boolean worked = false;
        long releasedByPeer = outbound.consumed();
        while (window.hasDelivered(releasedByPeer)) {
            worked = true;
            connection.delivered(window.firstLength());
            SendTask task = window.take();
            if (task != null) {
                task.finish(Status.SUCCESS);
            }
        }
        return worked;
    }

    private void ringPeer(boolean idle) {
        // Query both rings, since each query disarms one: the peer sleeps on a single doorbell.
        boolean ring = committed && outbound.peerArmed();
        ring |= inbound.isPeerToBeAsked(idle) && inbound.peerArmed();
        committed = false;
        if (ring) {
            link.ring();
        }
    }

    private boolean checkEnd() {
        if (inbound.corrupt() || outbound.corrupt()) {
            protocolViolated(
                    "ring, " + (inbound.corrupt() ? inbound.violation() : outbound.violation()));
            return true;
        }
        if (link.peerGone()) {
            peerGone();
            return true;
        }
        if (phase != Phase.CLOSING) {
            return false;
        }
        if (isDrained()) {
            close(null);
            return true;
        }
        if (System.nanoTime() - closeDeadlineNanos >= 0) {
            close(
                    new DpuException(
                            Status.CONNECTION_ABORTED,
                            Text.format(
                                    "peer did not reply to the disconnect in time: connection=%s,"
                                            + " undeliveredMessages=%d, expected=a peer that"
                                            + " receives, or a longer setControlTimeout",
                                    connection, window.messages() + queue.messages())));
            return true;
        }
        return false;
    }

    private void peerGone() {
        completeDelivered(); // messages that it released before it ended
        if (phase == Phase.CLOSED) {
            return;
        }
        if (phase == Phase.CLOSING && isDrained()) {
            close(null);
        } else {
            close(
                    new DpuException(
                            Status.CONNECTION_RESET, "peer ended: connection=" + connection));
        }
    }

    private boolean isDrained() {
        return disconnectReceived
                && !disconnectQueued
                && control.isEmpty()
                && outbound.consumed() == outbound.produced()
                && window.isEmpty();
    }

    private void beginClosing() {
        phase = Phase.CLOSING;
        closeDeadlineNanos = System.nanoTime() + services.controlTimeoutNanos();
        closeTimer.setAt(closeDeadlineNanos);
        connection.closing();
        registry.closing();
        if (queue.isEmpty()) {
            control.offerLast(MessageType.DISCONNECT, 0);
        } else {
            disconnectQueued = true;
        }
    }

    /** Releases all resources and notifies tasks, consumers and the context. Inside progress. */
    private void close(@Nullable DpuException failure) {
        phase = Phase.CLOSED;
        closeTimer.cancel();
        connection.ended(failure);
        services.doorbells().remove(link);
        link.close();
        services.bus().release(outboundMemory);
        inboundRing.release();
        Status ended = failure == null ? Status.SHUTDOWN : failure.status();
        while (!window.isEmpty()) {
            SendTask task = window.take();
            if (task != null) {
                task.finish(ended);
            }
        }
        registry.close();
        connection.context().ended(this, connection, failure);
    }
}
