package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.control.ControlExchange;
import io.softdpu.storage.control.RemoteErrorException;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Requests of a role's client, one after the other in the order of a session: each is awaited,
 * handled and answered, whether that went well or not. Owned by the role's control thread.
 */
public final class ClientRequests {
    /** Limit on a wait for a request. */
    @FunctionalInterface
    public interface Patience {
        /**
         * Checks whether there is still a reason to wait.
         *
         * @return nanoseconds after which it has to be called again, whatever happens
         * @throws DpuException why the session cannot go on, such as TIME_OUT for a peer that has
         *     been inactive for too long
         */
        long check();
    }

    private final ControlExchange exchange;
    private final ControlLoop loop;
    private final WorkerGroup<?> workers;
    private final long controlTimeoutNanos;
    private final Function<ControlMessageType, Patience> patience;
    private final BiConsumer<SessionStep, ControlMessage> begin;

    /**
     * The requests that come on an exchange's channel.
     *
     * @param controlTimeoutNanos how long the client may take to take an answer after which there
     *     is no other
     */
    ClientRequests(
            ControlExchange exchange,
            ControlLoop loop,
            WorkerGroup<?> workers,
            long controlTimeoutNanos,
            Function<ControlMessageType, Patience> patience,
            BiConsumer<SessionStep, ControlMessage> begin) {
        this.exchange = exchange;
        this.loop = loop;
        this.workers = workers;
        this.controlTimeoutNanos = controlTimeoutNanos;
        this.patience = patience;
        this.begin = begin;
    }

    /**
     * Serves the request whose turn it is.
     *
     * @param handler makes the response
     * @throws DpuException UNEXPECTED for a request of another type; why the handler failed; the
     *     client has been told
     */
    public void serve(
            SessionStep step,
            ControlMessageType type,
            Function<ControlMessage, ControlPayload> handler) {
        serve(step, type, handler, exchange::reply);
    }

    /** The same for the last request of a session, whose answer the client need not wait for. */
    public void serveLast(
            SessionStep step,
            ControlMessageType type,
            Function<ControlMessage, ControlPayload> handler) {
        serve(
                step,
                type,
                handler,
                (request, response) -> exchange.replyLast(request, response, controlTimeoutNanos));
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

    /** Waits for the next request, of whatever type; looks after the workers meanwhile. */
    private ControlMessage awaitRequest(ControlMessageType expected) {
        Patience limit = patience.apply(expected);
        while (true) {
            ControlMessage request = exchange.channel().poll();
            if (request != null) {
                RemoteErrorException.throwIfError(request);
                return request;
            }
            workers.check();
            loop.awaitNews(limit.check());
        }
    }

    private void answerFailure(ControlMessage request, DpuException reason) {
        try {
            exchange.replyError(request, reason);
            exchange.channel().flush(controlTimeoutNanos);
        } catch (DpuException e) {
            // The client has gone as well; why the request failed is still the better reason.
            reason.addSuppressed(e);
        }
    }
}
