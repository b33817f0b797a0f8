package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Producers and consumers of one connection: those of this side are registered with the peer
 * ({@link LocalConsumers}), those of the peer are imported ({@link RemoteConsumers}).
 *
 * <p>Belongs to the thread of the connection's engine, except {@link #find}, {@link #remoteIds},
 * {@link #addUser}, {@link #removeUser} and {@link #inUse}. Producers and consumers may be on
 * engines of their own: calls to this class are posted to the connection's engine, calls to them to
 * theirs. All queues that a peer could fill are bounded.
 */
final class ConsumerRegistry {
    /** Largest number of producers of one side of a connection. */
    static final int MAX_PRODUCERS = 1024;

    /** Limit of the producers and consumers in a message. */
    private static final int MAX_NAMED = 4;

    private final ComchConnection connection;
    private final LocalConsumers locals;
    private final RemoteConsumers remotes;

    /** Each with the number of its start. */
    private final IdentityHashMap<ProducerContext, Long> producers = new IdentityHashMap<>();

    private final Set<ContextBase<?>> users = ConcurrentHashMap.newKeySet();
    private int lastProducerId;
    private boolean closing;
    private final AtomicReference<@Nullable StreamContext> stream = new AtomicReference<>();

    /** The last consumer of the peer whose end the peer has announced. */
    private volatile int lastEnded;

    /** Whether the connection has ended, and the peer's consumers with it. */
    private volatile boolean closed;

    ConsumerRegistry(ComchConnection connection, ControlQueue control) {
        this.connection = connection;
        boolean server = connection.context() instanceof ServerContext;
        this.locals = new LocalConsumers(connection, control, server ? 0 : -1);
        this.remotes = new RemoteConsumers(connection, control, server ? -1 : 0, this);
    }

    // ---- any thread ----

    /** Adds a producer or consumer that becomes active. */
    void addUser(ContextBase<?> user) {
        users.add(user);
    }

    /** Removes a producer or consumer that is no longer active. */
    void removeUser(ContextBase<?> user) {
        users.remove(user);
    }

    boolean inUse() {
        return !users.isEmpty();
    }

    /** Names and states of the active producers and consumers, for a message. */
    String describeUsers() {
        List<String> named =
                users.stream()
                        .limit(MAX_NAMED)
                        .map(user -> user + " is " + user.state())
                        .sorted()
                        .toList();
        return Text.format("users=%d, first=%s", users.size(), named);
    }

    /** The peer's consumer with this id; null if there is none. Allocates nothing. */
    @Nullable RemoteConsumer find(int id) {
        return remotes.find(id);
    }

    int[] remoteIds() {
        return remotes.ids();
    }

    // ---- the stream of this side; any thread ----

    /**
     * Makes the connection that of a stream.
     *
     * @throws DpuException IN_USE if it has another, or producers or consumers
     */
    void enter(StreamContext entering) {
        if (inUse() || !stream.compareAndSet(null, entering)) {
            throw new DpuException(
                    Status.IN_USE,
                    Text.format(
                            "connection has a stream, producers or consumers already:"
                                + " connection=%s, expected=one stream and nothing beside it, %s",
                            connection, describeUsers()));
        }
    }

    /** Releases the connection from its stream. */
    void leave(StreamContext leaving) {
        stream.compareAndSet(leaving, null);
    }

    /**
     * Refuses a producer or consumer beside a stream.
     *
     * @param ofStream whether it is the stream's own
     * @throws DpuException IN_USE
     */
    void requireNoStream(boolean ofStream, Object context) {
        if (!ofStream && stream.get() != null) {
            throw new DpuException(
                    Status.IN_USE,
                    "connection has a stream, and can have no other producers and consumers:"
                            + " context="
                            + context);
        }
    }

    /**
     * Whether the peer has announced the end of its consumer; false if that has ended with the
     * connection.
     *
     * @param peerConsumer one that there was, and is not any more
     */
    boolean hasEnded(int peerConsumer) {
        return !closed || lastEnded == peerConsumer;
    }

    // ---- producers and consumers of this side ----

    /**
     * Adds a producer.
     *
     * @param start number of its current start: the answer is for that start alone
     */
    void register(ProducerContext producer, long start) {
        if (closing) {
            producer.postFatal(start, connectionEnded());
        } else if (producers.size() >= MAX_PRODUCERS) {
            producer.postFatal(start, full("producers", MAX_PRODUCERS));
        } else {
            producers.put(producer, start);
            producer.registered(start, ++lastProducerId);
        }
    }

    void unregister(ProducerContext producer) {
        producers.remove(producer);
    }

    /** Adds the consumer that this queue belongs to, for its current start. */
    void register(ConsumerQueue queue, ConsumerAnnouncement announcement) {
        if (closing) {
            queue.consumer().postFatal(queue, connectionEnded());
        } else if (!locals.register(queue, announcement)) {
            queue.consumer().postFatal(queue, full("consumers", ChannelLimits.MAX_CONSUMERS));
        }
    }

    /** The consumer stops: requests that the peer release its memory. */
    void expire(ConsumerQueue queue) {
        locals.expire(queue);
    }

    /** The consumer's memory was released: frees its entry. */
    void forget(ConsumerQueue queue) {
        locals.forget(queue);
    }

    // ---- messages of the peer ----

    /**
     * Handles a control message.
     *
     * @param bytes private memory with the payload from its start
     * @return the violation in the message, or null
     */
    @Nullable String handle(
            MessageType type, int id, int statusCode, MemorySegment bytes, int length) {
        boolean wordLegal = id > 0 && (statusCode == 0 || type == MessageType.CONSUMER_REFUSED);
        boolean lengthLegal = length == 0 || type == MessageType.CONSUMER_NEW;
        if (!wordLegal || !lengthLegal) {
            return Text.format(
                    "illegal control message, type=%s, id=%d, status=%d, lengthBytes=%d",
                    type, id, statusCode, length);
        }
        return switch (type) {
            case CONSUMER_NEW -> remotes.announced(id, bytes, length);
            case CONSUMER_READY -> locals.answered(id, null);
            case CONSUMER_REFUSED -> locals.answered(id, Status.ofCode(statusCode));
            case CONSUMER_EXPIRED -> remotes.expired(id);
            case DATA, DISCONNECT ->
                    throw new IllegalArgumentException("not a control message: " + type);
        };
    }

    /** Stops accepting and announcing consumers; those of this side are notified of the end. */
    void closing() {
        if (closing) {
            return;
        }
        closing = true;
        remotes.closing();
        DpuException reason = connectionEnded();
        locals.closing(reason);
        producers.forEach((producer, start) -> producer.postFatal(start, reason));
        StreamContext open = stream.get();
        if (open != null) {
            open.postFatal(reason);
        }
    }

    /** The connection has ended: expires the peer's consumers. Inside progress. */
    void close() {
        closing();
        closed = true; // before the consumers are gone: see hasEnded
        remotes.close();
    }

    // ---- from the peer's consumers ----

    /** Producers can send to another consumer of the peer. */
    void consumerAdded() {
        StreamContext open = stream.get();
        if (open != null) {
            open.peersChanged();
        }
    }

    /**
     * A consumer that producers may send to is no longer there.
     *
     * @param announced whether the peer has announced its end: it has not ended with the connection
     */
    void consumerRemoved(int id, boolean announced) {
        for (ProducerContext producer : producers.keySet()) {
            producer.consumerGone();
        }
        if (announced) {
            lastEnded = id;
        }
        consumerAdded();
    }

    private DpuException connectionEnded() {
        return new DpuException(
                Status.CONNECTION_RESET,
                "connection ended: connection=" + connection,
                connection.failure());
    }

    private DpuException full(String what, int limit) {
        return new DpuException(
                Status.FULL,
                Text.format("too many %s: limit=%d, connection=%s", what, limit, connection));
    }
}
