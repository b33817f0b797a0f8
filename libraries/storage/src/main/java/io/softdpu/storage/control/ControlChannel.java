package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import org.jspecify.annotations.Nullable;

/**
 * A two-way stream of control messages to one peer.
 *
 * <p>One thread owns the channel. Once the peer has gone, what it had sent before is still handed
 * out, then each call fails with CONNECTION_RESET; after {@link #abort} each call fails with
 * CONNECTION_ABORTED and the reason. A peer that sends what is no control message is cut off, and
 * the failure names the field.
 */
public interface ControlChannel extends AutoCloseable {
    /** A timeout that never passes: for waiting until a peer arrives. */
    long NO_TIMEOUT = Deadline.NO_TIMEOUT;

    /** Who is at the other end, for messages. */
    String description();

    /** Whether the peer is there. Does not look for news: {@link #poll} does. */
    boolean isConnected();

    /**
     * Waits until the peer is there.
     *
     * @param timeoutNanos how long at most
     * @throws DpuException TIME_OUT, CONNECTION_ABORTED; for a client also why the server refused,
     *     or NOT_FOUND
     */
    void awaitConnected(long timeoutNanos);

    /**
     * Sends a message, as much of it at once as the transport takes; the rest goes out whenever the
     * channel is used, and at the latest in {@link #flush}. An error_response after one that has
     * passed between the two, in either direction, is not sent: nobody answers it.
     *
     * <p>Over TCP no callbacks of others run in it. Over Comch one progress of the engine does,
     * since a peer that sleeps is woken by nothing else: callbacks of every context that is
     * connected to that engine may run.
     *
     * @throws DpuException NOT_CONNECTED, CONNECTION_RESET, CONNECTION_ABORTED, FULL where the peer
     *     has let too much pile up, TOO_BIG
     */
    void send(ControlMessage message);

    /**
     * Waits until all that was sent is on its way and needs nothing more from this side.
     *
     * @throws DpuException TIME_OUT, CONNECTION_RESET, CONNECTION_ABORTED
     */
    void flush(long timeoutNanos);

    /**
     * The next message if one is there. Never waits.
     *
     * @throws DpuException CONNECTION_RESET, CONNECTION_ABORTED, INVALID_VALUE for bytes that are
     *     no control message
     */
    @Nullable ControlMessage poll();

    /**
     * Moves what can be moved at once, both ways, and hands nothing out. Never waits.
     *
     * @return whether {@link #poll} has a message
     * @throws DpuException as {@link #poll}
     */
    boolean progress();

    /**
     * Whether a failure is the end of this channel, and not of another: what a call of it has
     * thrown since, its own failure or caused by it.
     */
    boolean isFailure(DpuException problem);

    /**
     * Waits until {@link #poll} may have something to say, or {@link #wakeup} was called, or the
     * time has passed. May return early. Throws nothing: {@link #poll} tells what happened.
     */
    void await(long timeoutNanos);

    /** Ends the present or the next {@link #await}. Any thread. */
    void wakeup();

    /**
     * Makes each present and future call fail with CONNECTION_ABORTED. Any thread; the first reason
     * counts.
     */
    void abort(String reason);

    /**
     * Tells the peer why this side gives the session up: an error_response with message_id 0 and
     * correlation_id 0. Sends what the transport takes at once and never waits or throws, also
     * after {@link #abort}. Does nothing where the peer is not there or an error_response has
     * passed already, in either direction.
     */
    void farewell(ControlPayload.ErrorResponse reason);

    /** Closes the transport. Idempotent. What was sent and not flushed may be lost. */
    @Override
    void close();

    /**
     * Takes all that has come, where nothing more is asked for. Never waits.
     *
     * @throws DpuException the error_response in it ({@link RemoteErrorException}), such as what a
     *     peer that goes has said last; as {@link #poll}
     */
    default void requireNoError() {
        for (ControlMessage message = poll(); message != null; message = poll()) {
            RemoteErrorException.throwIfError(message);
        }
    }

    /**
     * Waits for the next message.
     *
     * @throws DpuException TIME_OUT where none came in time; whatever {@link #poll} throws
     */
    default ControlMessage receive(long timeoutNanos) {
        ControlMessage message =
                WaitLoop.awaitResult(this::poll, Deadline.in(timeoutNanos), this::await);
        if (message == null) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "no control message came: from="
                            + description()
                            + ", waited_ms="
                            + timeoutNanos / 1_000_000);
        }
        return message;
    }
}
