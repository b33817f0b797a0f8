package io.softdpu.rdma.roce.nic;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.cm.ConnectKey;
import io.softdpu.rdma.roce.cm.LocalTerms;
import io.softdpu.rdma.roce.rc.Attachment;
import io.softdpu.rdma.roce.rc.PeerMemory;
import io.softdpu.rdma.roce.rc.ReceiveQueue;
import io.softdpu.rdma.roce.rc.RemoteKeys;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Instance between its engine and the adapter: its connections, the receives that they share, and
 * the events for the engine.
 */
public final class NicEndpoint implements ReceiveQueue {
    private static final int RESPONDER_RESOURCES = 16;
    private static final int TRANSPORT_RETRIES = 7;

    /** Code of 0.5 seconds, the longest time until a repeat. */
    private static final int ACK_TIMEOUT = 17;

    private final Nic nic;
    private final EndpointConfig config;
    private final PeerMemory memory;
    private final RemoteKeys keys;
    private final WorkRing receives;
    private final WorkRing received;
    private final Queue<NicEvent> events = new ConcurrentLinkedQueue<>();

    /** Counts the calls of {@link #publish} that had something. */
    private volatile long published;

    /** Whether the engine sleeps, or is about to. */
    private volatile boolean armed;

    // Of the thread of the NIC.
    private final List<NicConnection> connections = new ArrayList<>();
    private long seen;

    /** Whether something was added for the engine since it was woken. */
    private boolean hasNews;

    /**
     * The part of an instance; {@link #open} adds it to its NIC.
     *
     * @param memory that peers of the instance may access
     * @param keys of the memory of peers
     */
    public NicEndpoint(Nic nic, EndpointConfig config, PeerMemory memory, RemoteKeys keys) {
        this.nic = nic;
        this.config = config;
        this.memory = memory;
        this.keys = keys;
        receives = new WorkRing(config.receiveQueueSize());
        received = new WorkRing(config.receiveQueueSize());
    }

    // ---- for the engine's thread ----

    /** Adds it to its NIC. */
    public void open() {
        nic.run(() -> nic.add(this));
    }

    /**
     * Creates the end of a connection by blob.
     *
     * @throws io.softdpu.core.DpuException FULL
     */
    public NicConnection export(ProviderConnection owner) {
        NicConnection made = new NicConnection(this, owner, config.sendQueueSize());
        nic.run(() -> {
            made.begin(nic.manager().export(terms(made), made));
            connections.add(made);
        });
        return made;
    }

    private LocalTerms terms(NicConnection connection) {
        return new LocalTerms(
                new Attachment(
                        connection,
                        this,
                        memory,
                        keys,
                        nic.copier(),
                        config.permissions(),
                        config.sendQueueSize(),
                        config.rnrTimer()),
                nic.receiveBufferBytes(),
                config.pathMtuBytes(),
                RESPONDER_RESOURCES,
                RESPONDER_RESOURCES,
                ACK_TIMEOUT,
                TRANSPORT_RETRIES,
                config.rnrRetries(),
                config.connectTimeoutNanos());
    }

    /**
     * Connects a connection to the peer's end, and has the thread of the NIC drive it from now on.
     *
     * @param peersTimer the RNR timer of the peer
     * @throws io.softdpu.core.DpuException as {@link io.softdpu.rdma.roce.cm.CmConnection#connect}
     */
    public void connect(
            NicConnection connection, Gid peer, ConnectKey peersKey, RnrTimer peersTimer) {
        nic.start();
        nic.run(() ->
                connection.connect(
                        peer, peersKey, config.rnrRetries(), peersTimer, System.nanoTime()));
    }

    /** Ends a connection in an orderly way; an event follows, unless it has ended. */
    public void disconnect(NicConnection connection) {
        nic.post(() -> connection.disconnect(System.nanoTime()));
    }

    /** Ends a connection in an orderly way, without an event. */
    public void close(NicConnection connection) {
        nic.run(() -> connection.close(System.nanoTime()));
    }

    /** Receives for messages; the engine limits them, completed ones included, to its size. */
    public WorkRing receives() {
        return receives;
    }

    /** Receives that were consumed. */
    public WorkRing completedReceives() {
        return received;
    }

    /** Takes the oldest event; null if there is none. */
    public @Nullable NicEvent pollEvent() {
        return events.poll();
    }

    /** Whether an event waits. */
    public boolean hasEvent() {
        return !events.isEmpty();
    }

    /** Has the NIC take what was published since the last call. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // the engine's thread alone writes it
    public void publish() {
        published++;
        nic.wakeIfAsleep();
    }

    /**
     * From now on each completion and event wakes the engine; then what came before is to be found.
     */
    public void arm() {
        armed = true;
        VarHandle.fullFence();
    }

    /** Reverts {@link #arm}. */
    public void disarm() {
        armed = false;
    }

    /** Ends all connections in an orderly way, each with an event. */
    public void disconnectAll() {
        nic.run(() -> {
            for (NicConnection each : List.copyOf(connections)) {
                each.disconnect(System.nanoTime());
            }
        });
    }

    /** Ends all connections in an orderly way, without events, and removes it from its NIC. */
    public void close() {
        nic.run(() -> {
            for (NicConnection each : List.copyOf(connections)) {
                each.close(System.nanoTime());
            }
            nic.remove(this);
        });
    }

    // ---- for the thread of the NIC ----

    @Override
    public @Nullable WorkRequest take() {
        return receives.poll();
    }

    /** Whether requests were published that were not looked at. */
    boolean hasRequests() {
        return published != seen;
    }

    /**
     * Hands the published requests to the queue pairs.
     *
     * @return whether there were some
     */
    boolean takeRequests() {
        long now = published;
        if (now == seen) {
            return false;
        }
        seen = now;
        boolean taken = false;
        for (int i = 0; i < connections.size(); i++) {
            taken |= connections.get(i).takeRequests();
        }
        return taken;
    }

    /** Number of receives that were completed so far. */
    long received() {
        return received.published();
    }

    void receiveCompleted(WorkRequest receive, Status status) {
        received.add(receive, status);
        boolean _ = received.publish();
        changed();
    }

    void add(NicEvent event) {
        events.add(event);
        changed();
    }

    void remove(NicConnection connection) {
        connections.remove(connection);
    }

    /** There is something for the engine. */
    void changed() {
        hasNews = true;
    }

    /** Wakes the engine if it sleeps and there is something for it. */
    void wakeEngine() {
        if (hasNews) {
            hasNews = false;
            VarHandle.fullFence();
            if (armed) {
                armed = false;
                config.services().wake();
            }
        }
    }
}
