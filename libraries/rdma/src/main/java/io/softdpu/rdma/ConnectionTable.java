package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Permissions;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.ConnectRequest;
import io.softdpu.rdma.spi.ConnectionBlob;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.ProviderEndpoint;
import io.softdpu.rdma.spi.RdmaProvider;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Connections of a started instance, by blob and by address. The first connection selects the
 * provider: by blobs that is the first connect; by address the first request that is accepted, or
 * the first answer that accepts one, and until then each endpoint that listens or connects is
 * driven. Belongs to the engine's thread.
 */
final class ConnectionTable extends ProviderEndpoints implements EndpointListener {
    private final RdmaContext rdma;
    private final List<RdmaConnection> connections = new ArrayList<>();
    private final int maxConnections;
    private final List<RdmaConnectionRequest> requests = new ArrayList<>();

    /** Whether a request was accepted outside progress, whose context is not RUNNING yet. */
    private boolean startPending;

    private int lastId;

    /** The connection that failed last, unless another was begun since; null for none. */
    private @Nullable RdmaConnection lastFailed;

    private boolean flushed;

    ConnectionTable(RdmaContext rdma, EndpointConfig config, List<RdmaProvider> providers) {
        super(providers);
        this.rdma = rdma;
        this.maxConnections = config.maxConnections();
        open(config, this, rdma);
    }

    RdmaConnection export(Permissions permissions) {
        requireRoom();
        RdmaConnection connection = new RdmaConnection(rdma, ++lastId, endpoints.length);
        List<ConnectionBlob.Section> sections = new ArrayList<>();
        ProviderFailures failures = failuresOfCall();
        boolean made = false;
        try {
            for (int i = 0; i < endpoints.length; i++) {
                ProviderEndpoint endpoint = endpoints[i];
                if (endpoint != null) {
                    try {
                        sections.add(sectionOf(connection, i, endpoint));
                    } catch (DpuException e) {
                        connection.closeProviderConnection(i);
                        failures.add(providers.get(i), e);
                    }
                }
            }
            if (sections.isEmpty()) {
                throw failures.ofAll("no RDMA provider can export a connection: context=" + rdma);
            }
            connection.setBlob(new ConnectionBlob(permissions, sections).encode(), failures);
            made = true;
        } finally {
            if (!made) {
                connection.closeProviderConnections();
            }
        }
        begun(connection);
        return connection;
    }

    private ConnectionBlob.Section sectionOf(
            RdmaConnection connection, int index, ProviderEndpoint endpoint) {
        ProviderConnection providerConnection = endpoint.createConnection(connection);
        connection.setProviderConnection(index, providerConnection);
        RdmaProvider provider = providers.get(index);
        return new ConnectionBlob.Section(
                provider.id(), provider.name(), providerConnection.details());
    }

    private void begun(RdmaConnection connection) {
        connections.add(connection);
        lastFailed = null;
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
            ProviderEndpoint endpoint = endpoints[i];
            ProviderConnection chosen = connection.providerConnection(i);
            if (section != null
                    && endpoint != null
                    && chosen != null
                    && endpoint.reaches(section.details())) {
                chosen.connect(section.details()); // first: a refusal is to change nothing
                List<RdmaConnection> failed = select(i);
                try {
                    connection.select(i, providers.get(i).name(), blob.permissions());
                    changeState(connection, RdmaConnection.State.CONNECTING);
                } finally {
                    notifyFailed(failed);
                }
                return;
            }
        }
        throw new DpuException(
                Status.NOT_SUPPORTED,
                "no RDMA provider of both sides reaches the peer: here="
                        + Providers.names(providers)
                        + ", peer="
                        + blob.providerNames()
                        + connection.leftOut());
    }

    private void requireRoom() {
        connections.removeIf(RdmaConnection::ended);
        if (connections.size() == maxConnections) {
            throw new DpuException(
                    Status.FULL,
                    "RDMA instance has reached its limit of connections:"
                            + " maxConnections="
                            + maxConnections);
        }
    }

    // ---- by address ----

    void listen(int port) {
        if (listensOn(port)) {
            throw new DpuException(
                    Status.ALREADY_EXIST,
                    Text.format(
                            "RDMA port is in use: port=%d, holder=%s, expected=another port, or"
                                    + " stopListening first",
                            port, rdma));
        }
        listenOnAll(port);
    }

    void stopListening(int port) {
        if (!listensOn(port)) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    Text.format(
                            "RDMA instance does not listen on this port: port=%d, context=%s,"
                                    + " %s",
                            port, rdma, describePorts()));
        }
        stopListeningOnAll(port);
    }

    RdmaConnection connect(RdmaAddress address, byte[] privateData) {
        requireRoom();
        RdmaConnection connection =
                new RdmaConnection(rdma, ++lastId, endpoints.length, address.address());
        ProviderFailures failures = failuresOfCall();
        if (!request(connection, address, privateData, 0, failures)) {
            if (failures.hasOtherThan(Status.NOT_SUPPORTED)) {
                throw failures.ofAll("no RDMA provider can connect: address=" + address);
            }
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "no RDMA provider reaches the address: address=%s, providers=%s%s",
                            address, Providers.names(providers), failures.suffix("tried")));
        }
        begun(connection);
        return connection;
    }

    /**
     * Requests the connection from the first provider that reaches the address and can connect.
     *
     * @param from index of the first provider to be asked
     * @param failures gets the reasons of those that were asked before it
     * @return false if none can
     */
    private boolean request(
            RdmaConnection connection,
            RdmaAddress address,
            byte[] privateData,
            int from,
            ProviderFailures failures) {
        for (int i = from; i < endpoints.length; i++) {
            ProviderEndpoint endpoint = endpoints[i];
            if (endpoint == null) {
                continue; // another is selected, or this one could not be opened
            }
            try {
                connection.setProviderConnection(
                        i,
                        endpoint.connect(
                                address.address(), address.port(), privateData, connection));
            } catch (DpuException e) {
                failures.add(providers.get(i), e);
                continue;
            }
            drive(i);
            connection.setAttempt(new AddressAttempt(address, privateData, i, failures));
            return true;
        }
        return false;
    }

    RdmaConnection accept(RdmaConnectionRequest request, byte[] privateData) {
        requireRoom();
        int provider = request.provider();
        RdmaConnection connection =
                new RdmaConnection(rdma, ++lastId, endpoints.length, request.peerAddress());
        connection.setProviderConnection(
                provider, request.request().accept(privateData, connection));
        request.answered("accept");
        connection.setPeerPrivateData(request.privateData());
        begun(connection);
        List<RdmaConnection> failed = select(provider);
        connection.select(
                provider, providers.get(provider).name(), request.request().peerPermissions());
        startPending |= rdma.requestAccepted();
        notifyFailed(failed);
        return connection;
    }

    void reject(RdmaConnectionRequest request, byte[] privateData) {
        request.answered("reject");
        request.request().reject(privateData);
    }

    /**
     * Selects the provider, which ends what was begun through the others.
     *
     * @return connections that have failed by that, for {@link #notifyFailed} at the end of the
     *     call: a callback may end any connection
     */
    private List<RdmaConnection> select(int provider) {
        if (isSelected(provider)) {
            return List.of();
        }
        selectEndpoint(provider);
        String name = providers.get(provider).name();
        for (RdmaConnectionRequest request : requests) {
            if (request.provider() != provider && request.isPending()) {
                request.request()
                        .refuse("listener has selected another provider: selected=" + name);
            }
        }
        for (int i = 0; i < endpoints.length; i++) {
            if (i != provider) {
                for (RdmaConnection connection : connections) {
                    connection.closeProviderConnection(i);
                }
                displace(i);
            }
        }
        List<RdmaConnection> failed = new ArrayList<>();
        for (RdmaConnection connection : connections) {
            AddressAttempt attempt = connection.attempt();
            if (attempt != null && attempt.provider() != provider) {
                connection.setAttempt(null);
                connection.fail(
                        Status.NOT_SUPPORTED,
                        Text.format(
                                "RDMA instance has selected another provider meanwhile: address=%s,"
                                        + " requestedFrom=%s, selected=%s",
                                attempt.address(), providers.get(attempt.provider()).name(), name));
                connection.changeState(RdmaConnection.State.FAILED);
                failed.add(connection);
            }
        }
        return failed;
    }

    private void notifyFailed(List<RdmaConnection> failed) {
        for (RdmaConnection connection : failed) {
            rdma.notifyConnectionCallback(
                    connection, RdmaConnection.State.CONNECTING, RdmaConnection.State.FAILED);
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
            connection.setAttempt(null);
            changeState(connection, RdmaConnection.State.DISCONNECTED);
        }
    }

    /**
     * The condition that ends a wait for the start: the instance is RUNNING, and if it has one
     * connection, that is not connecting any more. If all have failed before they were established
     * it throws the failure of the last one; an instance that listens waits for the next request
     * instead, since a listener must not end because a client did.
     */
    boolean hasStarted() {
        int live = 0;
        boolean connecting = false;
        for (RdmaConnection connection : connections) {
            if (!connection.ended()) {
                live++;
                connecting = connection.state() == RdmaConnection.State.CONNECTING;
            }
        }
        RdmaConnection failed = lastFailed;
        if (live == 0 && failed != null && !failed.isEstablished() && rdma.failure() == null) {
            if (isListening()) {
                return false;
            }
            throw new DpuException(
                    failed.failure(),
                    Text.format(
                            "connection was not established: context=%s, state=%s, connection=%d,"
                                    + " reason=%s",
                            rdma, rdma.state(), failed.id(), failed.failureReason()));
        }
        return rdma.state() == ContextState.RUNNING && !(live == 1 && connecting);
    }

    /** The step of the first connection that is missing, for messages. */
    String describeAwaited() {
        RdmaConnection exported = null;
        for (RdmaConnection connection : connections) {
            AddressAttempt attempt = connection.attempt();
            if (attempt != null) {
                return "awaited=answer of the listener at " + attempt.address();
            }
            if (connection.state() == RdmaConnection.State.CONNECTING) {
                return connection.peerAddress() == null
                        ? "awaited=peer that connects to the blob of connection " + connection.id()
                        : Text.format(
                                "awaited=progress of the peer, connection=%d, peer=%s",
                                connection.id(), connection.peerAddress().getHostAddress());
            }
            if (connection.state() == RdmaConnection.State.EXPORTED) {
                exported = connection;
            }
        }
        if (exported == null && isListening()) {
            return "awaited=a request that is accepted, " + describePorts() + lastFailure();
        }
        return exported == null
                ? Text.format(
                        "awaited=a connection%s, expected=exportConnection and connect, listen, or"
                                + " connect to an address",
                        lastFailure())
                : Text.format(
                        "awaited=connect of connection %d with the blob of the peer",
                        exported.id());
    }

    private String lastFailure() {
        RdmaConnection failed = lastFailed;
        return failed == null
                ? ""
                : Text.format(", lastFailure=%s: %s", failed.failure(), failed.failureReason());
    }

    boolean progress() {
        if (startPending) { // before an endpoint notifies the peer
            startPending = false;
            rdma.connectionEstablished();
            return true;
        }
        return progressEndpoints();
    }

    boolean arm() {
        boolean work = armEndpoints(); // even with work here: all are armed before a sleep
        return work || startPending;
    }

    /** Ends all connections and completes all requests in flight; further calls have no effect. */
    void flush() {
        if (flushed) {
            return;
        }
        flushed = true;
        flushEndpoints(Status.CONNECTION_ABORTED);
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
        closeEndpoints();
    }

    // ---- events of the provider ----

    @Override
    public void requested(ProviderEndpoint from, ConnectRequest request) {
        int provider = indexOf(from);
        if (provider < 0) {
            request.refuse("listener has selected another provider meanwhile");
            return;
        }
        if (rdma.state() == ContextState.STOPPING) { // since the callback of another request
            request.refuse("listener is stopping");
            return;
        }
        requests.removeIf(answered -> !answered.isPending());
        connections.removeIf(RdmaConnection::ended);
        if (connections.size() + requests.size() >= maxConnections) {
            request.refuse(
                    Text.format(
                            "listener has no room for another connection: maxConnections=%d,"
                                    + " connections=%d, requests=%d",
                            maxConnections, connections.size(), requests.size()));
            return;
        }
        RdmaConnectionRequest passed = new RdmaConnectionRequest(rdma, provider, request);
        requests.add(passed);
        rdma.notifyRequestCallback(passed);
    }

    @Override
    public void accepted(
            ProviderConnection connection, Permissions permissions, byte[] privateData) {
        RdmaConnection answered = (RdmaConnection) connection.owner();
        AddressAttempt attempt = answered.attempt();
        if (attempt != null) {
            answered.setAttempt(null);
            answered.setPeerPrivateData(privateData);
            List<RdmaConnection> failed = select(attempt.provider());
            answered.select(
                    attempt.provider(), providers.get(attempt.provider()).name(), permissions);
            notifyFailed(failed);
        }
    }

    @Override
    public void rejected(ProviderConnection connection, byte[] privateData) {
        ((RdmaConnection) connection.owner()).setPeerPrivateData(privateData);
    }

    @Override
    public void established(ProviderConnection connection) {
        rdma.connectionEstablished();
        changeState((RdmaConnection) connection.owner(), RdmaConnection.State.CONNECTED);
        rdma.connectionNotified();
    }

    @Override
    public void ended(ProviderConnection connection, Status status, String reason) {
        RdmaConnection ended = (RdmaConnection) connection.owner();
        ended.closeProviderConnections();
        Status ofAtomic = ended.atomicFailure();
        AddressAttempt attempt = ended.attempt();
        ended.setAttempt(null);
        if (status == Status.SUCCESS) {
            if (ofAtomic != Status.SUCCESS && !ended.isDisconnecting()) {
                rdma.connectionFailed(
                        ofAtomic,
                        Text.format(
                                "the peer disconnected while an atomic operation was in flight:"
                                    + " connection=%d, status=%s, expected=a disconnect after its"
                                    + " completion; start the instance and connect again",
                                ended.id(), ofAtomic),
                        true);
            }
            changeState(ended, RdmaConnection.State.DISCONNECTED);
            return;
        }
        if (attempt != null && status == Status.NOT_FOUND) {
            requestElsewhere(ended, attempt, new DpuException(status, reason));
        } else {
            failed(ended, status, reason);
        }
    }

    /**
     * Nothing listens at the address for one provider: requests it from the next ones; without any
     * the connection has failed.
     */
    private void requestElsewhere(
            RdmaConnection connection, AddressAttempt attempt, DpuException notFound) {
        ProviderFailures failures = attempt.failures();
        failures.add(providers.get(attempt.provider()), notFound);
        if (!request(
                connection,
                attempt.address(),
                attempt.privateData(),
                attempt.provider() + 1,
                failures)) {
            DpuException ofAll =
                    failures.ofAll("no RDMA provider has connected: address=" + attempt.address());
            failed(connection, ofAll.status(), String.valueOf(ofAll.getMessage()));
        }
    }

    private void failed(RdmaConnection connection, Status status, String reason) {
        lastFailed = connection;
        connection.fail(status, reason);
        if (!connection.isAttempt()) {
            rdma.connectionFailed(status, reason, connection.atomicFailure() != Status.SUCCESS);
        }
        changeState(connection, RdmaConnection.State.FAILED);
    }

    private void changeState(RdmaConnection connection, RdmaConnection.State next) {
        RdmaConnection.State previous = connection.state();
        connection.changeState(next);
        rdma.notifyConnectionCallback(connection, previous, next);
    }
}
