package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.control.ControlExchange;
import io.softdpu.storage.control.RemoteErrorException;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Requests of a role's client, in the order of a session: each is awaited, handled and replied to,
 * successful or not. Belongs to the role's control thread.
 */
public final class ClientRequests {
    /** Limit of the wait for a request. */
    @FunctionalInterface
    public interface WaitLimit {
        /**
         * Checks whether to continue waiting.
         *
         * @return nanoseconds after which it has to be called again at the latest
         * @throws DpuException the reason to end the session, such as TIME_OUT for an inactive peer
         */
        long check();
    }

    private final ControlExchange exchange;
    private final ControlLoop loop;
    private final WorkerGroup<?> workers;
    private final long controlTimeoutNanos;
    private final Function<ControlMessageType, WaitLimit> waitLimit;
    private final BiConsumer<SessionStep, ControlMessage> begin;

    /**
     * Creates the requests of an exchange's channel.
     *
     * @param controlTimeoutNanos timeout for sending the session's last reply and failure replies
     */
    ClientRequests(
            ControlExchange exchange,
            ControlLoop loop,
            WorkerGroup<?> workers,
            long controlTimeoutNanos,
            Function<ControlMessageType, WaitLimit> waitLimit,
            BiConsumer<SessionStep, ControlMessage> begin) {
        this.exchange = exchange;
        this.loop = loop;
        this.workers = workers;
        this.controlTimeoutNanos = controlTimeoutNanos;
        this.waitLimit = waitLimit;
        this.begin = begin;
    }

    /**
     * Awaits and handles the next request.
     *
     * @param handler creates the response
     * @throws DpuException UNEXPECTED for a request of another type; the failure of the handler;
     *     both were sent to the client
     */
    public void serve(
            SessionStep step,
            ControlMessageType type,
            Function<ControlMessage, ControlPayload> handler) {
        serve(step, type, handler, exchange::reply);
    }

    /**
     * As {@link #serve}, for the last request of a session, whose reply the client need not await.
     */
    public void serveLast(
            SessionStep step,
            ControlMessageType type,
            Function<ControlMessage, ControlPayload> handler) {
        serve(
                step,
                type,
                handler,
                (request, response) ->
                        exchange.replyLast(
                                request, response, Duration.ofNanos(controlTimeoutNanos)));
    }

    private void serve(
            SessionStep step,
            ControlMessageType type,
            Function<ControlMessage, ControlPayload> handler,
            BiConsumer<ControlMessage, ControlPayload> answer) {
        ControlMessage request = awaitRequest(type);
        begin.accept(step, request);
        try {
            ControlExchange.requireType(request, type);
            answer.accept(request, handler.apply(request));
        } catch (DpuException e) {
            answerFailure(request, e);
            throw e;
        }
    }

    /** Waits for the next request of any type, and checks the workers meanwhile. */
    private ControlMessage awaitRequest(ControlMessageType expected) {
        WaitLimit limit = waitLimit.apply(expected);
        while (true) {
            ControlMessage request = exchange.channel().poll();
            if (request != null) {
                RemoteErrorException.throwIfError(request);
                return request;
            }
            workers.check();
            loop.awaitEvent(Duration.ofNanos(limit.check()));
        }
    }

    private void answerFailure(ControlMessage request, DpuException reason) {
        try {
            exchange.replyError(request, reason);
            exchange.channel().flush(Duration.ofNanos(controlTimeoutNanos));
        } catch (DpuException e) {
            // The client has ended as well, but the failure of the request is the primary one.
            reason.addSuppressed(e);
        }
    }
}
