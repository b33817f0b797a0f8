package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.ProviderEndpoint;
import io.softdpu.rdma.spi.WorkRequest;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** Connections of an instance and the receives that they share. Belongs to the engine's thread. */
final class ShmEndpoint implements ProviderEndpoint {
    private final EndpointConfig config;
    private final EndpointListener listener;
    private final Bus bus;

    /** Posted receives, oldest first, shared by the connections. */
    private final FixedQueue<WorkRequest> receives;

    private final Refusal receivesFull;
    private final @Nullable ShmConnection[] connections;
    private final ShmListeners listeners;
    private boolean insideProgress;
    private boolean receiveLimitDirty;

    ShmEndpoint(EndpointConfig config, EndpointListener listener) {
        this.config = config;
        this.listener = listener;
        this.bus = BusServices.bus(config.device());
        this.receives = new FixedQueue<>(config.receiveQueueSize());
        this.receivesFull =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                Text.format(
                                        "receive queue is full: receives=%d, receiveQueueSize=%d,"
                                                + " expected=a completion first",
                                        config.receiveQueueSize(), config.receiveQueueSize()));
        this.connections = new @Nullable ShmConnection[config.maxConnections()];
        this.listeners = new ShmListeners(this, config.maxConnections());
    }

    @Override
    public boolean reaches(byte[] section) {
        return reaches(bus, ShmDetails.decode(section));
    }

    /** Whether a region of a peer is of this kernel and this fabric folder. */
    static boolean reaches(Bus bus, ShmDetails details) {
        RegionAddress region = details.region();
        return region.bootId().equals(bus.bootId()) && region.fabricId().equals(bus.fabricId());
    }

    @Override
    public ShmConnection createConnection(Object owner) {
        for (int i = 0; i < connections.length; i++) {
            if (connections[i] == null) {
                ShmConnection made = new ShmConnection(this, owner);
                connections[i] = made;
                return made;
            }
        }
        throw new DpuException(
                Status.FULL,
                "RDMA instance has reached its limit of connections: maxConnections="
                        + connections.length);
    }

    @Override
    public void listen(int port) {
        listeners.listen(port);
    }

    @Override
    public void stopListening(int port) {
        listeners.stopListening(port);
    }

    @Override
    public ProviderConnection connect(
            InetAddress address, int port, byte[] privateData, Object owner) {
        PciFunction function = ListenerName.functionAt(config.device().info(), address);
        if (function == null) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "address is of no function of the topology: address=%s",
                            address.getHostAddress()));
        }
        ShmConnection connection = createConnection(owner);
        boolean begun = false;
        try {
            connection.setup().request(ListenerName.of(function, port), address, port, privateData);
            begun = true;
            return connection;
        } finally {
            if (!begun) {
                connection.close();
            }
        }
    }

    @Override
    public @Nullable Refusal postReceive(WorkRequest request) {
        if (receives.isFull()) {
            return receivesFull;
        }
        receives.add(request);
        receiveLimitDirty = true;
        if (!insideProgress) {
            publishReceiveLimits();
        }
        return null;
    }

    @Override
    public boolean progress() {
        boolean moved;
        insideProgress = true;
        try {
            moved = listeners.progress();
            for (ShmConnection connection : connections) {
                if (connection != null) {
                    moved |= connection.progress();
                }
            }
        } finally {
            insideProgress = false;
        }
        if (receiveLimitDirty) {
            publishReceiveLimits();
        }
        return moved;
    }

    /** A connection has taken a receive: the limit of the other connections is lower now. */
    void receiveTaken() {
        receiveLimitDirty |= connections.length > 1;
    }

    private void publishReceiveLimits() {
        receiveLimitDirty = false;
        for (ShmConnection connection : connections) {
            if (connection != null) {
                connection.receiveLimitChanged();
            }
        }
    }

    @Override
    public boolean arm() {
        boolean work = listeners.hasWork();
        for (ShmConnection connection : connections) {
            if (connection != null) {
                work |= connection.arm();
            }
        }
        return work;
    }

    @Override
    public void ring() {
        for (ShmConnection connection : connections) {
            if (connection != null) {
                connection.ring();
            }
        }
    }

    @Override
    public void disarm() {
        for (ShmConnection connection : connections) {
            if (connection != null) {
                connection.disarm();
            }
        }
    }

    @Override
    public void flush(Status status) {
        listeners.close();
        for (ShmConnection connection : connections) {
            if (connection != null) {
                connection.finish(CloseReason.LOCAL_DISCONNECT);
            }
        }
        WorkRequest receive = receives.poll();
        while (receive != null) {
            receive.sink.completed(status);
            receive = receives.poll();
        }
    }

    @Override
    public void close() {
        listeners.close();
        for (ShmConnection connection : connections) {
            if (connection != null) {
                connection.close();
            }
        }
    }

    /** Removes a connection; returns whether it was present. */
    boolean forget(ShmConnection connection) {
        for (int i = 0; i < connections.length; i++) {
            if (connections[i] == connection) {
                connections[i] = null;
                return true;
            }
        }
        return false;
    }

    ContextServices services() {
        return config.services();
    }

    Bus bus() {
        return bus;
    }

    EndpointListener listener() {
        return listener;
    }

    FixedQueue<WorkRequest> receives() {
        return receives;
    }

    EndpointConfig config() {
        return config;
    }

    boolean insideProgress() {
        return insideProgress;
    }
}
