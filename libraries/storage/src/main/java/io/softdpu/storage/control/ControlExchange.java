package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;

/**
 * Asks and answers on a channel. Owned by the channel's thread.
 *
 * <p>Each request gets a message_id of its own, and only a response with that id, the same
 * correlation_id and the right type counts: one that does not match would mean that the two sides
 * have lost step, and nothing after it could be trusted.
 */
public final class ControlExchange {
    /** How the owner of a channel waits: on the channel itself, or on all that it listens to. */
    @FunctionalInterface
    public interface Waiter {
        /** Returns when something may have happened, or the time has passed. */
        void await(long timeoutNanos);
    }

    private static final String LAST = "the session's last request was asked";

    private final ControlChannel channel;
    private final Waiter waiter;
    private int lastMessageId;

    /** An exchange that waits on its channel. */
    public ControlExchange(ControlChannel channel) {
        this(channel, channel::await);
    }

    /** An exchange that waits elsewhere; whatever comes on the channel must end such a wait. */
    public ControlExchange(ControlChannel channel, Waiter waiter) {
        this.channel = channel;
        this.waiter = waiter;
    }

    /** The channel. */
    public ControlChannel channel() {
        return channel;
    }

    /**
     * Sends a request and waits for its response.
     *
     * @param correlationId what the request belongs to
     * @param expected the type of the response
     * @return the payload, of that type
     * @throws RemoteErrorException the peer answered with an error_response
     * @throws DpuException TIME_OUT; UNEXPECTED that names what came and what was expected;
     *     whatever the channel throws
     */
    public ControlPayload request(
            ControlPayload request,
            int correlationId,
            ControlMessageType expected,
            long timeoutNanos) {
        int messageId = ++lastMessageId;
        channel.send(new ControlMessage(messageId, correlationId, request));
        ControlMessage reply =
                WaitLoop.awaitResult(channel::poll, Deadline.in(timeoutNanos), waiter::await);
        if (reply == null) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "no reply came: from="
                            + channel.description()
                            + ", request="
                            + request.type().wireName()
                            + ", waited_ms="
                            + timeoutNanos / 1_000_000);
        }
        return checked(reply, messageId, correlationId, expected);
    }

    /**
     * Checks that a request of the peer is the one whose turn it is.
     *
     * @throws DpuException UNEXPECTED that names what came and what was expected
     */
    public static void requireType(ControlMessage message, ControlMessageType expected) {
        if (message.type() != expected) {
            throw unexpected("type", message.type().wireName(), expected.wireName());
        }
    }

    /** Answers a request. */
    public void reply(ControlMessage request, ControlPayload response) {
        channel.send(request.reply(response));
    }

    /**
     * Answers the last request of a session and waits until the answer is on its way. Whoever asked
     * may leave without waiting for it: all has been done, and there is nothing left to ask for.
     * But where it has said that it gave the session up, nobody has an answer coming.
     *
     * @throws RemoteErrorException the peer's word, which came before the answer was ready
     * @throws DpuException UNEXPECTED where it sent something else before it; TIME_OUT,
     *     CONNECTION_ABORTED
     */
    public void replyLast(ControlMessage request, ControlPayload response, long timeoutNanos) {
        try {
            ControlMessage word = channel.poll();
            if (word != null) {
                throw word.payload() instanceof ControlPayload.ErrorResponse error
                        ? new RemoteErrorException(error)
                        : unexpected("type", word.type().wireName(), "none: " + LAST);
            }
            reply(request, response);
            channel.flush(timeoutNanos);
        } catch (DpuException e) {
            boolean left =
                    e.status() == Status.CONNECTION_RESET || e.status() == Status.NOT_CONNECTED;
            if (!left || e instanceof RemoteErrorException) {
                throw e;
            }
            System.getLogger(ControlExchange.class.getName())
                    .log(System.Logger.Level.DEBUG, "peer left before its last answer", e);
        }
    }

    /**
     * Answers a request with why it failed: a peer's own error_response passes through verbatim.
     */
    public void replyError(ControlMessage request, DpuException reason) {
        reply(
                request,
                reason instanceof RemoteErrorException remote
                        ? remote.response()
                        : ControlPayload.ErrorResponse.of(
                                reason.status(), String.valueOf(reason.getMessage())));
    }

    private static ControlPayload checked(
            ControlMessage reply, int messageId, int correlationId, ControlMessageType expected) {
        if (reply.payload() instanceof ControlPayload.ErrorResponse error) {
            throw new RemoteErrorException(error);
        }
        requireType(reply, expected);
        if (reply.messageId() != messageId) {
            throw unexpected(
                    "message_id",
                    Integer.toUnsignedString(reply.messageId()),
                    Integer.toUnsignedString(messageId));
        }
        if (reply.correlationId() != correlationId) {
            throw unexpected(
                    "correlation_id",
                    Integer.toUnsignedString(reply.correlationId()),
                    Integer.toUnsignedString(correlationId));
        }
        return reply.payload();
    }

    private static DpuException unexpected(String field, String got, String expected) {
        return new DpuException(
                Status.UNEXPECTED,
                "control message is not the expected one: field="
                        + field
                        + ", got="
                        + got
                        + ", expected="
                        + expected);
    }
}
