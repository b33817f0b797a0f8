package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.ring.MessageRing;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The two rings and the link of an established connection: sends, receives, dispatches and ends as
 * {@code docs/wire/comch.md} says.
 *
 * <p>The thread of the connection's engine; callbacks run inside progress only.
 */
final class Channel {
    private enum Phase {
        /** Messages go both ways. */
        OPEN,
        /**
         * One side has begun to disconnect: what is under way is delivered, nothing new is taken.
         */
        CLOSING,
        /** Everything was given up. */
        CLOSED
    }

    /** Messages of one progress, so that a busy peer does not keep the engine from the rest. */
    private static final int RECEIVE_BATCH = 64;

    private final ComchConnection connection;
    private final EndpointServices services;
    private final Copier copier;
    private final ConsumerDirectory directory;
    private final ControlQueue control = new ControlQueue();
    private final SendWindow window;
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
    private boolean released;

    /**
     * Takes link, memory and ring over, unless it throws, and begins to listen for the doorbell.
     *
     * @param remote the peer's terms; they have been checked against the size of its memory
     */
    Channel(
            ComchConnection connection,
            Attachment attachment,
            InboundRing inboundRing,
            ChannelTerms remote) {
        this.connection = connection;
        this.services = connection.services();
        this.copier = services.copier();
        this.directory = new ConsumerDirectory(connection, control);
        this.window = new SendWindow(remote.receiveQueue());
        this.maxMessageBytes = remote.maxMessageBytes();
        this.link = attachment.link();
        this.outboundMemory = attachment.remote();
        this.outbound = MessageRing.producer(outboundMemory.segment(), remote.ring());
        this.inboundRing = inboundRing;
        this.inbound = inboundRing.ring();
        // It ends the engine's sleep: each progress of the channel looks at the time.
        this.closeTimer = services.timer(() -> {});
        services.doorbells().add(link); // the last that can fail
        connection.established(this, directory);
        link.onPeerGone(services::wake);
    }

    /** Copies a message into the peer's ring. */
    Status send(SendTask task, MemorySegment memory, long offset, int length) {
        if (phase != Phase.OPEN) {
            return Status.NOT_CONNECTED;
        }
        if (length > maxMessageBytes) {
            return Status.INVALID_VALUE;
        }
        if (link.peerGone() || outbound.corrupt()) {
            return Status.CONNECTION_RESET;
        }
        if (window.isFull()) {
            return Status.AGAIN;
        }
        long room = outbound.claim();
        if (room < 0) {
            return room == MessageRing.FULL ? Status.AGAIN : Status.CONNECTION_RESET;
        }
        copier.message(memory, offset, outbound.segment(), room, length);
        outbound.commit(MessageType.DATA.code(), length, 0);
        window.add(task, outbound.produced());
        committed = true;
        return Status.SUCCESS;
    }

    /** Begins the orderly end on the user's wish. */
    Status disconnect() {
        if (phase != Phase.OPEN) {
            return Status.NOT_CONNECTED;
        }
        if (directory.inUse()) {
            return Status.IN_USE;
        }
        if (window.isFull() || !control.isEmpty()) {
            return Status.AGAIN;
        }
        beginClosing();
        return Status.SUCCESS;
    }

    /** Begins the orderly end, whatever the queues hold, because the context stops. */
    void stop() {
        if (phase == Phase.OPEN) {
            beginClosing();
        }
    }

    boolean inUse() {
        return directory.inUse();
    }

    /** Does what there is to do; inside progress. */
    boolean progress() {
        if (phase == Phase.CLOSED) {
            return false;
        }
        boolean worked = receive();
        if (phase != Phase.CLOSED) {
            worked |= completeDelivered();
        }
        if (phase != Phase.CLOSED && control.drainTo(outbound)) {
            committed = true;
            worked = true;
        }
        if (phase != Phase.CLOSED) {
            ringPeer();
            worked |= checkEnd();
        }
        return worked;
    }

    /** Asks for doorbells; true if there is something to do already. */
    boolean arm() {
        if (phase == Phase.CLOSED) {
            return false;
        }
        boolean ready = inbound.arm();
        ready |= committed || released || link.peerGone();
        if (!window.isEmpty() || !control.isEmpty() || phase == Phase.CLOSING) {
            ready |= outbound.arm();
            // A claim may have read the index after the deliveries were looked at: then it is no
            // news to the ring that the peer has released a message, but it is to its task.
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

    /** The peer did what no correct peer does: ends the connection at once. Inside progress. */
    void broken(String reason) {
        if (phase != Phase.CLOSED) {
            close(
                    new DpuException(
                            Status.CONNECTION_RESET,
                            "peer broke the protocol: %s, connection=%s"
                                    .formatted(reason, connection)));
        }
    }

    private boolean receive() {
        boolean worked = false;
        for (int i = 0; i < RECEIVE_BATCH; i++) {
            // What a peer left behind counts as undelivered on its side: nobody may see it here.
            long payload = link.peerGone() ? MessageRing.EMPTY : inbound.poll();
            if (payload < 0) {
                break;
            }
            worked = true;
            String violation = dispatch(payload);
            if (violation != null) {
                broken(violation);
            }
            if (phase == Phase.CLOSED) {
                break;
            }
            inbound.release();
            released = true;
        }
        return worked;
    }

    /** Handles one message; returns what is wrong with it, or null. */
    private @Nullable String dispatch(long payload) {
        MessageType type = MessageType.ofCode(inbound.type());
        int length = inbound.length();
        long word = inbound.word();
        if (type == null) {
            return "message type=" + inbound.type();
        }
        if (disconnectReceived) {
            return "message after the disconnect, type=" + type;
        }
        if (type == MessageType.DATA) {
            if (length > maxMessageBytes || word != 0) {
                return "illegal data message, length=" + length + ", word=" + word;
            }
            copier.message(inbound.segment(), payload, services.scratch(), 0, length);
            connection.received(length);
            services.deliver(connection, length);
            return null;
        }
        if (type == MessageType.DISCONNECT) {
            if (length != 0 || word != 0) {
                return "illegal disconnect, length=" + length + ", word=" + word;
            }
            disconnectReceived = true;
            if (phase == Phase.OPEN) {
                beginClosing();
            }
            return null;
        }
        copier.message(inbound.segment(), payload, services.scratch(), 0, length);
        return directory.handle(
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
        SendTask task;
        while ((task = window.takeDelivered(releasedByPeer)) != null) {
            worked = true;
            connection.delivered(task.length());
            task.finish(Status.SUCCESS);
        }
        return worked;
    }

    private void ringPeer() {
        // Both questions are asked, since each disarms: the peer sleeps on one doorbell.
        boolean ring = committed && outbound.peerArmed();
        ring |= released && inbound.peerArmed();
        committed = false;
        released = false;
        if (ring) {
            link.ring();
        }
    }

    private boolean checkEnd() {
        if (inbound.corrupt() || outbound.corrupt()) {
            broken("ring, " + (inbound.corrupt() ? inbound.violation() : outbound.violation()));
            return true;
        }
        if (link.peerGone()) {
            peerGone();
            return true;
        }
        if (phase != Phase.CLOSING) {
            return false;
        }
        if (handedOver()) {
            close(null);
            return true;
        }
        if (System.nanoTime() - closeDeadlineNanos >= 0) {
            close(
                    new DpuException(
                            Status.CONNECTION_ABORTED,
                            "peer did not answer the disconnect in time: connection="
                                    + connection));
            return true;
        }
        return false;
    }

    private void peerGone() {
        completeDelivered(); // the last that it released before it went
        if (phase == Phase.CLOSED) {
            return;
        }
        if (phase == Phase.CLOSING && handedOver()) {
            close(null);
        } else {
            close(
                    new DpuException(
                            Status.CONNECTION_RESET, "peer ended: connection=" + connection));
        }
    }

    private boolean handedOver() {
        return disconnectReceived
                && control.isEmpty()
                && outbound.consumed() == outbound.produced()
                && window.isEmpty();
    }

    private void beginClosing() {
        phase = Phase.CLOSING;
        closeDeadlineNanos = System.nanoTime() + services.controlTimeoutNanos();
        closeTimer.set(services.controlTimeoutNanos());
        connection.closing();
        directory.closing();
        control.offerLast(MessageType.DISCONNECT, 0);
    }

    /** Gives everything up and tells everybody; null for an orderly end. Inside progress. */
    private void close(@Nullable DpuException failure) {
        phase = Phase.CLOSED;
        closeTimer.cancel();
        connection.ended(failure);
        services.doorbells().remove(link);
        link.close();
        services.bus().release(outboundMemory);
        inboundRing.release();
        Status ended = failure == null ? Status.SHUTDOWN : failure.status();
        SendTask task;
        while ((task = window.take()) != null) {
            task.finish(ended);
        }
        directory.close();
        connection.context().ended(this, connection, failure);
    }
}
