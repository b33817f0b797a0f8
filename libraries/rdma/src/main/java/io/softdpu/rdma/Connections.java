package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.ProviderEndpoint;
import io.softdpu.rdma.spi.RdmaProvider;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a started instance, and the endpoints of the providers that could serve them.
 * The first connect decides for one provider: all connections of an instance share one receive
 * queue, which only one provider can have.
 */
final class Connections implements EndpointListener {
    private final RdmaContext rdma;
    private final Device device;
    private final List<RdmaProvider> providers;
    private final @Nullable ProviderEndpoint[] endpoints;
    private final List<RdmaConnection> connections = new ArrayList<>();
    private final int maxConnections;
    private @Nullable ProviderEndpoint chosen;
    private int chosenProvider = -1;
    private int lastId;
    private boolean flushed;

    Connections(RdmaContext rdma, EndpointConfig config) {
        this.rdma = rdma;
        this.device = config.device();
        this.maxConnections = config.maxConnections();
        this.providers = Providers.require(device.info());
        this.endpoints = new @Nullable ProviderEndpoint[providers.size()];
        boolean opened = false;
        try {
            for (int i = 0; i < endpoints.length; i++) {
                endpoints[i] = providers.get(i).open(config, this);
            }
            opened = true;
        } finally {
            if (!opened) {
                close();
            }
        }
    }

    RdmaConnection export(Permissions permissions) {
        connections.removeIf(RdmaConnection::ended);
        if (connections.size() == maxConnections) {
            throw new DpuException(
                    Status.FULL,
                    "RDMA instance has all the connections that it was configured for:"
                            + " maxConnections="
                            + maxConnections);
        }
        RdmaConnection connection = new RdmaConnection(rdma, ++lastId, endpoints.length);
        List<ConnectionBlob.Section> sections = new ArrayList<>();
        boolean made = false;
        try {
            for (int i = 0; i < endpoints.length; i++) {
                ProviderEndpoint endpoint = endpoints[i];
                if (endpoint != null) {
                    ProviderConnection half = endpoint.createConnection(connection);
                    connection.setHalf(i, half);
                    RdmaProvider provider = providers.get(i);
                    sections.add(
                            new ConnectionBlob.Section(
                                    provider.id(), provider.name(), half.details()));
                }
            }
            connection.setBlob(new ConnectionBlob(permissions, sections).encode());
            made = true;
        } finally {
            if (!made) {
                connection.closeHalves();
            }
        }
        connections.add(connection);
        return connection;
    }

    void connect(RdmaConnection connection, byte[] peerBlob) {
        if (connection.state() != RdmaConnection.State.EXPORTED) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "RDMA connection was connected before: connection=" + connection);
        }
        ConnectionBlob blob = ConnectionBlob.decode(peerBlob);
        for (int i = 0; i < endpoints.length; i++) {
            ConnectionBlob.Section section = blob.sectionOf(providers.get(i).id());
            if (section != null
                    && connection.half(i) != null
                    && providers.get(i).reaches(device, section.details())) {
                choose(i);
                connection.choose(i, blob.permissions()).connect(section.details());
                enter(connection, RdmaConnection.State.CONNECTING);
                return;
            }
        }
        throw new DpuException(
                Status.NOT_SUPPORTED,
                "no RDMA provider of both sides reaches the peer: here="
                        + Providers.names(providers)
                        + ", peer="
                        + blob.providerNames());
    }

    private void choose(int provider) {
        if (chosenProvider == provider) {
            return;
        }
        chosenProvider = provider;
        chosen = endpoints[provider];
        for (int i = 0; i < endpoints.length; i++) {
            if (i != provider) {
                for (RdmaConnection connection : connections) {
                    connection.closeHalf(i);
                }
                closeEndpoint(i);
            }
        }
    }

    void disconnect(RdmaConnection connection) {
        ProviderConnection half = connection.chosen();
        if (connection.ended()) {
            return;
        }
        if (half != null) {
            half.disconnect();
        } else {
            connection.closeHalves();
            enter(connection, RdmaConnection.State.DISCONNECTED);
        }
    }

    Status postReceive(WorkRequest request) {
        ProviderEndpoint endpoint = chosen;
        return endpoint == null ? Status.NOT_CONNECTED : endpoint.postReceive(request);
    }

    boolean progress() {
        ProviderEndpoint endpoint = chosen;
        return endpoint != null && endpoint.progress();
    }

    boolean arm() {
        ProviderEndpoint endpoint = chosen;
        return endpoint != null && endpoint.arm();
    }

    void ring() {
        ProviderEndpoint endpoint = chosen;
        if (endpoint != null) {
            endpoint.ring();
        }
    }

    void disarm() {
        ProviderEndpoint endpoint = chosen;
        if (endpoint != null) {
            endpoint.disarm();
        }
    }

    /** Ends all connections and completes everything that is in flight; once. */
    void flush() {
        if (flushed) {
            return;
        }
        flushed = true;
        ProviderEndpoint endpoint = chosen;
        if (endpoint != null) {
            endpoint.flush(Status.CONNECTION_ABORTED);
        }
        for (RdmaConnection connection : connections) {
            if (!connection.ended()) {
                enter(connection, RdmaConnection.State.DISCONNECTED);
            }
        }
    }

    void close() {
        for (RdmaConnection connection : connections) {
            connection.closeHalves();
        }
        for (int i = 0; i < endpoints.length; i++) {
            closeEndpoint(i);
        }
        chosen = null;
    }

    private void closeEndpoint(int index) {
        ProviderEndpoint endpoint = endpoints[index];
        if (endpoint != null) {
            endpoints[index] = null;
            endpoint.close();
        }
    }

    // ---- what the provider reports ----

    @Override
    public void completed(WorkRequest request, Status status) {
        ((RdmaTask) request.owner).finish(status);
    }

    @Override
    public void received(WorkRequest request, Status status, @Nullable ProviderConnection from) {
        RdmaConnection connection = from == null ? null : (RdmaConnection) from.owner();
        ((ReceiveTask) request.owner).finish(status, connection);
    }

    @Override
    public void established(ProviderConnection connection) {
        rdma.connectionEstablished();
        enter((RdmaConnection) connection.owner(), RdmaConnection.State.CONNECTED);
    }

    @Override
    public void ended(ProviderConnection connection, Status status, String reason) {
        RdmaConnection ended = (RdmaConnection) connection.owner();
        ended.closeHalves();
        if (status == Status.SUCCESS) {
            enter(ended, RdmaConnection.State.DISCONNECTED);
            return;
        }
        ended.fail(status, reason);
        rdma.connectionFailed(status, reason);
        enter(ended, RdmaConnection.State.FAILED);
    }

    private void enter(RdmaConnection connection, RdmaConnection.State next) {
        RdmaConnection.State previous = connection.state();
        connection.enter(next);
        rdma.tellConnectionCallback(connection, previous, next);
    }
}
