package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.memory.DomainAccess;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.nic.Nic;
import io.softdpu.rdma.roce.nic.NicConnection;
import io.softdpu.rdma.roce.nic.NicEndpoint;
import io.softdpu.rdma.roce.nic.NicEvent;
import io.softdpu.rdma.roce.nic.WorkRing;
import io.softdpu.rdma.roce.rc.RemoteKeys;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.LocalList;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.ProviderEndpoint;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Connections of an instance, and the receives that they share. It opens the NIC of its address
 * with the first connection. Belongs to the engine's thread.
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

    private final EndpointConfig config;
    private final EndpointListener listener;
    private final Gid gid;
    private final @Nullable RoceConnection[] connections;
    private final Refusal receivesFull;
    private @Nullable LocalNetwork network;
    private @Nullable Nic nic;
    private @Nullable NicEndpoint part;

    /** Access of the NIC to the memory of the device that peers may access. */
    private @Nullable DomainAccess access;

    /** Receives that were posted and not completed. */
    private int posted;

    RoceEndpoint(EndpointConfig config, EndpointListener listener, Gid gid) {
        this.config = config;
        this.listener = listener;
        this.gid = gid;
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

    /** Its part of the NIC; there is one while it has a connection. */
    NicEndpoint part() {
        return Objects.requireNonNull(part, "endpoint with a connection has a NIC");
    }

    /** The details of a connection for its blob. */
    RoceDetails details(NicConnection of) {
        Nic open = Objects.requireNonNull(nic, "endpoint with a connection has a NIC");
        return new RoceDetails(
                open.gid(),
                network(),
                of.queuePair(),
                config.pathMtuBytes(),
                config.rnrTimer(),
                open.receiveBufferBytes(),
                of.key());
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
        return network().reaches(RoceDetails.decode(section).network());
    }

    // ---- connections ----

    @Override
    public RoceConnection createConnection(Object owner) {
        for (int i = 0; i < connections.length; i++) {
            if (connections[i] == null) {
                RoceConnection made = new RoceConnection(this, owner);
                made.begin(opened().export(made));
                connections[i] = made;
                return made;
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
        Nic own = Nic.open(gid);
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
        throw byAddress("port=" + port);
    }

    @Override
    public void stopListening(int port) {
        // It listens on none.
    }

    @Override
    public ProviderConnection connect(
            InetAddress address, int port, byte[] privateData, Object owner) {
        throw byAddress("address=" + address.getHostAddress() + ", port=" + port);
    }

    private static DpuException byAddress(String details) {
        return new DpuException(
                Status.NOT_SUPPORTED,
                "provider roce does not connect by address: "
                        + details
                        + ", expected=a connection by blobs");
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

    private void publish() {
        boolean some = false;
        for (RoceConnection connection : connections) {
            if (connection != null) {
                some |= connection.publish();
            }
        }
        if (some) {
            part().publish();
        }
    }

    // ---- progress ----

    @Override
    public boolean progress() {
        if (part == null) {
            return false;
        }
        publish();
        for (RoceConnection connection : connections) {
            if (connection != null) {
                connection.handOver();
            }
        }
        return report();
    }

    /**
     * Reports completions and events. An event comes behind the receives that were completed before
     * it, and before those of its connection that were completed after it.
     */
    private boolean report() {
        NicEndpoint open = part();
        long completed = open.completedReceives().published();
        boolean moved = false;
        NicEvent event = open.pollEvent();
        while (event != null) {
            moved = true;
            boolean _ = reportReceives(event.receives());
            ((RoceConnection) event.connection().owner()).happened(event);
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
        publish();
        open.arm();
        boolean work = open.hasEvent() || open.completedReceives().available() > 0;
        for (RoceConnection connection : connections) {
            work |= connection != null && connection.hasWork();
        }
        return work;
    }

    @Override
    public void ring() {
        if (part != null) {
            publish();
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
        open.disconnectAll();
        boolean _ = report();
        WorkRequest receive = open.receives().poll();
        while (receive != null) { // the NIC takes none any more
            posted--;
            receive.sink.completed(status);
            receive = open.receives().poll();
        }
    }

    @Override
    public void close() {
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
