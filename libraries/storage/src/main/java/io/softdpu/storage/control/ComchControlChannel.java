package io.softdpu.storage.control;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.wire.ControlCodec;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Base class of both sides of a Comch control channel. A frame that is longer than a Comch message
 * is sent in several messages, which the receiver reassembles. What the peer has no room for waits
 * in the send queue of the connection, which the progress of the engine empties.
 */
public abstract class ComchControlChannel extends AbstractControlChannel {
    /** Bytes of all frames that may wait, and of one that is too many, for the final error. */
    private static final int MAX_UNSENT_BYTES =
            (MAX_UNSENT_MESSAGES + 1) * (ControlCodec.WIRE_SIZE_BYTES + ControlCodec.MAX_WIRE_SIZE);

    /** Progress rounds per call, so that a busy peer does not block the thread. */
    private static final int MAX_ROUNDS = 256;

    private final ProgressEngine engine;
    private final ComchEndpoint endpoint;
    private final Duration closeTimeout;

    /** For each frame that was not delivered completely, the messages sent up to its end. */
    private final ArrayDeque<Long> unsentFrames = new ArrayDeque<>();

    private long messages;
    private volatile @Nullable ComchConnection connection;

    ComchControlChannel(
            ProgressEngine engine,
            ComchEndpoint endpoint,
            ConsumerListener consumers,
            Duration closeTimeout) {
        this.engine = engine;
        this.endpoint = endpoint;
        this.closeTimeout = closeTimeout;
        // A frame finds the queue full only where a card's messages have a few bytes; its memory
        // grows to what is needed.
        endpoint.setSendQueue(
                Math.min(
                        ComchEndpoint.MAX_SEND_QUEUE_MESSAGES,
                        MAX_UNSENT_BYTES / endpoint.maxMessageBytes() + MAX_UNSENT_MESSAGES + 1),
                MAX_UNSENT_BYTES);
        endpoint.setMessageCallback((_, message) -> receivedMessage(message));
        endpoint.setConsumerCallbacks(
                (_, id) -> consumers.consumerAdded(id), (_, id) -> consumers.consumerExpired(id));
        endpoint.setControlTimeout(closeTimeout);
    }

    /**
     * The connection, for producers and consumers.
     *
     * @throws DpuException NOT_CONNECTED before the peer is connected
     */
    public final ComchConnection connection() {
        ComchConnection present = connection;
        if (present == null) {
            throw new DpuException(
                    Status.NOT_CONNECTED, "peer is not connected yet: peer=" + description());
        }
        return present;
    }

    @Override
    public final boolean isConnected() {
        ComchConnection present = connection;
        return present != null && present.isConnected() && !hasFailed();
    }

    @Override
    public final void wakeup() {
        engine.wake();
    }

    /** Checks whether the peer has connected or ended. */
    abstract void checkPeer();

    @Override
    final void pump() {
        for (int round = 0; round < MAX_ROUNDS && !isInboxFull() && engine.progress(); round++) {
            // All work is done in the callbacks.
        }
        checkPeer();
    }

    @Override
    final void refresh() {
        checkPeer();
    }

    @Override
    final void awaitTransport(Duration timeout) {
        engine.await(timeout);
    }

    @Override
    final void send(byte[] frame) {
        ComchConnection to = connection();
        int limit = endpoint.maxMessageBytes();
        for (int at = 0; at < frame.length; at += limit) {
            int length = Math.min(limit, frame.length - at);
            Status status = to.trySend(MemorySegment.ofArray(frame), at, length);
            if (status != Status.SUCCESS) {
                sendingFailed(to, status);
                return;
            }
            messages++;
        }
        unsentFrames.addLast(messages);
    }

    @Override
    final int unsent() {
        ComchConnection to = connection;
        while (to != null
                && !unsentFrames.isEmpty()
                && unsentFrames.element() <= to.sentMessages()) {
            unsentFrames.remove();
        }
        return unsentFrames.size();
    }

    final ComchEndpoint endpoint() {
        return endpoint;
    }

    final void peerArrived(ComchConnection accepted) {
        connection = accepted;
    }

    final void peerLost(@Nullable DpuException reason) {
        fail(peerGone(reason));
    }

    final @Nullable ComchConnection peer() {
        return connection;
    }

    @Override
    final void closeTransport() {
        // The endpoint itself stops waiting for its peer after the timeout.
        Deadline deadline = Deadline.in(twice(closeTimeout));
        endpoint.stop();
        WaitLoop.await(() -> endpoint.state() == ContextState.IDLE, deadline, engine::await);
        endpoint.close();
    }

    private static Duration twice(Duration timeout) {
        Duration most = Deadline.NO_LIMIT;
        return timeout.compareTo(most) < 0 ? timeout.multipliedBy(2) : most;
    }

    private void sendingFailed(ComchConnection to, Status status) {
        fail(
                status == Status.CONNECTION_RESET || status == Status.NOT_CONNECTED
                        ? peerGone(to.failure())
                        : new DpuException(
                                status, "control message could not be sent: to=" + description()));
    }

    private void receivedMessage(MemorySegment message) {
        receivedAll(message.asByteBuffer());
    }
}
