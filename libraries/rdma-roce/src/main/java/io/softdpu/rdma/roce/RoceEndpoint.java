package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.memory.DomainAccess;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.nic.Nic;
import io.softdpu.rdma.roce.nic.NicConnection;
import io.softdpu.rdma.roce.nic.NicEndpoint;
import io.softdpu.rdma.roce.nic.NicEvent;
import io.softdpu.rdma.roce.nic.NicRequest;
import io.softdpu.rdma.roce.nic.WorkRing;
import io.softdpu.rdma.roce.rc.RemoteKeys;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.LocalList;
import io.softdpu.rdma.spi.ProviderEndpoint;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Connections of an instance, the receives that they share, and the requests of peers. It opens the
 * NIC of its address with the first connection or port. Belongs to the engine's thread.
 */
final class RoceEndpoint implements ProviderEndpoint {
    /** A thread like that of the NIC: it owns no memory. */
    private static final Thread LIKE_THE_NICS = Thread.ofPlatform().unstarted(() -> {});

    private static final RemoteKeys KEYS =
            new RemoteKeys() {
                @Override
                public int key(RemoteMemory memory) {
                    return memory.key();
                }

                @Override
                public long address(RemoteMemory memory) {
                    return memory.address();
                }
            };

    /** Requests per pass of progress, so that a burst of them does not delay the connections. */
    private static final int REQUESTS_PER_PASS = 4;

    private final EndpointConfig config;
    private final EndpointListener listener;
    private final Gid gid;
    private final @Nullable RoceConnection[] connections;
    private final Refusal receivesFull;

    /** Requests of peers that were reported, and wait for an answer. */
    private final List<RoceRequest> requests = new ArrayList<>();

    private @Nullable LocalNetwork network;
    private @Nullable Nic nic;
    private @Nullable NicEndpoint part;

    /** Access of the NIC to the memory of the device that peers may access. */
    private @Nullable DomainAccess access;

    /** Receives that were posted and not completed. */
    private int posted;

    RoceEndpoint(EndpointConfig config, EndpointListener listener, Gid gid) {
        this(config, listener, gid, null);
    }

    /** With the network of its address, for tests; null if it is to be found. */
    RoceEndpoint(
            EndpointConfig config,
            EndpointListener listener,
            Gid gid,
            @Nullable LocalNetwork network) {
        this.config = config;
        this.listener = listener;
        this.gid = gid;
        this.network = network;
        connections = new @Nullable RoceConnection[config.maxConnections()];
        receivesFull =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                Text.format(
                                        "receive queue is full: receives=%d, receiveQueueSize=%d,"
                                                + " expected=a completion first",
                                        config.receiveQueueSize(), config.receiveQueueSize()));
    }

    EndpointConfig config() {
        return config;
    }

    EndpointListener listener() {
        return listener;
    }

    /** Its part of the NIC; there is one from its first connection or port until its end. */
    NicEndpoint part() {
        return Objects.requireNonNull(part, "endpoint with a connection has a NIC");
    }

    /**
     * Serves the memory of the device from now on: what was imported to be passed on is mapped
     * before a peer is connected. Waits for that, the first time.
     */
    void serve() {
        Objects.requireNonNull(access, "endpoint with a connection has access").serve();
    }

    @Override
    public SequencedMap<String, Long> counters() {
        Nic open = nic;
        return open == null ? new LinkedHashMap<>() : open.counters();
    }

    /** The details of a connection for its blob. */
    RoceDetails details(NicConnection of) {
        Nic open = Objects.requireNonNull(nic, "endpoint with a connection has a NIC");
        return new RoceDetails(
                open.gid(),
                network(),
                of.queuePair(),
                part().pathMtuBytes(),
                config.rnrTimer(),
                open.receiveBufferBytes(),
                of.key(),
                of.firstPsn());
    }

    /** The network of its address; as the blobs state it, so that both ends find the same. */
    private LocalNetwork network() {
        LocalNetwork own = network;
        if (own == null) {
            own = LocalNetwork.of(gid);
            network = own;
        }
        return own;
    }

    @Override
    public boolean reaches(byte[] section) {
        if (RoceQueuePair.isOne(section)) {
            requireReached(RoceQueuePair.decode(section));
            return true;
        }
        return network().reaches(RoceDetails.decode(section).network());
    }

    /** Checks that a connection can be connected to a peer that is known by parameters. */
    private void requireReached(RoceQueuePair peer) {
        Gid address = Gid.ofAddress(peer.gid().getAddress());
        if (!network().reaches(address)) {
            throw new DpuException(Status.NOT_SUPPORTED, notInReach(address));
        }
        openedForAddresses().requirePathMtu(peer.pathMtuBytes());
    }

    // ---- connections ----

    @Override
    public RoceConnection createConnection(Object owner) {
        int place = freePlace();
        RoceConnection made = new RoceConnection(this, owner);
        made.begin(opened().export(made));
        connections[place] = made;
        return made;
    }

    private int freePlace() {
        for (int i = 0; i < connections.length; i++) {
            if (connections[i] == null) {
                return i;
            }
        }
        throw new DpuException(
                Status.FULL,
                "RDMA instance has reached its limit of connections: maxConnections="
                        + connections.length);
    }

    private NicEndpoint opened() {
        NicEndpoint known = part;
        return known == null ? open() : known;
    }

    private NicEndpoint open() {
        Nic own = RoceProcess.openNic(gid);
        boolean opened = false;
        try {
            DomainAccess granted = Regions.domainOf(config.device()).attach(own.batches());
            try {
                NicEndpoint made =
                        new NicEndpoint(
                                own,
                                config,
                                (key, address, lengthBytes, right) ->
                                        granted.find(key, address, lengthBytes, right.bit()),
                                KEYS);
                made.open();
                opened = true;
                nic = own;
                access = granted;
                part = made;
                return made;
            } finally {
                if (!opened) {
                    granted.close();
                }
            }
        } finally {
            if (!opened) {
                own.release();
            }
        }
    }

    @Override
    public void listen(int port) {
        boolean isFirst = part == null;
        boolean listening = false;
        try {
            listen(openedForAddresses(), port);
            listening = true;
        } finally {
            if (isFirst && !listening) {
                closePart();
            }
        }
    }

    private void listen(NicEndpoint open, int port) {
        try {
            open.listen(port);
        } catch (DpuException e) {
            throw e.status() == Status.ALREADY_EXIST ? inUse(port, e) : e;
        }
    }

    /** Another endpoint of the NIC, which is this process's, listens on the port. */
    private DpuException inUse(int port, DpuException cause) {
        return new DpuException(
                Status.ALREADY_EXIST,
                Text.format(
                        "RDMA port is in use: port=%d, device=%s, holder=process %d,"
                                + " expected=another port, or stopListening there first",
                        port, config.device().info(), ProcessHandle.current().pid()),
                cause);
    }

    @Override
    public void stopListening(int port) {
        NicEndpoint open = part;
        if (open != null) {
            open.stopListening(port);
        }
    }

    @Override
    public RoceConnection connect(InetAddress address, int port, byte[] privateData, Object owner) {
        Gid peer = Gid.ofAddress(address.getAddress());
        if (!network().reaches(peer)) {
            throw new DpuException(Status.NOT_SUPPORTED, notInReach(peer));
        }
        int place = freePlace();
        RoceConnection made = new RoceConnection(this, owner);
        boolean isFirst = part == null;
        boolean requested = false;
        try {
            NicEndpoint open = openedForAddresses();
            serve();
            made.beginRequest(open.request(made, peer, port, privateData), peer, port);
            requested = true;
        } finally {
            if (isFirst && !requested) {
                closePart();
            }
        }
        connections[place] = made;
        return made;
    }

    private String notInReach(Gid peer) {
        if (peer.isIpv4() != gid.isIpv4()) {
            return Text.format(
                    "address is of another family than the GID of the instance: address=%s, gid=%s,"
                            + " %s, expected=an %s address, or the GID index of the other",
                    peer, gid, deviceAddresses(), gid.isIpv4() ? "IPv4" : "IPv6");
        }
        if (peer.isLinkLocal()) {
            return Text.format(
                    "link-local address names no interface: address=%s, gid=%s, %s, expected=an"
                            + " address of the peer's device in the subnet of the GID",
                    peer, gid, deviceAddresses());
        }
        return Text.format(
                "address is not in the network of the device: address=%s, gid=%s, prefixLength=%d,"
                        + " %s, expected=an address of this subnet; for a loopback address one in"
                        + " 127.0.0.0/8, or ::1",
                peer, gid, network().prefixLength(), deviceAddresses());
    }

    /** All addresses of the device, for messages. */
    private String deviceAddresses() {
        DeviceInfo info = config.device().info();
        return Text.format(
                "device=%s, ipv4=%s, ipv6=%s",
                info.ibdevName(),
                Gid.ofAddress(info.ipv4().getAddress()),
                Gid.ofAddress(info.ipv6().getAddress()));
    }

    /**
     * Its part of the NIC for connections by address and by parameters: peers know the address
     * alone, and so send to the port of RoCE v2.
     */
    private NicEndpoint openedForAddresses() {
        NicEndpoint open = opened();
        Nic own = Objects.requireNonNull(nic, "an open endpoint has a NIC");
        if (own.gid().port() == Headers.UDP_PORT) {
            return open;
        }
        throw new PortHeldException(own);
    }

    /** Accepts a request in the next progress. */
    RoceConnection accept(NicRequest request, byte[] privateData, Object owner) {
        int place = freePlace();
        serve();
        RoceConnection made = new RoceConnection(this, owner);
        made.beginAccept(part().prepare(made), request, privateData);
        connections[place] = made;
        return made;
    }

    /** Removes a connection; returns whether it was present. */
    boolean forget(RoceConnection connection) {
        for (int i = 0; i < connections.length; i++) {
            if (connections[i] == connection) {
                connections[i] = null;
                return true;
            }
        }
        return false;
    }

    // ---- requests and receives ----

    /** Checks that the NIC may access the local memory of a request, which it does later. */
    @Nullable Refusal checkAccess(WorkRequest request) {
        LocalList local = request.local;
        for (int i = 0; i < local.count(); i++) {
            MemorySegment memory = local.segment(i);
            if (!memory.isAccessibleBy(LIKE_THE_NICS)) {
                return Refusal.of(
                        Status.NOT_SUPPORTED,
                        "memory of a task is confined to its thread: memory=%s, expected=memory of"
                                + " Arena.ofShared, Arena.ofAuto or SharedMemory, which the thread"
                                + " of the NIC may access",
                        memory);
            }
        }
        return null;
    }

    @Override
    public @Nullable Refusal postReceive(WorkRequest request) {
        if (posted == config.receiveQueueSize()) {
            return receivesFull;
        }
        Refusal refusal = checkAccess(request);
        if (refusal != null) {
            return refusal;
        }
        WorkRing receives = part().receives();
        receives.add(request, Status.SUCCESS);
        boolean _ = receives.publish();
        posted++;
        return null;
    }

    /** Publishes requests; whether there were some. */
    private boolean publish() {
        boolean some = false;
        for (RoceConnection connection : connections) {
            if (connection != null) {
                some |= connection.publish();
            }
        }
        return some;
    }

    // ---- progress ----

    @Override
    public boolean progress() {
        NicEndpoint open = part;
        if (open == null) {
            return false;
        }
        boolean some = publish();
        for (RoceConnection connection : connections) {
            if (connection != null) {
                connection.handOver();
            }
        }
        open.drive(some);
        boolean moved = report();
        return reportRequests() || moved;
    }

    /**
     * Reports completions and events. An event comes behind the receives that were completed before
     * it, and before those of its connection that were completed after it.
     */
    private boolean report() {
        NicEndpoint open = part();
        long completed = open.completedReceives().published();
        for (RoceConnection connection : connections) {
            if (connection != null) {
                connection.seeCompletions();
            }
        }
        boolean moved = false;
        NicEvent event = open.pollEvent();
        while (event != null) {
            moved = true;
            boolean _ = reportReceives(event.receives());
            ((RoceConnection) event.connection().owner()).happened(event.what());
            event = open.pollEvent();
        }
        moved |= reportReceives(completed);
        for (int i = 0; i < connections.length; i++) {
            RoceConnection connection = connections[i];
            if (connection != null) {
                moved |= connection.progress();
            }
        }
        return moved;
    }

    /**
     * Reports requests that have arrived, and notes the ends of those that were reported.
     *
     * @return whether there were some
     */
    private boolean reportRequests() {
        boolean moved = false;
        for (int i = requests.size() - 1; i >= 0; i--) {
            RoceRequest each = requests.get(i);
            moved |= each.noteEnd();
            if (each.hasEnded()) {
                requests.remove(i);
            }
        }
        for (int left = REQUESTS_PER_PASS; left > 0; left--) {
            NicEndpoint open = part; // until a callback ends it
            if (open == null) {
                break;
            }
            NicRequest next = open.pollRequest();
            if (next == null) {
                break;
            }
            moved = true;
            if (next.isGone()) {
                continue;
            }
            if (!network().reaches(next.peer())) { // a router or another interface has let it pass
                open.refuse(next, notInReach(next.peer()));
                continue;
            }
            if (!open.takesPathMtu(next)) {
                continue;
            }
            RoceRequest made = new RoceRequest(this, next);
            requests.add(made);
            listener.requested(this, made);
        }
        return moved;
    }

    /** Reports completed receives up to a number of all. */
    private boolean reportReceives(long end) {
        WorkRing completed = part().completedReceives();
        boolean some = false;
        while (completed.taken() < end) {
            WorkRequest receive = Objects.requireNonNull(completed.poll(), "a completed receive");
            some = true;
            posted--;
            receive.sink.completed(completed.status());
        }
        return some;
    }

    // ---- sleep ----

    @Override
    public boolean arm() {
        NicEndpoint open = part;
        if (open == null) {
            return false;
        }
        open.arm(publish());
        boolean work = open.hasEvent() || open.completedReceives().available() > 0;
        for (RoceConnection connection : connections) {
            work |= connection != null && connection.hasWork();
        }
        for (int i = 0; i < requests.size(); i++) {
            work |= requests.get(i).hasWork();
        }
        return work;
    }

    @Override
    public void ring() {
        NicEndpoint open = part;
        if (open != null && publish()) {
            open.drive(true);
        }
    }

    @Override
    public void disarm() {
        NicEndpoint open = part;
        if (open != null) {
            open.disarm();
        }
    }

    // ---- end ----

    @Override
    public void flush(Status status) {
        NicEndpoint open = part;
        if (open == null) {
            return;
        }
        endRequests();
        for (RoceConnection connection : connections) {
            if (connection != null) {
                connection.flush();
            }
        }
        open.disconnectAll();
        boolean _ = report();
        WorkRequest receive = open.receives().poll();
        while (receive != null) { // the NIC takes none any more
            posted--;
            receive.sink.completed(status);
            receive = open.receives().poll();
        }
    }

    /** They cannot be answered any more: the NIC refuses them. */
    private void endRequests() {
        requests.forEach(RoceRequest::end);
        requests.clear();
    }

    @Override
    public void close() {
        endRequests();
        try {
            for (int i = 0; i < connections.length; i++) {
                RoceConnection connection = connections[i];
                if (connection != null) {
                    connection.close();
                }
            }
        } finally {
            closePart();
        }
    }

    private void closePart() {
        NicEndpoint open = part;
        Nic own = nic;
        DomainAccess granted = access;
        if (open != null && own != null && granted != null) {
            part = null;
            nic = null;
            access = null;
            try {
                open.close();
            } finally {
                try {
                    granted.close();
                } finally {
                    own.release();
                }
            }
        }
    }
}
