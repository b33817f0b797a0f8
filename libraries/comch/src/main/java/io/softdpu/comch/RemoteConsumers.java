package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Consumers of a connection's peer, from their announcement to their expiry: their memory is
 * imported, and released when they expire. Belongs to the thread of the connection's engine, except
 * {@link #find} and {@link #ids}.
 */
final class RemoteConsumers {
    private static final RemoteConsumer[] NONE = {};

    private static final System.Logger LOG = System.getLogger(RemoteConsumers.class.getName());

    private final ComchConnection connection;
    private final EndpointServices services;
    private final ControlQueue control;
    private final ConsumerRegistry registry;

    /**
     * Whether the device has producers: without them nothing can be sent to consumers of the peer.
     */
    private final boolean canSend;

    private final Map<Integer, ConsumerImport> imports = new HashMap<>();

    /** Abandoned imports of which memory may still be mapped. */
    private int abandonedImports;

    private volatile RemoteConsumer[] consumers = NONE;
    private int lastId;
    private boolean closing;

    /**
     * Creates an empty list.
     *
     * @param lastId the peer's first id minus two; ids rise by two
     * @param registry told of consumers that producers may send to
     */
    RemoteConsumers(
            ComchConnection connection,
            ControlQueue control,
            int lastId,
            ConsumerRegistry registry) {
        this.connection = connection;
        this.services = connection.services();
        this.control = control;
        this.lastId = lastId;
        this.registry = registry;
        this.canSend = connection.context().capabilities().isProducerSupported();
    }

    /** The consumer with this id; null if there is none. Any thread; allocates nothing. */
    @Nullable RemoteConsumer find(int id) {
        RemoteConsumer[] known = consumers;
        for (RemoteConsumer remote : known) {
            if (remote.id() == id) {
                return remote;
            }
        }
        return null;
    }

    /** The ids of all. Any thread. */
    int[] ids() {
        return Arrays.stream(consumers).mapToInt(RemoteConsumer::id).toArray();
    }

    /**
     * Handles the announcement of a consumer.
     *
     * @param bytes private memory with the announcement from its start
     * @return the violation in the message, or null
     */
    @Nullable String announced(int id, MemorySegment bytes, int length) {
        if (id <= lastId || ((id ^ lastId) & 1) != 0) {
            return "consumer id=" + id + ", last=" + lastId;
        }
        ConsumerAnnouncement announcement;
        try {
            announcement = ConsumerAnnouncement.decode(bytes, 0, length);
        } catch (DpuException e) {
            return String.valueOf(e.getMessage());
        }
        long ringBytes = new FastPathRing.Geometry(announcement.slots()).sizeBytes();
        if (announcement.ring().sizeBytes() != ringBytes) {
            return "consumer ring sizeBytes="
                    + announcement.ring().sizeBytes()
                    + ", expected="
                    + ringBytes;
        }
        lastId = id;
        if (closing) {
            return null; // the disconnect in flight is the reply
        }
        if (!services.acceptsStreams() || !canSend) {
            return refuse(id, Status.NOT_SUPPORTED);
        }
        if (consumers.length + imports.size() + abandonedImports >= ChannelLimits.MAX_CONSUMERS) {
            return refuse(id, Status.FULL);
        }
        ConsumerImport begun = new ConsumerImport(services, id, announcement);
        imports.put(id, begun);
        begun.begin(done -> services.post(() -> imported(done)));
        return null;
    }

    /**
     * Handles the end of a consumer.
     *
     * @return the violation in the message, or null
     */
    @Nullable String expired(int id) {
        if (id > lastId || ((id ^ lastId) & 1) != 0) {
            return "end of a consumer that was never announced, id=" + id;
        }
        ConsumerImport pending = imports.remove(id);
        if (pending != null) {
            abandon(pending);
            return null;
        }
        RemoteConsumer[] known = consumers;
        for (int i = 0; i < known.length; i++) {
            RemoteConsumer remote = known[i];
            if (remote.id() == id) {
                RemoteConsumer[] fewer = Arrays.copyOf(known, known.length - 1);
                System.arraycopy(known, i + 1, fewer, i, known.length - 1 - i);
                consumers = fewer;
                end(remote, true);
                return null;
            }
        }
        return null; // it was refused
    }

    /** Stops accepting consumers. */
    void closing() {
        closing = true;
        imports.values().forEach(this::abandon);
        imports.clear();
    }

    /** Expires all consumers. Inside progress. */
    void close() {
        RemoteConsumer[] known = consumers;
        consumers = NONE;
        for (RemoteConsumer remote : known) {
            end(remote, false);
        }
    }

    private void abandon(ConsumerImport pending) {
        pending.abandon();
        abandonedImports++;
    }

    /** Both imports of an announced consumer have completed. Inside progress. */
    private void imported(ConsumerImport done) {
        if (done.isAbandoned()) {
            abandonedImports--;
            return;
        }
        int id = done.id();
        imports.remove(id);
        DpuException reason = done.takeFailure();
        if (reason != null) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    () ->
                            Text.format(
                                    "consumer of the peer refused: id=%d, connection=%s, status=%s,"
                                            + " %s",
                                    id, connection, reason.status(), reason.getMessage()));
            closeIfViolated(refuse(id, reason.status()));
            return;
        }
        RemoteConsumer[] known = consumers;
        RemoteConsumer[] more = Arrays.copyOf(known, known.length + 1);
        more[known.length] = done.toConsumer();
        consumers = more;
        if (control.offer(MessageType.CONSUMER_READY, ControlWord.of(id))) {
            services.consumerCreated(connection, id);
            registry.consumerAdded();
        } else {
            closeIfViolated(ControlQueue.NOT_READ);
        }
    }

    private @Nullable String refuse(int id, Status status) {
        return control.offer(MessageType.CONSUMER_REFUSED, ControlWord.of(id, status.code()))
                ? null
                : ControlQueue.NOT_READ;
    }

    private void closeIfViolated(@Nullable String violation) {
        if (violation != null) {
            connection.protocolViolated(violation);
        }
    }

    /** Releases a consumer that was removed, and notifies producers and the program. */
    private void end(RemoteConsumer remote, boolean announced) {
        remote.expire();
        registry.consumerRemoved(remote.id(), announced);
        services.consumerExpired(connection, remote.id());
    }
}
