package io.softdpu.rdma.roce.nic;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.cm.CmConnection;
import io.softdpu.rdma.roce.cm.CmState;
import io.softdpu.rdma.roce.cm.ConnectKey;
import io.softdpu.rdma.roce.cm.LocalTerms;
import io.softdpu.rdma.roce.cm.PeerQueuePair;
import io.softdpu.rdma.roce.cm.RequestListener;
import io.softdpu.rdma.roce.rc.Attachment;
import io.softdpu.rdma.roce.rc.PeerMemory;
import io.softdpu.rdma.roce.rc.ReceiveQueue;
import io.softdpu.rdma.roce.rc.RemoteKeys;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Instance between its engine and the adapter: its connections, the receives that they share, the
 * ports on which it listens, and the events and requests for the engine.
 */
public final class NicEndpoint implements ReceiveQueue {
    /** Reads and atomic operations of a peer that a connection answers at a time. */
    public static final int RESPONDER_RESOURCES = 16;

    /** Limit of requests beyond the connections of the instance that its engine has not seen. */
    private static final int BACKLOG = 16;

    /** Of these, those that an address leaves to others. */
    private static final int LEFT_TO_OTHERS = 8;

    /** Longest time between two passes of an engine that polls. */
    private static final long POLL_NANOS = 100_000;

    private static final String STOPPING = "listener is stopping";

    private final Nic nic;
    private final EndpointConfig config;
    private final PeerMemory memory;
    private final RemoteKeys keys;

    /** Of the NIC's address; of the engine's thread. */
    private final RecentInterface network;

    private final WorkRing receives;

    /** Written by the engine's thread. */
    private volatile int pathMtuBytes;

    private final WorkRing received;
    private final Queue<NicEvent> events = new ConcurrentLinkedQueue<>();

    /** Requests of peers that the engine has not seen, oldest first, and their number. */
    private final Queue<NicRequest> arrived = new ConcurrentLinkedQueue<>();

    private final AtomicInteger unseen = new AtomicInteger();

    /** Number of these by IP address, where it is not 0. */
    private final ConcurrentMap<Gid, Integer> unseenOf = new ConcurrentHashMap<>();

    /** Counts the calls of {@link #drive} and {@link #arm} before which something was published. */
    private volatile long published;

    /** Whether the engine sleeps, or is about to. */
    private volatile boolean armed;

    /** Whether the engine has polled since the thread's last look. */
    private volatile boolean driving;

    /** Of the thread of the NIC: when its last successful look was. */
    private long drivenAt = System.nanoTime() - NicSleep.LOOK_NANOS;

    // Of the owner of the NIC.
    private final RequestListener listener = new Requests();
    private final List<NicConnection> connections = new ArrayList<>();
    private final Set<Integer> ports = new HashSet<>();

    /** Requests that were not answered. */
    private final Map<CmConnection, NicRequest> waiting = new HashMap<>();

    private long seen;

    /** Place of the connection whose requests were taken last. */
    private int lastTaken;

    /** Time of the last pass that the engine has driven. */
    private long lastPass = System.nanoTime() - POLL_NANOS;

    /** Whether something was added for the engine since it was woken. */
    private boolean hasNews;

    /**
     * The part of an instance; {@link #open} adds it to its NIC.
     *
     * @param memory that peers of the instance may access
     * @param keys of the memory of peers
     */
    public NicEndpoint(Nic nic, EndpointConfig config, PeerMemory memory, RemoteKeys keys) {
        this(nic, config, memory, keys, new RecentInterface(nic.gid()));
    }

    /** One that sees another interface. */
    NicEndpoint(
            Nic nic,
            EndpointConfig config,
            PeerMemory memory,
            RemoteKeys keys,
            RecentInterface network) {
        this.nic = nic;
        this.config = config;
        this.memory = memory;
        this.keys = keys;
        this.network = network;
        pathMtuBytes = config.pathMtuBytes();
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
        LocalInterface _ = limitPathMtu();
        NicConnection made = new NicConnection(this, owner, config.sendQueueSize());
        nic.run(() -> {
            made.begin(nic.manager().export(terms(made), made));
            connections.add(made);
        });
        return made;
    }

    /**
     * Limits the path MTU of connections that are made from now on by the MTU that the interface
     * has now.
     *
     * @return the interface; null if it was not found
     */
    private @Nullable LocalInterface limitPathMtu() {
        Gid gid = nic.gid();
        LocalInterface own = network.now();
        int limit = pathMtuBytesAt(own);
        if (own != null && limit == 0) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "MTU of the device's interface is too small: address=%s, interface=%s,"
                                    + " mtuBytes=%d, expected=%d or more",
                            gid,
                            own.name(),
                            own.mtuBytes(),
                            LocalInterface.minMtuBytes(gid.isIpv4())));
        }
        pathMtuBytes = limit;
        return own;
    }

    /** The path MTU of the instance, or the lower one that an interface takes; 0 for none. */
    private int pathMtuBytesAt(@Nullable LocalInterface own) {
        int limit =
                own == null ? Headers.MAX_PAYLOAD_BYTES : own.maxPathMtuBytes(nic.gid().isIpv4());
        return Math.min(config.pathMtuBytes(), limit);
    }

    /**
     * Checks the path MTU of a peer that is known by parameters: no message lowers it.
     *
     * @throws DpuException INVALID_VALUE if it is larger than that of the instance, or than the MTU
     *     that the interface has now has room for; NOT_SUPPORTED if that has no room for any
     */
    public void requirePathMtu(int bytes) {
        LocalInterface own = limitPathMtu();
        if (bytes > pathMtuBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "path MTU of the peer is larger than that of this end:"
                                    + " pathMtuBytes=%d, limit=%d, ofInstance=%d, interface=%s,"
                                    + " mtuBytes=%s, expected=a path MTU for both sides that both"
                                    + " interfaces take, and Rdma.setPathMtuBytes before start",
                            bytes,
                            pathMtuBytes,
                            config.pathMtuBytes(),
                            own == null ? "unknown" : own.name(),
                            own == null ? "unknown" : own.mtuBytes()));
        }
    }

    /** The path MTU of this end in bytes, for connections that are made now. */
    public int pathMtuBytes() {
        return pathMtuBytes;
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
                pathMtuBytes,
                RESPONDER_RESOURCES,
                RESPONDER_RESOURCES,
                nic.options().ackTimeout(),
                nic.options().retries(),
                config.rnrRetries(),
                config.connectTimeoutNanos());
    }

    /**
     * Connects a connection to the peer's end, and has the NIC driven from now on.
     *
     * @param peersTimer the RNR timer of the peer
     * @throws io.softdpu.core.DpuException as {@link
     *     io.softdpu.rdma.roce.cm.CmConnection#connect(Gid, ConnectKey, long)}
     */
    public void connect(
            NicConnection connection, Gid peer, ConnectKey peersKey, RnrTimer peersTimer) {
        nic.start();
        nic.run(() ->
                connection.connect(
                        peer, peersKey, config.rnrRetries(), peersTimer, System.nanoTime()));
    }

    /**
     * Connects a connection to a peer without connection management, and has the NIC driven from
     * now on.
     *
     * @throws io.softdpu.core.DpuException as {@link
     *     io.softdpu.rdma.roce.cm.CmConnection#connect(PeerQueuePair, long)}
     */
    public void connect(NicConnection connection, PeerQueuePair peer) {
        nic.start();
        nic.run(() ->
                connection.connect(
                        peer, config.rnrRetries(), config.rnrTimer(), System.nanoTime()));
    }

    /**
     * Requests a connection from a listener, and has the NIC driven from now on.
     *
     * @param data for the listener's program
     * @throws DpuException FULL, NO_MEMORY
     */
    public NicConnection request(ProviderConnection owner, Gid peer, int port, byte[] data) {
        NicConnection made = prepare(owner);
        nic.start();
        nic.run(() -> {
            made.begin(
                    nic.manager().connect(peer, port, data, terms(made), made, System.nanoTime()),
                    config.rnrRetries(),
                    config.rnrTimer());
            connections.add(made);
        });
        return made;
    }

    /** Creates the end of a connection that is to be {@linkplain #accept accepted}. */
    public NicConnection prepare(ProviderConnection owner) {
        LocalInterface _ = limitPathMtu();
        return new NicConnection(this, owner, config.sendQueueSize());
    }

    /**
     * Accepts a request, later. An event follows: that it is established, or that it has ended.
     *
     * @param data for the peer's program
     */
    public void accept(NicConnection prepared, NicRequest request, byte[] data) {
        nic.post(() -> answer(prepared, request.connection(), data));
    }

    /** Rejects a request for the program, later, unless it has ended. */
    public void reject(NicRequest request, byte[] data) {
        nic.post(() -> {
            waiting.remove(request.connection());
            if (request.connection().state() == CmState.REQ_RECEIVED) {
                request.connection().reject(data, System.nanoTime());
            }
        });
    }

    /**
     * Rejects a request for the library, later, unless it has ended.
     *
     * @param reason for the peer's message
     */
    public void refuse(NicRequest request, String reason) {
        nic.post(() -> refuse(request.connection(), reason));
    }

    /**
     * Whether the interface has room for the path MTU of a request, or had a short time ago;
     * otherwise the request is rejected, later.
     */
    public boolean takesPathMtu(NicRequest request) {
        int fixed = request.fixedPathMtuBytes();
        if (fixed == 0) { // an answer lowers it
            return true;
        }
        int limit = pathMtuBytesAt(network.recent());
        if (fixed > limit) {
            nic.post(() -> {
                waiting.remove(request.connection());
                if (request.connection().state() == CmState.REQ_RECEIVED) {
                    request.connection().refusePathMtu(limit, System.nanoTime());
                }
            });
        }
        return fixed <= limit;
    }

    /**
     * Listens on a port, and has the NIC driven from now on.
     *
     * @throws DpuException ALREADY_EXIST if an endpoint of this NIC listens there; NO_MEMORY
     */
    public void listen(int port) {
        LocalInterface _ = limitPathMtu();
        nic.start();
        nic.run(() -> {
            nic.manager().listen(port, listener);
            ports.add(port);
        });
    }

    /** Releases a port, if it listens there; refuses the requests that the engine has not seen. */
    public void stopListening(int port) {
        nic.run(() -> {
            if (ports.remove(port)) {
                nic.manager().stopListening(port);
            }
        });
        for (NicRequest each : arrived) {
            if (each.port() == port && removeUnseen(each)) {
                refuse(each, "listener has released the port: port=" + port);
            }
        }
    }

    /** Removes a request from those that the engine has not seen; false if it is none of these. */
    private boolean removeUnseen(NicRequest request) {
        boolean removed = arrived.remove(request); // by one of both threads
        if (removed) {
            removed(request);
        }
        return removed;
    }

    private void removed(NicRequest request) {
        unseen.decrementAndGet();
        unseenOf.computeIfPresent(addressOf(request), (_, count) -> count == 1 ? null : count - 1);
    }

    private static Gid addressOf(NicRequest request) {
        return new Gid(request.peer().high(), request.peer().low());
    }

    /** Takes the oldest request that the engine has not seen; null if there is none. */
    public @Nullable NicRequest pollRequest() {
        NicRequest next = arrived.poll();
        if (next != null) {
            removed(next);
        }
        return next;
    }

    /** Ends a connection in an orderly way; an event follows, unless it has ended. */
    public void disconnect(NicConnection connection) {
        nic.post(() -> connection.disconnect(System.nanoTime()));
    }

    /** Ends a connection in an orderly way, without an event. */
    public void close(NicConnection connection) {
        nic.run(() -> connection.close(System.nanoTime()));
    }

    /**
     * As {@link #close(NicConnection)}, later: one that was not established, or whose end the
     * engine has seen, has no requests.
     */
    public void closeLater(NicConnection connection) {
        nic.post(() -> connection.close(System.nanoTime()));
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

    /** Whether an event or a request waits. */
    public boolean hasEvent() {
        return !events.isEmpty() || !arrived.isEmpty();
    }

    /**
     * Drives the NIC for a batch of packets, unless another thread does; waits for nothing.
     *
     * @param some whether requests were published since the last call: the thread that drives takes
     *     them
     */
    public void drive(boolean some) {
        tell(some);
        nic.drive(this, some);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // the engine's thread alone writes it
    private void tell(boolean some) {
        if (some) {
            published++;
        }
    }

    /**
     * As {@link #drive}, before the engine sleeps: from now on each completion and event wakes it,
     * and what came before is to be found.
     */
    public void arm(boolean some) {
        tell(some);
        armed = true;
        VarHandle.fullFence();
        nic.drive(this, some);
    }

    /** Reverts {@link #arm}. */
    public void disarm() {
        armed = false;
    }

    /** Ends all connections in an orderly way, each with an event; listens on no port any more. */
    public void disconnectAll() {
        nic.run(() -> {
            stopListening();
            for (NicConnection each : List.copyOf(connections)) {
                each.disconnect(System.nanoTime());
            }
        });
        while (!arrived.isEmpty()) { // they were refused
            NicRequest _ = pollRequest();
        }
    }

    /** Ends all connections in an orderly way, without events, and removes it from its NIC. */
    public void close() {
        nic.run(() -> {
            stopListening();
            for (NicConnection each : List.copyOf(connections)) {
                each.close(System.nanoTime());
            }
            nic.remove(this);
        });
    }

    // ---- for the owner of the NIC ----

    /** Whether its engine sleeps, or is about to. */
    boolean isArmed() {
        return armed;
    }

    /**
     * Its engine has driven the NIC. It is known to poll if it has a short time before as well: the
     * thread leaves no packets to one that comes from time to time.
     */
    void driven(long nanos) {
        boolean polls = nanos - lastPass < POLL_NANOS;
        lastPass = nanos;
        if (polls && !driving) {
            driving = true;
        }
    }

    /** Whether its engine has polled since the thread's last look, and does not sleep. */
    boolean hasPolledSinceLook() {
        return driving && !armed;
    }

    /** Looks whether its engine has polled since the last look. The thread of the NIC. */
    boolean look(long nanos) {
        boolean was = driving;
        if (was) {
            driving = false;
            drivenAt = nanos;
        }
        return was;
    }

    /** Whether its engine has polled a short time before, and does not sleep. The NIC's thread. */
    boolean hasPolledLately(long nanos) {
        return !armed && (driving || nanos - drivenAt < NicSleep.LOOK_NANOS);
    }

    /** Requests to its ports. */
    private final class Requests implements RequestListener {
        @Override
        public void requested(CmConnection request) {
            NicRequest made = new NicRequest(request);
            int limit = config.maxConnections() + BACKLOG;
            if (unseen.get() >= limit || !leavesPlaces(made, limit - LEFT_TO_OTHERS)) {
                request.refuse(
                        Text.format(
                                "listener has not looked at its requests: requests=%d, limit=%d,"
                                        + " limitOfAddress=%d",
                                unseen.get(), limit, limit - LEFT_TO_OTHERS),
                        System.nanoTime());
                return;
            }
            waiting.put(request, made);
            unseen.incrementAndGet();
            unseenOf.merge(addressOf(made), 1, Integer::sum);
            arrived.add(made);
            changed();
        }

        /** Whether the address of a request has fewer unseen ones than its limit. */
        private boolean leavesPlaces(NicRequest request, int limit) {
            return unseen.get() < limit || unseenOf.getOrDefault(addressOf(request), 0) < limit;
        }

        @Override
        public void gone(CmConnection request) {
            NicRequest known = waiting.remove(request);
            if (known != null && !removeUnseen(known)) { // else the engine has not got it
                known.setGone();
                changed();
            }
        }
    }

    private void answer(NicConnection prepared, CmConnection request, byte[] data) {
        waiting.remove(request);
        if (request.state() != CmState.REQ_RECEIVED) {
            prepared.failed(
                    Status.CONNECTION_RESET,
                    "the peer has ended its request: port=" + request.port());
            return;
        }
        try {
            request.accept(data, terms(prepared), prepared, System.nanoTime());
        } catch (RuntimeException | Error e) { // nothing else ends the connection
            refuse(request, "listener has no place for the connection");
            prepared.failed(
                    e instanceof DpuException known ? known.status() : Status.UNEXPECTED,
                    "request cannot be accepted: port="
                            + request.port()
                            + ", failure="
                            + Reason.of(e));
            return;
        }
        prepared.begin(request, config.rnrRetries(), config.rnrTimer());
        connections.add(prepared);
    }

    private void refuse(CmConnection request, String reason) {
        waiting.remove(request);
        if (request.state() == CmState.REQ_RECEIVED) {
            request.refuse(reason, System.nanoTime());
        }
    }

    private void stopListening() {
        for (int port : ports) {
            nic.manager().stopListening(port);
        }
        ports.clear();
        for (CmConnection each : List.copyOf(waiting.keySet())) {
            refuse(each, STOPPING);
        }
    }

    @Override
    public @Nullable WorkRequest take() {
        return receives.poll();
    }

    /** Whether requests were published that were not looked at. */
    boolean hasRequests() {
        return published != seen;
    }

    /**
     * Hands published requests to the queue pairs, up to a limit: then some may be left, and the
     * next call begins with a connection behind those whose were taken.
     *
     * @param limit 1 or more
     * @return their number
     */
    int takeRequests(int limit) {
        long now = published;
        if (now == seen) {
            return 0;
        }
        int taken = 0;
        int count = connections.size();
        for (int i = 0; i < count; i++) {
            lastTaken = lastTaken < count - 1 ? lastTaken + 1 : 0;
            taken += connections.get(lastTaken).takeRequests(limit - taken);
            if (taken == limit) {
                return taken;
            }
        }
        seen = now;
        return taken;
    }

    /** Number of receives that were completed so far. */
    long received() {
        return received.published();
    }

    /** A request of a connection was completed. */
    void requestCompleted() {
        nic.loop().countCompletion();
        changed();
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

    /**
     * Why packets to a peer that does not answer were not sent, for a message; empty if they were.
     */
    String notSent(Gid peer) {
        return nic.sendFailures().text(peer, System.nanoTime());
    }

    void remove(NicConnection connection) {
        connections.remove(connection);
    }

    /** There is something for the engine. */
    void changed() {
        hasNews = true;
    }

    /** The engine finds what there is for it without being woken. */
    void forgetNews() {
        hasNews = false;
    }

    /** Wakes the engine if it sleeps and there is something for it. */
    void wakeEngine() {
        if (hasNews) {
            hasNews = false;
            VarHandle.fullFence();
            if (armed) {
                armed = false; // before the wake, after which the engine may arm again
                boolean woken = false;
                try {
                    config.services().wake();
                    woken = true;
                } finally {
                    if (!woken) {
                        armed = true;
                        hasNews = true;
                    }
                }
            }
        }
    }
}
