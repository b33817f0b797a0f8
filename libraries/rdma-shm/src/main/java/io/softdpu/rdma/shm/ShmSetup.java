package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.EndpointConfig;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Setup of a connection: exports the ring of this side, requests the connection from a listener if
 * it is one by address, imports the peer's ring, and releases all of it at the end. What the data
 * path needs of it is handed to the connection, which does not come back here once it is
 * established.
 *
 * <p>Belongs to the engine's thread; events of the bus thread are forwarded by {@link PeerEvents}
 * and the mailbox.
 */
final class ShmSetup {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final ShmConnection connection;
    private final ShmEndpoint endpoint;
    private final ContextServices services;
    private final ShmDetails.Key key = new ShmDetails.Key(RANDOM.nextLong(), RANDOM.nextLong());
    private final SharedSegment memory;
    private final ExportedRegion exported;
    private final ShmReceiver receiver;
    private final PeerEvents peerEvents;

    /** The links whose doorbells the engine listens to. */
    private final List<Link> watched = new ArrayList<>(2);

    private @Nullable ShmDetails peer;

    /** Import of the peer's ring; null before. */
    private @Nullable Import<ImportedRegion> importing;

    /** Request of the connection from a listener; null unless it is one by address. */
    private @Nullable ShmAttempt attempt;

    /** Ends a connection by address that is not established in time; null for one by blobs. */
    private @Nullable EngineTimer deadline;

    ShmSetup(ShmConnection connection) {
        this.connection = connection;
        this.endpoint = connection.endpoint();
        this.services = endpoint.services();
        this.peerEvents = new PeerEvents(this, services);
        SharedSegment made = null;
        try {
            made =
                    SharedSegment.allocate(
                            "softdpu-rdma", ShmDetails.regionBytes(ShmConnection.GEOMETRY));
            receiver =
                    new ShmReceiver(
                            connection,
                            services.copier(),
                            made.segment(),
                            ShmConnection.GEOMETRY,
                            endpoint.receives(),
                            endpoint.config().permissions().has(AccessFlag.RDMA_WRITE));
            exported = endpoint.bus().export(made, true, peerEvents);
            memory = made;
            made = null;
        } catch (FabricException e) {
            throw Failures.of(e);
        } finally {
            if (made != null) {
                endpoint.bus().release(made);
            }
        }
    }

    /** Consumer of the ring of this side. */
    ShmReceiver receiver() {
        return receiver;
    }

    /** The details of this end. */
    ShmDetails details() {
        EndpointConfig config = endpoint.config();
        return new ShmDetails(
                ShmConnection.GEOMETRY,
                key,
                exported.address(),
                config.pathMtuBytes(),
                config.rnrTimer());
    }

    /** The lower one of both ends; that of this one while the other is unknown. */
    int pathMtuBytes() {
        int own = endpoint.config().pathMtuBytes();
        return peer == null ? own : Math.min(own, peer.pathMtuBytes());
    }

    /**
     * Requests the connection from a listener.
     *
     * @param name of the listener
     * @param address to which it belongs
     * @throws DpuException NO_MEMORY, OPERATING_SYSTEM
     */
    void request(String name, InetAddress address, int port, byte[] privateData) {
        EndpointConfig config = endpoint.config();
        DeviceInfo device = config.device().info();
        InetAddress source = address instanceof Inet4Address ? device.ipv4() : device.ipv6();
        ConnectMessage.Route route = new ConnectMessage.Route(source, address, port);
        setDeadline(
                Text.format(
                        "RDMA connection was not established in time: address=%s, port=%d",
                        address.getHostAddress(), port));
        ShmAttempt begun = new ShmAttempt(connection, route);
        attempt = begun;
        byte[] payload =
                ConnectMessage.request(config.permissions(), route, details(), privateData)
                        .encode();
        try {
            begun.begin(name, payload, config.connectTimeoutNanos());
        } catch (FabricException e) {
            throw Failures.of(e);
        }
    }

    /**
     * Fails the connection if it is not established within the connect timeout from now.
     *
     * @param reason of that failure
     * @throws DpuException OPERATING_SYSTEM if there is no timer
     */
    void setDeadline(String reason) {
        long timeoutNanos = endpoint.config().connectTimeoutNanos();
        deadline =
                services.timer(() ->
                                connection.end(
                                        CloseReason.CONNECT_FAILED,
                                        Status.TIME_OUT,
                                        reason + ", timeoutMillis=" + timeoutNanos / 1_000_000))
                        .set(Duration.ofNanos(timeoutNanos));
    }

    void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel();
            deadline = null;
        }
    }

    /** Handles the answer of the listener, if it is there; returns whether it was. */
    boolean progress() {
        return attempt != null && attempt.progress();
    }

    /** Whether progress has something to do. */
    boolean hasWork() {
        return attempt != null && attempt.hasWork();
    }

    /** Begins to import the ring of a peer. */
    void importRing(ShmDetails details) {
        Import<ImportedRegion> begun;
        try {
            begun =
                    endpoint.bus()
                            .importRegion(
                                    details.region(),
                                    true,
                                    true,
                                    endpoint.config().connectTimeoutNanos());
        } catch (FabricException e) {
            throw Failures.of(e);
        }
        peer = details;
        importing = begun;
        begun.deliver(services::post, this::peerRingImported);
    }

    /** From the mailbox: the peer's ring, or the failure of its import. */
    private void peerRingImported(@Nullable ImportedRegion region, @Nullable Throwable failure) {
        if (!connection.isConnecting()) {
            return; // it ends: the close of this setup releases the region
        }
        ShmDetails details = peer;
        SharedSegment remote = region == null ? null : region.memory();
        if (region == null || remote == null || details == null) {
            failed(
                    failure != null
                            ? Failures.of(failure)
                            : new DpuException(Status.UNEXPECTED, "the ring was not mapped"));
            return;
        }
        if (!watch(region.link())) {
            return; // the close of this setup releases the region
        }
        @Nullable RnrWait rnrWait;
        try {
            rnrWait = RnrWait.of(services, endpoint.config().rnrRetries(), details.rnrTimer());
        } catch (DpuException e) {
            failed(e);
            return;
        }
        ShmSender sender =
                new ShmSender(
                        connection,
                        services.copier(),
                        remote.segment(),
                        details.geometry(),
                        region.link(),
                        endpoint.config().sendQueueSize(),
                        rnrWait);
        connection.peerRingMapped(sender, region.exporter());
        sender.hello(details.key(), key);
    }

    /** On the bus thread: the first lease is the peer's; further ones are refused. */
    void refuseFurtherLeases() {
        exported.refuseFurther();
    }

    /** From the mailbox: the first lease of the ring. */
    void ringLeased(Link first) {
        if (!connection.isFinished() && watch(first)) {
            connection.ringLeased(first);
        }
    }

    /**
     * Adds a doorbell to the engine. If the kernel's limit of watches is reached, the connection
     * fails: without its doorbell a sleeping engine would miss the peer's events.
     *
     * @return whether the doorbell was added
     */
    private boolean watch(Link link) {
        try {
            BusServices.poller(services).add(link);
        } catch (FabricException e) {
            failed(Failures.of(e));
            return false;
        }
        watched.add(link);
        link.onPeerGone(() -> services.post(connection::peerGone));
        return true;
    }

    /** Whether the hello of the peer with the keys of both ends is in the ring, or was before. */
    boolean isGreeted() {
        return peer != null && receiver.helloFrom(key, peer.key());
    }

    /** Ends a connection that could not be established. */
    void failed(DpuException failure) {
        if (attempt != null) {
            attempt.failedSince(failure);
            return;
        }
        CloseReason cause = CloseReason.CONNECT_FAILED;
        connection.end(cause, failure.status(), cause.reason + ": " + Reason.of(failure));
    }

    /** Releases both rings, and ends what is under way. */
    void close() {
        cancelDeadline();
        if (attempt != null) {
            attempt.close();
        }
        for (Link link : watched) {
            BusServices.poller(services).remove(link);
        }
        peerEvents.close();
        if (importing != null) {
            importing.close();
        }
        exported.revoke();
        endpoint.bus().release(memory);
    }
}
