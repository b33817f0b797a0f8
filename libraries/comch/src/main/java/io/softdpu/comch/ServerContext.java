package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.Hello;
import io.softdpu.comch.wire.Welcome;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The {@link ComchServer} context. */
final class ServerContext extends EndpointContext<ComchServer> implements ComchServer {
    private static final int DEFAULT_MAX_CLIENTS = 16;

    private final PciFunction represented;
    private final String busName;
    private final Representor representor;
    private final List<ComchConnection> connections = new ArrayList<>();
    private int maxClients;
    private @Nullable ComchConnectionCallback connected;
    private @Nullable ComchRefusalCallback refused;
    private @Nullable ComchDisconnectCallback disconnected;
    private @Nullable PendingClients pendingClients;

    ServerContext(Device device, Representor representor, String name) {
        super(device, representor, name);
        this.maxClients = Math.min(DEFAULT_MAX_CLIENTS, capabilities().maxClients());
        this.representor = representor;
        this.represented = representor.info().function();
        this.busName = ChannelName.ofServer(device.info(), represented, name);
    }

    @Override
    public ComchServer setMaxClients(int clients) {
        requireConfigurable();
        requireRange("maxClients", clients, capabilities().maxClients());
        maxClients = clients;
        return this;
    }

    @Override
    public int maxClients() {
        return maxClients;
    }

    @Override
    public ComchServer setConnectedCallback(ComchConnectionCallback callback) {
        requireConfigurable();
        connected = Arguments.notNull(callback, "callback");
        return this;
    }

    @Override
    public ComchServer setRefusedCallback(@Nullable ComchRefusalCallback callback) {
        requireConfigurable();
        refused = callback;
        return this;
    }

    @Override
    public ComchServer setDisconnectedCallback(@Nullable ComchDisconnectCallback callback) {
        requireConfigurable();
        disconnected = callback;
        return this;
    }

    @Override
    public Representor representor() {
        return representor;
    }

    @Override
    public List<ComchConnection> connections() {
        requireOwnerThread();
        return List.copyOf(connections);
    }

    // ---- the context ----

    @Override
    void checkOwnConfiguration() {
        requireItem(connected, "connected callback", "setConnectedCallback");
    }

    @Override
    ContextState begin() {
        PendingClients clients = new PendingClients(this, endpointServices(), terms(), maxClients);
        try {
            clients.listen(busName);
        } catch (FabricException e) {
            throw Failures.of(e);
        }
        pendingClients = clients;
        return ContextState.RUNNING;
    }

    /** Decides on clients after the callback of its own start has run, and before its channels. */
    @Override
    boolean progressOwn() {
        return pendingClients != null && pendingClients.decide();
    }

    @Override
    boolean hasOwnWork() {
        return pendingClients != null && pendingClients.areWaiting();
    }

    @Override
    void endOwn() {
        if (pendingClients != null) {
            pendingClients.close();
            pendingClients = null;
        }
    }

    @Override
    void connectionEnded(ComchConnection connection, @Nullable DpuException failure) {
        connections.remove(connection);
        endpointServices()
                .call(disconnected, callback -> callback.onDisconnected(connection, failure));
    }

    // ---- clients ----

    /** Number of clients that wait for progress; for tests. Any thread. */
    int pendingClients() {
        PendingClients open = pendingClients;
        return open == null ? 0 : open.size();
    }

    /** Accepts or refuses a client; inside progress, in RUNNING. */
    void decide(PendingClients.ConnectRequest request) {
        @Nullable DpuException refusal = refusalFor(request);
        if (refusal == null) {
            accept(request);
            return;
        }
        request.refuse(refusal);
        Hello hello = request.hello();
        if (hello != null) {
            ComchConnection connection =
                    new ComchConnection(
                            this,
                            endpointServices(),
                            ForeignText.escapeAndCut(hello.function()),
                            request.peer());
            notEstablished(connection, refusal);
        }
    }

    private void accept(PendingClients.ConnectRequest request) {
        Hello hello = Objects.requireNonNull(request.hello(), "checked");
        InboundRing inbound = Objects.requireNonNull(request.inbound(), "checked");
        ComchConnection connection =
                new ComchConnection(this, endpointServices(), hello.function(), request.peer());
        Attachment attachment = null;
        try {
            attachment = request.pending().accept(new Welcome(terms()).toBytes(), inbound.memory());
            established(new Channel(connection, attachment, inbound, hello.terms()));
            connections.add(connection);
        } catch (RuntimeException e) {
            if (attachment != null) {
                endpointServices().bus().release(attachment);
            }
            inbound.release();
            notEstablished(connection, Failures.of(e));
            return;
        }
        endpointServices().call(connected, callback -> callback.onConnection(connection));
    }

    private void notEstablished(ComchConnection connection, DpuException reason) {
        connection.ended(reason);
        endpointServices().call(refused, callback -> callback.onRefused(connection, reason));
    }

    /** The reason for refusing a client; null to accept it. */
    private @Nullable DpuException refusalFor(PendingClients.ConnectRequest request) {
        @Nullable DpuException failure = request.failure();
        Hello hello = request.hello();
        if (failure != null || hello == null) {
            return failure;
        }
        if (channelCount() >= maxClients) {
            return new DpuException(
                    Status.FULL,
                    Text.format(
                            "server has all its clients: maxClients=%d, server=%s",
                            maxClients, serverName()));
        }
        return null;
    }

    /**
     * The reason why a client cannot be accepted in any state of the server; null if it can. On a
     * mapping worker, between start and stop: the fields that are read here do not change
     * meanwhile.
     */
    @Nullable DpuException mismatch(Hello hello, long remoteBytes) {
        if (!hello.serverName().equals(serverName())
                || !hello.function().equals(represented.key())) {
            return new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "client means another server: name=%s, function=%s, server=%s,"
                                    + " represented=%s",
                            ForeignText.escapeAndCut(hello.serverName()),
                            ForeignText.escapeAndCut(hello.function()),
                            serverName(),
                            represented.key()));
        }
        ChannelTerms theirs = hello.terms();
        if (theirs.maxMessageBytes() != maxMessageBytes()) {
            return new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "maximum message sizes differ: client=%d, server=%d",
                            theirs.maxMessageBytes(), maxMessageBytes()));
        }
        if (remoteBytes < theirs.ring().sizeBytes()) {
            return new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "client's ring is too small: sizeBytes=%d, needed=%d",
                            remoteBytes, theirs.ring().sizeBytes()));
        }
        return null;
    }
}
