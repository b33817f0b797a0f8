package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Bidirectional stream of control messages to one peer.
 *
 * <p>One thread owns the channel. Messages that a peer has sent before its end can still be polled,
 * then each call fails with CONNECTION_RESET; after {@link #abort} each call fails with
 * CONNECTION_ABORTED and the reason. The connection to a peer that sends an illegal message is
 * closed, and the failure names the field.
 */
public interface ControlChannel extends AutoCloseable {
    /** Description of the peer, for messages. */
    String description();

    /** Whether the peer is connected. Does not update the state: {@link #poll} does. */
    boolean isConnected();

    /**
     * Waits until the peer is connected.
     *
     * @param timeout the longest wait, or {@link Deadline#NO_LIMIT}
     * @throws DpuException TIME_OUT, CONNECTION_ABORTED; for a client also the server's refusal, or
     *     NOT_FOUND
     */
    void awaitConnected(Duration timeout);

    /**
     * Sends a message, as much of it at once as the transport accepts; the rest is sent by later
     * calls of the channel, at the latest by {@link #flush}. An error_response is not sent if one
     * was sent or received before.
     *
     * <p>Runs no callbacks. Over Comch a sleeping peer is woken by the next progress of the engine,
     * which is that of the next call of this channel that receives or waits.
     *
     * @throws DpuException NOT_CONNECTED, CONNECTION_RESET, CONNECTION_ABORTED, FULL if too many
     *     messages wait for the peer to receive them, TOO_BIG
     */
    void send(ControlMessage message);

    /**
     * Waits until the transport has accepted all sent messages completely.
     *
     * @throws DpuException TIME_OUT, CONNECTION_RESET, CONNECTION_ABORTED
     */
    void flush(Duration timeout);

    /**
     * The next message; null if there is none. Never waits.
     *
     * @throws DpuException CONNECTION_RESET, CONNECTION_ABORTED, INVALID_VALUE for an illegal
     *     control message
     */
    @Nullable ControlMessage poll();

    /**
     * Sends and receives without returning a message. Never waits.
     *
     * @return whether {@link #poll} has a message
     * @throws DpuException as {@link #poll}
     */
    boolean progress();

    /**
     * Whether an exception is the failure of this channel, or was thrown by a call of it because of
     * that failure.
     */
    boolean isFailure(DpuException problem);

    /**
     * Waits until {@link #poll} may have a message or a failure, {@link #wakeup} was called, or the
     * time has passed. May return early. Throws nothing: {@link #poll} does.
     */
    void await(Duration timeout);

    /** Ends the current or the next {@link #await}. Any thread. */
    void wakeup();

    /**
     * Makes all current and future calls fail with CONNECTION_ABORTED. Any thread; the first reason
     * counts.
     */
    void abort(String reason);

    /**
     * Sends the reason why this side ends the session: an error_response with message_id 0 and
     * correlation_id 0. Sends as much as the transport accepts at once; never waits or throws, also
     * after {@link #abort}. Does nothing if the peer is not connected or an error_response was sent
     * or received before.
     */
    void sendFinalError(ControlPayload.ErrorResponse reason);

    /** Closes the transport. Idempotent. Messages that were not flushed may be lost. */
    @Override
    void close();

    /**
     * Receives and discards all messages, when no more are expected. Never waits.
     *
     * @throws DpuException a received error_response ({@link RemoteErrorException}), such as the
     *     final error of a peer; as {@link #poll}
     */
    default void requireNoError() {
        for (ControlMessage message = poll(); message != null; message = poll()) {
            RemoteErrorException.throwIfError(message);
        }
    }

    /**
     * Waits for the next message.
     *
     * @throws DpuException TIME_OUT if none was received in time; as {@link #poll}
     */
    default ControlMessage receive(Duration timeout) {
        ControlMessage message =
                WaitLoop.awaitResult(this::poll, Deadline.in(timeout), this::await);
        if (message == null) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "no control message received: from="
                            + description()
                            + ", waitedMillis="
                            + timeout.toMillis());
        }
        return message;
    }
}
