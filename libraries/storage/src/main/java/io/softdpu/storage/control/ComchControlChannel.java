package io.softdpu.storage.control;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Base class of both sides of a Comch control channel. A frame that is longer than a Comch message
 * is sent in several messages, which the receiver reassembles.
 */
public abstract class ComchControlChannel extends AbstractControlChannel {
    static final int SEND_TASKS = 16;

    /** Progress rounds per call, so that a busy peer does not block the thread. */
    private static final int MAX_ROUNDS = 256;

    private final ProgressEngine engine;
    private final ComchEndpoint endpoint;
    private final Duration closeTimeout;
    private final ArrayDeque<Piece> unsentPieces = new ArrayDeque<>();
    private int unsentFrames;
    private volatile @Nullable ComchConnection connection;

    /** Part of a frame. */
    private static final class Piece {
        final byte[] bytes;
        final boolean last;

        Piece(byte[] bytes, boolean last) {
            this.bytes = bytes;
            this.last = last;
        }
    }

    ComchControlChannel(
            ProgressEngine engine,
            ComchEndpoint endpoint,
            ConsumerListener consumers,
            Duration closeTimeout) {
        this.engine = engine;
        this.endpoint = endpoint;
        this.closeTimeout = closeTimeout;
        endpoint.setSendTasks(SEND_TASKS, this::sent, this::sendFailed);
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
        sendPieces();
        for (int round = 0; round < MAX_ROUNDS && !isInboxFull() && engine.progress(); round++) {
            // All work is done in the callbacks.
        }
        sendPieces();
        checkPeer();
    }

    @Override
    final void refresh() {
        checkPeer();
    }

    @Override
    final void sendEnqueued() {
        sendPieces();
    }

    /** Includes a progress, which rings the doorbell of a sleeping peer. */
    @Override
    final void transmit() {
        sendPieces();
        if (!isInboxFull()) {
            engine.progress();
            sendPieces();
        }
        checkPeer();
    }

    @Override
    final void awaitTransport(Duration timeout) {
        engine.await(timeout);
    }

    @Override
    final void enqueue(byte[] frame) {
        int limit = endpoint.maxMessageBytes();
        unsentFrames++;
        for (int at = 0; at < frame.length; at += limit) {
            int length = Math.min(limit, frame.length - at);
            byte[] piece = new byte[length];
            System.arraycopy(frame, at, piece, 0, length);
            unsentPieces.addLast(new Piece(piece, at + length == frame.length));
        }
    }

    @Override
    final int unsent() {
        return unsentFrames;
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

    private void sendPieces() {
        ComchConnection to = connection;
        while (to != null && !hasFailed()) {
            Piece piece = unsentPieces.peekFirst();
            if (piece == null || endpoint.inFlightTasks() >= SEND_TASKS) {
                return;
            }
            ComchSendTask task = endpoint.allocateSendTask(to);
            task.setMessage(piece.bytes);
            task.setUserData(piece.last ? 1 : 0);
            Status status = task.trySubmit();
            if (status == Status.SUCCESS) {
                unsentPieces.removeFirst();
                continue;
            }
            task.free();
            if (status != Status.AGAIN) {
                sendingFailed(status);
            }
            return;
        }
    }

    private void sent(ComchSendTask task) {
        if (task.userData() == 1) {
            unsentFrames--;
        }
        task.free();
    }

    private void sendFailed(ComchSendTask task) {
        Status status = task.status();
        task.free();
        sendingFailed(status);
    }

    private void sendingFailed(Status status) {
        // A send in flight fails before the endpoint reports the end of the connection, but the
        // connection has the reason by then.
        ComchConnection ended = connection;
        fail(
                status == Status.CONNECTION_RESET || status == Status.NOT_CONNECTED
                        ? peerGone(ended == null ? null : ended.failure())
                        : new DpuException(
                                status, "control message could not be sent: to=" + description()));
    }

    private void receivedMessage(MemorySegment message) {
        receivedAll(message.asByteBuffer());
    }
}
