package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.FabricException;
import io.softdpu.fabric.ImportedRegion;
import io.softdpu.fabric.RegionAddress;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The producers and consumers of one connection: registers those of this side with the peer, and
 * imports the memory of the peer's consumers.
 *
 * <p>The thread of the connection's engine, except {@link #find}, {@link #remoteIds}, {@link
 * #enter}, {@link #leave} and {@link #inUse}. Producers and consumers live on engines of their own:
 * they call in here by posting to the connection's engine, and are called back by a post to theirs.
 * All queues that a peer could fill are bounded.
 */
final class ConsumerDirectory {
    /** Producers of one side of a connection. */
    static final int MAX_PRODUCERS = 1024;

    private static final RemoteConsumer[] NONE = {};

    private static final System.Logger LOG = System.getLogger(ConsumerDirectory.class.getName());

    private final ComchConnection connection;
    private final ComchEndpoint endpoint;
    private final ControlQueue control;
    private final Map<Integer, Local> locals = new HashMap<>();
    private final List<ComchProducer> producers = new ArrayList<>();
    private final Map<Integer, Import> imports = new HashMap<>();
    private final AtomicInteger users = new AtomicInteger();
    private volatile RemoteConsumer[] remotes = NONE;
    private final AtomicInteger abandonedImports = new AtomicInteger();
    private int lastLocalId;
    private int lastRemoteId;
    private int lastProducerId;
    private boolean closing;

    /** A consumer of this side, from its registration until its memory is its own again. */
    private static final class Local {
        private final ComchConsumer consumer;
        private boolean answered;
        private boolean expired;

        private Local(ComchConsumer consumer) {
            this.consumer = consumer;
        }
    }

    /** The memory of an announced consumer on its way. */
    private final class Import {
        private final int id;
        private final ConsumerAnnouncement announcement;
        private final CompletableFuture<ImportedRegion> ring;
        private final CompletableFuture<ImportedRegion> memory;
        private final Handover<Import> handover = new Handover<>();

        private Import(int id, ConsumerAnnouncement announcement) {
            this.id = id;
            this.announcement = announcement;
            this.ring = importRegion(announcement.ring());
            this.memory = importRegion(announcement.memory());
        }

        private void begin() {
            var _ =
                    CompletableFuture.allOf(ring, memory)
                            .whenComplete((ignored, failure) -> {
                                if (handover.offer(this)) {
                                    endpoint.enqueue(() -> imported(this));
                                } else {
                                    discard();
                                    abandonedImports.decrementAndGet();
                                }
                            });
        }

        /** Nobody wants it any more. */
        private void abandon() {
            abandonedImports.incrementAndGet();
            if (handover.refuse() != null) {
                discard();
                abandonedImports.decrementAndGet();
            }
        }

        /** Closes what has come; any thread. */
        private void discard() {
            close(ring);
            close(memory);
        }

        private static void close(CompletableFuture<ImportedRegion> region) {
            if (!region.isCompletedExceptionally()) {
                region.resultNow().close();
            }
        }
    }

    ConsumerDirectory(ComchConnection connection, ControlQueue control) {
        this.connection = connection;
        this.endpoint = connection.endpoint();
        this.control = control;
        boolean server = endpoint instanceof ComchServer;
        this.lastLocalId = server ? 0 : -1;
        this.lastRemoteId = server ? -1 : 0;
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
        RemoteConsumer[] known = remotes;
        for (RemoteConsumer remote : known) {
            if (remote.id() == id) {
                return remote;
            }
        }
        return null;
    }

    int[] remoteIds() {
        return Arrays.stream(remotes).mapToInt(RemoteConsumer::id).toArray();
    }

    // ---- producers and consumers of this side ----

    void register(ComchProducer producer) {
        if (closing) {
            producer.lose(connectionEnded());
        } else if (producers.size() >= MAX_PRODUCERS) {
            producer.lose(full("producers", MAX_PRODUCERS));
        } else {
            producers.add(producer);
            producer.registered(++lastProducerId);
        }
    }

    void unregister(ComchProducer producer) {
        producers.remove(producer);
    }

    void register(ComchConsumer consumer, ConsumerAnnouncement announcement) {
        if (closing) {
            consumer.lose(connectionEnded());
            return;
        }
        int id = lastLocalId + 2;
        if (locals.size() >= ChannelLimits.MAX_CONSUMERS
                || !control.offer(ControlWord.of(id), announcement)) {
            consumer.lose(full("consumers", ChannelLimits.MAX_CONSUMERS));
            return;
        }
        lastLocalId = id;
        locals.put(id, new Local(consumer));
        consumer.announced(id);
    }

    /** The consumer stops: the peer is to let go of its memory. */
    void expire(ComchConsumer consumer) {
        for (Map.Entry<Integer, Local> entry : locals.entrySet()) {
            Local local = entry.getValue();
            if (local.consumer == consumer && !local.expired) {
                local.expired = true;
                if (!closing
                        && !control.offer(
                                MessageType.CONSUMER_EXPIRED, ControlWord.of(entry.getKey()))) {
                    endpoint.broken(connection, "control messages are not read");
                }
                return;
            }
        }
    }

    /** The consumer's memory is its own again: its place is free. */
    void forget(ComchConsumer consumer) {
        locals.values().removeIf(local -> local.consumer == consumer);
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
            case CONSUMER_NEW -> announced(id, bytes, length);
            case CONSUMER_READY -> answered(id, null);
            case CONSUMER_REFUSED -> answered(id, Status.ofCode(statusCode));
            case CONSUMER_EXPIRED -> expired(id);
            case DATA, DISCONNECT -> throw new IllegalArgumentException("not for here: " + type);
        };
    }

    /** No consumer is taken or announced any more; those of this side learn of the end. */
    void closing() {
        if (closing) {
            return;
        }
        closing = true;
        imports.values().forEach(Import::abandon);
        imports.clear();
        DpuException reason = connectionEnded();
        for (Local local : locals.values()) {
            local.consumer.lose(reason);
        }
        for (ComchProducer producer : producers) {
            producer.lose(reason);
        }
    }

    /** The connection has ended: the peer's consumers have gone. Inside progress. */
    void close() {
        closing();
        RemoteConsumer[] known = remotes;
        remotes = NONE;
        for (RemoteConsumer remote : known) {
            goneWith(remote);
        }
    }

    private @Nullable String announced(int id, MemorySegment bytes, int length) {
        if (id <= lastRemoteId || ((id ^ lastRemoteId) & 1) != 0) {
            return "consumer id=" + id + ", last=" + lastRemoteId;
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
        lastRemoteId = id;
        if (closing) {
            return null; // the disconnect that is on its way answers it
        }
        if (!endpoint.takesConsumers()) {
            return refuse(id, Status.NOT_SUPPORTED);
        }
        if (remotes.length + imports.size() + abandonedImports.get()
                >= ChannelLimits.MAX_CONSUMERS) {
            return refuse(id, Status.FULL);
        }
        Import begun = new Import(id, announcement);
        imports.put(id, begun);
        begun.begin();
        return null;
    }

    private CompletableFuture<ImportedRegion> importRegion(RegionAddress region) {
        try {
            return endpoint.machineBus()
                    .importRegion(region, true, true, endpoint.controlTimeoutNanos());
        } catch (FabricException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Both imports of an announced consumer have come to their end; inside progress. */
    private void imported(Import done) {
        if (!done.handover.isWanted()) {
            return; // abandoned, and discarded then
        }
        imports.remove(done.id);
        if (done.ring.isCompletedExceptionally() || done.memory.isCompletedExceptionally()) {
            CompletableFuture<ImportedRegion> failed =
                    done.ring.isCompletedExceptionally() ? done.ring : done.memory;
            done.discard();
            DpuException reason = Failures.of(failed.exceptionNow());
            LOG.log(
                    System.Logger.Level.DEBUG,
                    () ->
                            "consumer of the peer refused: id=%d, connection=%s, status=%s, %s"
                                    .formatted(
                                            done.id,
                                            connection,
                                            reason.status(),
                                            reason.getMessage()));
            breakIf(refuse(done.id, reason.status()));
            return;
        }
        RemoteConsumer remote =
                new RemoteConsumer(
                        done.id,
                        new FastPathRing.Geometry(done.announcement.slots()),
                        done.ring.resultNow(),
                        done.memory.resultNow());
        RemoteConsumer[] known = remotes;
        RemoteConsumer[] more = Arrays.copyOf(known, known.length + 1);
        more[known.length] = remote;
        remotes = more;
        if (control.offer(MessageType.CONSUMER_READY, ControlWord.of(done.id))) {
            endpoint.consumerCreated(connection, done.id);
        } else {
            breakIf("control messages are not read");
        }
    }

    private @Nullable String refuse(int id, Status status) {
        return control.offer(MessageType.CONSUMER_REFUSED, ControlWord.of(id, status.code()))
                ? null
                : "control messages are not read";
    }

    private void breakIf(@Nullable String violation) {
        if (violation != null) {
            endpoint.broken(connection, violation);
        }
    }

    private @Nullable String answered(int id, @Nullable Status refusal) {
        if (id > lastLocalId || ((id ^ lastLocalId) & 1) != 0) {
            return "answer for a consumer that was never announced, id=" + id;
        }
        Local local = locals.get(id);
        if (local == null) {
            return null; // it gave up waiting
        }
        if (local.answered) {
            return "second answer for a consumer, id=" + id;
        }
        local.answered = true;
        if (refusal == null) {
            local.consumer.accepted();
        } else {
            local.expired = true; // the peer has forgotten it already
            local.consumer.lose(
                    new DpuException(
                            refusal.isError() ? refusal : Status.UNKNOWN,
                            "peer refused the consumer: id=%d, status=%s, connection=%s"
                                    .formatted(id, refusal, connection)));
        }
        return null;
    }

    private @Nullable String expired(int id) {
        if (id > lastRemoteId || ((id ^ lastRemoteId) & 1) != 0) {
            return "end of a consumer that was never announced, id=" + id;
        }
        Import underWay = imports.remove(id);
        if (underWay != null) {
            underWay.abandon();
            return null;
        }
        RemoteConsumer[] known = remotes;
        for (int i = 0; i < known.length; i++) {
            RemoteConsumer remote = known[i];
            if (remote.id() == id) {
                RemoteConsumer[] fewer = Arrays.copyOf(known, known.length - 1);
                System.arraycopy(known, i + 1, fewer, i, known.length - 1 - i);
                remotes = fewer;
                goneWith(remote);
                return null;
            }
        }
        return null; // it was refused
    }

    /** Lets go of a consumer that is in the list no more, and tells everybody. */
    private void goneWith(RemoteConsumer remote) {
        remote.expire();
        for (ComchProducer producer : producers) {
            producer.consumerGone();
        }
        endpoint.consumerExpired(connection, remote.id());
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
