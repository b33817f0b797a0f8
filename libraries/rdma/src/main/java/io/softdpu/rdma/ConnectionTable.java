package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
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
 * Connections of a started instance, and the endpoints of the providers that could serve them. The
 * first connect selects the provider: all connections of an instance share one receive queue, which
 * belongs to one provider. Belongs to the engine's thread.
 */
final class ConnectionTable implements EndpointListener {
    private static final Refusal NOT_CONNECTED =
            Refusal.ready(
                    Status.NOT_CONNECTED,
                    () -> "instance has no connection yet: connections=0, expected=Rdma.connect");

    private final RdmaContext rdma;
    private final Device device;
    private final List<RdmaProvider> providers;
    private final @Nullable ProviderEndpoint[] endpoints;
    private final List<RdmaConnection> connections = new ArrayList<>();
    private final int maxConnections;
    private @Nullable ProviderEndpoint selected;
    private int selectedProvider = -1;
    private int lastId;
    private boolean flushed;

    ConnectionTable(RdmaContext rdma, EndpointConfig config) {
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
                    "RDMA instance has reached its limit of connections:"
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
                    ProviderConnection providerConnection = endpoint.createConnection(connection);
                    connection.setProviderConnection(i, providerConnection);
                    RdmaProvider provider = providers.get(i);
                    sections.add(
                            new ConnectionBlob.Section(
                                    provider.id(), provider.name(), providerConnection.details()));
                }
            }
            connection.setBlob(new ConnectionBlob(permissions, sections).encode());
            made = true;
        } finally {
            if (!made) {
                connection.closeProviderConnections();
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
                    && connection.providerConnection(i) != null
                    && providers.get(i).reaches(device, section.details())) {
                select(i);
                connection.select(i, blob.permissions()).connect(section.details());
                changeState(connection, RdmaConnection.State.CONNECTING);
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

    private void select(int provider) {
        if (selectedProvider == provider) {
            return;
        }
        selectedProvider = provider;
        selected = endpoints[provider];
        for (int i = 0; i < endpoints.length; i++) {
            if (i != provider) {
                for (RdmaConnection connection : connections) {
                    connection.closeProviderConnection(i);
                }
                closeEndpoint(i);
            }
        }
    }

    void disconnect(RdmaConnection connection) {
        ProviderConnection providerConnection = connection.selected();
        if (connection.ended()) {
            return;
        }
        if (providerConnection != null) {
            providerConnection.disconnect();
        } else {
            connection.closeProviderConnections();
            changeState(connection, RdmaConnection.State.DISCONNECTED);
        }
    }

    @Nullable Refusal postReceive(WorkRequest request) {
        ProviderEndpoint endpoint = selected;
        return endpoint == null ? NOT_CONNECTED : endpoint.postReceive(request);
    }

    /** The step of the first connection that is missing, for messages. */
    String describeAwaited() {
        RdmaConnection exported = null;
        for (RdmaConnection connection : connections) {
            if (connection.state() == RdmaConnection.State.CONNECTING) {
                return "awaited=peer that connects to the blob of connection " + connection.id();
            }
            if (connection.state() == RdmaConnection.State.EXPORTED) {
                exported = connection;
            }
        }
        return exported == null
                ? "awaited=a connection, expected=exportConnection and connect"
                : "awaited=connect of connection %d with the blob of the peer"
                        .formatted(exported.id());
    }

    boolean progress() {
        ProviderEndpoint endpoint = selected;
        return endpoint != null && endpoint.progress();
    }

    boolean arm() {
        ProviderEndpoint endpoint = selected;
        return endpoint != null && endpoint.arm();
    }

    void ring() {
        ProviderEndpoint endpoint = selected;
        if (endpoint != null) {
            endpoint.ring();
        }
    }

    void disarm() {
        ProviderEndpoint endpoint = selected;
        if (endpoint != null) {
            endpoint.disarm();
        }
    }

    /** Ends all connections and completes all requests in flight; further calls have no effect. */
    void flush() {
        if (flushed) {
            return;
        }
        flushed = true;
        ProviderEndpoint endpoint = selected;
        if (endpoint != null) {
            endpoint.flush(Status.CONNECTION_ABORTED);
        }
        for (RdmaConnection connection : connections) {
            if (!connection.ended()) {
                changeState(connection, RdmaConnection.State.DISCONNECTED);
            }
        }
    }

    void close() {
        for (RdmaConnection connection : connections) {
            connection.closeProviderConnections();
        }
        for (int i = 0; i < endpoints.length; i++) {
            closeEndpoint(i);
        }
        selected = null;
    }

    private void closeEndpoint(int index) {
        ProviderEndpoint endpoint = endpoints[index];
        if (endpoint != null) {
            endpoints[index] = null;
            endpoint.close();
        }
    }

    // ---- events of the provider ----

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
        changeState((RdmaConnection) connection.owner(), RdmaConnection.State.CONNECTED);
    }

    @Override
    public void ended(ProviderConnection connection, Status status, String reason) {
        RdmaConnection ended = (RdmaConnection) connection.owner();
        ended.closeProviderConnections();
        Status ofAtomic = ended.atomicFailure();
        if (status == Status.SUCCESS) {
            if (ofAtomic != Status.SUCCESS && !ended.isDisconnecting()) {
                rdma.connectionFailed(
                        ofAtomic,
                        "the peer disconnected while an atomic operation was in flight: connection="
                                + ended.id(),
                        true);
            }
            changeState(ended, RdmaConnection.State.DISCONNECTED);
            return;
        }
        ended.fail(status, reason);
        rdma.connectionFailed(status, reason, ofAtomic != Status.SUCCESS);
        changeState(ended, RdmaConnection.State.FAILED);
    }

    private void changeState(RdmaConnection connection, RdmaConnection.State next) {
        RdmaConnection.State previous = connection.state();
        connection.changeState(next);
        rdma.notifyConnectionCallback(connection, previous, next);
    }
}
