package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import java.time.Duration;

/**
 * Exchange of requests and responses on a control channel. Belongs to the channel's thread.
 *
 * <p>Each request gets a message_id of its own; its response must have that id, the same
 * correlation_id and the right type. Any other message means that the two sides are out of step,
 * and is a failure.
 */
public final class ControlExchange {
    /** Wait for a reply: on the channel itself, or on all event sources of its owner. */
    @FunctionalInterface
    public interface ReplyWaiter {
        /** Returns when an event may have occurred, or the time has passed. */
        void await(Duration timeout);
    }

    private static final String LAST = "the session's last request was sent";

    private final ControlChannel channel;
    private final ReplyWaiter waiter;
    private int lastMessageId;

    /** Creates an exchange that waits on its channel. */
    public ControlExchange(ControlChannel channel) {
        this(channel, channel::await);
    }

    /** Creates an exchange that waits elsewhere; each event of the channel must end such a wait. */
    public ControlExchange(ControlChannel channel, ReplyWaiter waiter) {
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
     * @param correlationId number of the operation that the request belongs to
     * @param expected the type of the response
     * @return the payload, of that type
     * @throws RemoteErrorException the peer replied with an error_response
     * @throws DpuException TIME_OUT; UNEXPECTED, naming the received and the expected value;
     *     exceptions of the channel
     */
    public ControlPayload request(
            ControlPayload request,
            int correlationId,
            ControlMessageType expected,
            Duration timeout) {
        int messageId = ++lastMessageId;
        channel.send(new ControlMessage(messageId, correlationId, request));
        ControlMessage reply =
                WaitLoop.awaitResult(channel::poll, Deadline.in(timeout), waiter::await);
        if (reply == null) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "no reply received: from="
                            + channel.description()
                            + ", request="
                            + request.type().wireName()
                            + ", waitedMillis="
                            + timeout.toMillis());
        }
        return checked(reply, messageId, correlationId, expected);
    }

    /**
     * Checks that a message has the expected type.
     *
     * @throws DpuException UNEXPECTED, naming the received and the expected type
     */
    public static void requireType(ControlMessage message, ControlMessageType expected) {
        if (message.type() != expected) {
            throw unexpected("type", message.type().wireName(), expected.wireName());
        }
    }

    /** Replies to a request. */
    public void reply(ControlMessage request, ControlPayload response) {
        channel.send(request.reply(response));
    }

    /**
     * Replies to the last request of a session and waits until the reply is sent. The peer may end
     * without waiting for it, since nothing remains to be done. If the peer has sent an
     * error_response, no reply is sent.
     *
     * @throws RemoteErrorException an error_response of the peer, received before the reply was
     *     ready
     * @throws DpuException UNEXPECTED if it sent another message before; TIME_OUT,
     *     CONNECTION_ABORTED
     */
    public void replyLast(ControlMessage request, ControlPayload response, Duration timeout) {
        try {
            ControlMessage message = channel.poll();
            if (message != null) {
                throw message.payload() instanceof ControlPayload.ErrorResponse error
                        ? new RemoteErrorException(error)
                        : unexpected("type", message.type().wireName(), "none: " + LAST);
            }
            reply(request, response);
            channel.flush(timeout);
        } catch (DpuException e) {
            boolean left =
                    e.status() == Status.CONNECTION_RESET || e.status() == Status.NOT_CONNECTED;
            if (!left || e instanceof RemoteErrorException) {
                throw e;
            }
            System.getLogger(ControlExchange.class.getName())
                    .log(System.Logger.Level.DEBUG, "peer ended before its last reply", e);
        }
    }

    /**
     * Replies to a request with its failure: an error_response of another peer is passed on
     * verbatim.
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
                    "messageId",
                    Integer.toUnsignedString(reply.messageId()),
                    Integer.toUnsignedString(messageId));
        }
        if (reply.correlationId() != correlationId) {
            throw unexpected(
                    "correlationId",
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
