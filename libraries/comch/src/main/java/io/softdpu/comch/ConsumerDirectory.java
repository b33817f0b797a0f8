package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Producers and consumers of one connection: those of this side are registered with the peer
 * ({@link LocalConsumers}), those of the peer are imported ({@link RemoteConsumers}).
 *
 * <p>The thread of the connection's engine, except {@link #find}, {@link #remoteIds}, {@link
 * #enter}, {@link #leave} and {@link #inUse}. Producers and consumers live on engines of their own:
 * they call in here by posting to the connection's engine, and are called back by a post to theirs.
 * All queues that a peer could fill are bounded.
 */
final class ConsumerDirectory {
    /** Producers of one side of a connection. */
    static final int MAX_PRODUCERS = 1024;

    private final ComchConnection connection;
    private final LocalConsumers locals;
    private final RemoteConsumers remotes;
    private final List<ProducerContext> producers = new ArrayList<>();
    private final AtomicInteger users = new AtomicInteger();
    private int lastProducerId;
    private boolean closing;

    ConsumerDirectory(ComchConnection connection, ControlQueue control) {
        this.connection = connection;
        boolean server = connection.context() instanceof ServerContext;
        this.locals = new LocalConsumers(connection, control, server ? 0 : -1);
        this.remotes =
                new RemoteConsumers(connection, control, server ? -1 : 0, this::tellProducers);
    }

    // ---- any thread ----

    /** One producer or consumer more is active. */
    void enter() {
        users.incrementAndGet();
    }

    /** One producer or consumer less is active. */
    void leave() {
        users.decrementAndGet();
    }

    boolean inUse() {
        return users.get() > 0;
    }

    /** The peer's consumer with this id; null if there is none now. Allocates nothing. */
    @Nullable RemoteConsumer find(int id) {
        return remotes.find(id);
    }

    int[] remoteIds() {
        return remotes.ids();
    }

    // ---- producers and consumers of this side ----

    void register(ProducerContext producer) {
        if (closing) {
            producer.lose(connectionEnded());
        } else if (producers.size() >= MAX_PRODUCERS) {
            producer.lose(full("producers", MAX_PRODUCERS));
        } else {
            producers.add(producer);
            producer.registered(++lastProducerId);
        }
    }

    void unregister(ProducerContext producer) {
        producers.remove(producer);
    }

    void register(ConsumerContext consumer, ConsumerAnnouncement announcement) {
        if (closing) {
            consumer.lose(connectionEnded());
        } else if (!locals.register(consumer, announcement)) {
            consumer.lose(full("consumers", ChannelLimits.MAX_CONSUMERS));
        }
    }

    /** The consumer stops: the peer is to release its memory. */
    void expire(ConsumerContext consumer) {
        locals.expire(consumer);
    }

    /** The consumer's memory is its own again: its place is free. */
    void forget(ConsumerContext consumer) {
        locals.forget(consumer);
    }

    // ---- messages of the peer ----

    /**
     * Handles a control message.
     *
     * @param bytes private memory with the payload from its start
     * @return what is wrong with the message, null if nothing
     */
    @Nullable String handle(
            MessageType type, int id, int statusCode, MemorySegment bytes, int length) {
        boolean wordLegal = id > 0 && (statusCode == 0 || type == MessageType.CONSUMER_REFUSED);
        boolean lengthLegal = length == 0 || type == MessageType.CONSUMER_NEW;
        if (!wordLegal || !lengthLegal) {
            return "illegal control message, type=%s, id=%d, status=%d, length=%d"
                    .formatted(type, id, statusCode, length);
        }
        return switch (type) {
            case CONSUMER_NEW -> remotes.announced(id, bytes, length);
            case CONSUMER_READY -> locals.answered(id, null);
            case CONSUMER_REFUSED -> locals.answered(id, Status.ofCode(statusCode));
            case CONSUMER_EXPIRED -> remotes.expired(id);
            case DATA, DISCONNECT -> throw new IllegalArgumentException("not for here: " + type);
        };
    }

    /** No consumer is taken or announced any more; those of this side learn of the end. */
    void closing() {
        if (closing) {
            return;
        }
        closing = true;
        remotes.closing();
        DpuException reason = connectionEnded();
        locals.closing(reason);
        for (ProducerContext producer : producers) {
            producer.lose(reason);
        }
    }

    /** The connection has ended: the peer's consumers have gone. Inside progress. */
    void close() {
        closing();
        remotes.close();
    }

    private void tellProducers() {
        for (ProducerContext producer : producers) {
            producer.consumerGone();
        }
    }

    private DpuException connectionEnded() {
        return new DpuException(Status.CONNECTION_RESET, "connection ended: " + connection);
    }

    private DpuException full(String what, int limit) {
        return new DpuException(
                Status.FULL,
                "too many %s: limit=%d, connection=%s".formatted(what, limit, connection));
    }
}
