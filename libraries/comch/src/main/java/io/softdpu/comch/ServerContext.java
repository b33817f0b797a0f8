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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The {@link ComchServer} context. */
final class ServerContext extends EndpointContext implements ComchServer {
    private static final int DEFAULT_MAX_CLIENTS = 16;

    private final PciFunction represented;
    private final String busName;
    private final Representor representor;
    private final List<ComchConnection> connections = new ArrayList<>();
    private int maxClients;
    private @Nullable ComchConnectionCallback connected;
    private @Nullable ComchConnectionCallback disconnected;
    private @Nullable ServerArrivals arrivals;

    ServerContext(Device device, Representor representor, String name) {
        super(device, representor, name);
        this.maxClients = Math.min(DEFAULT_MAX_CLIENTS, capabilities().maxClients());
        this.representor = representor;
        this.represented = representor.info().function();
        this.busName = ChannelName.ofServer(device.info(), represented, name);
    }

    @Override
    public void setMaxClients(int clients) {
        requireConfigurable();
        requireRange("maxClients", clients, capabilities().maxClients());
        maxClients = clients;
    }

    @Override
    public int maxClients() {
        return maxClients;
    }

    @Override
    public void setConnectionCallbacks(
            ComchConnectionCallback connected, ComchConnectionCallback disconnected) {
        requireConfigurable();
        Arguments.notNull(connected, "connected");
        Arguments.notNull(disconnected, "disconnected");
        this.connected = connected;
        this.disconnected = disconnected;
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
        requireItem(connected, "connection callbacks");
    }

    @Override
    ContextState begin() {
        ServerArrivals waiting =
                new ServerArrivals(this, connectionServices(), terms(), maxClients);
        try {
            waiting.listen(busName);
        } catch (FabricException e) {
            throw Failures.of(e);
        }
        arrivals = waiting;
        return ContextState.RUNNING;
    }

    @Override
    void endOwn() {
        ServerArrivals waiting = arrivals;
        if (waiting != null) {
            arrivals = null;
            waiting.close();
        }
    }

    @Override
    void connectionEnded(ComchConnection connection, @Nullable DpuException failure) {
        connections.remove(connection);
        call(disconnected, connection, failure == null);
    }

    @Override
    protected void onDestroy() {
        // Nothing: the name and the memory were given up when the server stopped.
    }

    // ---- clients ----

    /** Clients that wait for progress, for tests; any thread that may look at this server. */
    int examinedClients() {
        ServerArrivals open = arrivals;
        return open == null ? 0 : open.examined();
    }

    /** Takes or refuses a client; inside progress, between start and stop. */
    void decide(ServerArrivals.Arrival arrival) {
        @Nullable DpuException refusal = objection(arrival);
        if (refusal == null) {
            take(arrival);
            return;
        }
        arrival.refuse(refusal);
        Hello hello = arrival.hello();
        if (hello != null) {
            ComchConnection refused =
                    new ComchConnection(
                            this, connectionServices(), ForeignText.escapeAndCut(hello.function()));
            refused.ended(refusal);
            call(connected, refused, false);
        }
    }

    private void take(ServerArrivals.Arrival arrival) {
        Hello hello = Objects.requireNonNull(arrival.hello(), "checked");
        InboundRing inbound = Objects.requireNonNull(arrival.inbound(), "checked");
        ComchConnection connection =
                new ComchConnection(this, connectionServices(), hello.function());
        Attachment attachment = null;
        try {
            attachment = arrival.pending().accept(new Welcome(terms()).toBytes(), inbound.memory());
            established(new Channel(connection, attachment, inbound, hello.terms()));
            connections.add(connection);
        } catch (RuntimeException e) {
            if (attachment != null) {
                connectionServices().bus().release(attachment);
            }
            inbound.release();
            connection.ended(Failures.of(e));
            call(connected, connection, false);
            return;
        }
        call(connected, connection, true);
    }

    private void call(
            @Nullable ComchConnectionCallback callback,
            ComchConnection connection,
            boolean successful) {
        try {
            Objects.requireNonNull(callback).onConnection(connection, successful);
        } catch (Throwable e) {
            callbackFailed(e);
        }
    }

    /** Why a client is not taken; null if it is. */
    private @Nullable DpuException objection(ServerArrivals.Arrival arrival) {
        @Nullable DpuException failure = arrival.failure();
        Hello hello = arrival.hello();
        if (failure != null || hello == null) {
            return failure;
        }
        if (channelCount() >= maxClients) {
            return new DpuException(
                    Status.FULL,
                    "server has all its clients: maxClients=%d, server=%s"
                            .formatted(maxClients, serverName()));
        }
        return null;
    }

    /**
     * Why a client cannot be taken whatever the state of the engine; null if it can. On a mapping
     * worker, between start and stop: what is looked at here does not change meanwhile.
     */
    @Nullable DpuException unfit(Hello hello, long remoteBytes) {
        if (!hello.serverName().equals(serverName())
                || !hello.function().equals(represented.key())) {
            return new DpuException(
                    Status.NOT_PERMITTED,
                    "client means another server: name=%s, function=%s, server=%s, represented=%s"
                            .formatted(
                                    ForeignText.escapeAndCut(hello.serverName()),
                                    ForeignText.escapeAndCut(hello.function()),
                                    serverName(),
                                    represented.key()));
        }
        ChannelTerms theirs = hello.terms();
        if (theirs.maxMessageBytes() != maxMessageSize()) {
            return new DpuException(
                    Status.INVALID_VALUE,
                    "maximum message sizes differ: client=%d, server=%d"
                            .formatted(theirs.maxMessageBytes(), maxMessageSize()));
        }
        if (remoteBytes < theirs.ring().sizeBytes()) {
            return new DpuException(
                    Status.INVALID_VALUE,
                    "client's ring is too small: sizeBytes=%d, needed=%d"
                            .formatted(remoteBytes, theirs.ring().sizeBytes()));
        }
        return null;
    }
}
