package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.WorkRequest;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Local end of a connection: the receive ring of this side, which the peer writes, and the peer's
 * ring, which this side writes.
 *
 * <p>It is established when three events have occurred, in any order: the peer's ring was mapped,
 * the peer has leased this side's ring, and the peer's hello with the keys of both blobs is in it.
 * A process that leases the ring without knowing the other blob only ends the connection.
 *
 * <p>Belongs to the engine's thread; events of the bus thread are forwarded by {@link PeerEvents}
 * and the mailbox.
 */
final class ShmConnection implements ProviderConnection {
    /** 128 slots, for two messages of each of 64 transactions; 520 KiB of memory. */
    static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(128, 4096);

    private static final SecureRandom RANDOM = new SecureRandom();

    private enum State {
        /** This side's ring is exported; no peer is known. */
        EXPORTED,
        /** The peer's ring is being imported, or the peer's lease or hello is missing. */
        CONNECTING,
        /** Established. */
        CONNECTED,
        /** Ended; all events were reported. */
        ENDED
    }

    private final ShmEndpoint endpoint;
    private final Object owner;
    private final ContextServices services;
    private final ShmDetails.Key key = new ShmDetails.Key(RANDOM.nextLong(), RANDOM.nextLong());
    private final SharedSegment memory;
    private final ExportedRegion exported;
    private final ShmReceiver receiver;
    private final PeerEvents peerEvents;
    private State state = State.EXPORTED;
    private @Nullable ShmDetails peer;

    /** Import of the peer's ring; null before. */
    private @Nullable Import<ImportedRegion> importing;

    /** The peer's ring, while its doorbell is listened to. */
    private @Nullable ImportedRegion imported;

    private @Nullable ShmSender sender;

    /** The last remote memory that was found to be mapped, and the peer's. */
    private @Nullable RemoteMemory ofPeer;

    /** The link of the peer that has leased the ring of this side. */
    private @Nullable Link lease;

    private boolean peerGone;
    private boolean disconnecting;
    private @Nullable CloseReason closeReason;
    private Status endStatus = Status.SUCCESS;
    private String endReason = "";
    private int drainPasses;

    /** Request of the connection from a listener; null unless it is one by address. */
    private @Nullable ShmAttempt attempt;

    /** Ends a connection by address that is not established in time; null for one by blobs. */
    private @Nullable EngineTimer deadline;

    ShmConnection(ShmEndpoint endpoint, Object owner) {
        this.endpoint = endpoint;
        this.owner = owner;
        this.services = endpoint.services();
        this.peerEvents = new PeerEvents(this, services);
        SharedSegment made = null;
        try {
            made = SharedSegment.allocate("softdpu-rdma", ShmDetails.regionBytes(GEOMETRY));
            receiver =
                    new ShmReceiver(
                            this,
                            services.copier(),
                            made.segment(),
                            GEOMETRY,
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

    ShmEndpoint endpoint() {
        return endpoint;
    }

    @Override
    public Object owner() {
        return owner;
    }

    @Override
    public byte[] details() {
        return shmDetails().encode();
    }

    /** The details of this end. */
    ShmDetails shmDetails() {
        EndpointConfig config = endpoint.config();
        return new ShmDetails(
                GEOMETRY, key, exported.address(), config.pathMtuBytes(), config.rnrTimer());
    }

    @Override
    public int pathMtuBytes() {
        int own = endpoint.config().pathMtuBytes();
        return peer == null ? own : Math.min(own, peer.pathMtuBytes());
    }

    @Override
    public void connect(byte[] section) {
        connect(ShmDetails.decode(section));
    }

    /** Begins to connect to the end of a peer, by a blob or after a request was accepted. */
    void connect(ShmDetails details) {
        if (state != State.EXPORTED) {
            throw new DpuException(
                    Status.BAD_STATE, "RDMA connection was connected before: state=" + state);
        }
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
        state = State.CONNECTING;
        receiveLimitChanged();
        importing = begun;
        begun.deliver(services::post, this::peerRingImported);
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
        ShmAttempt begun = new ShmAttempt(this, route);
        attempt = begun;
        byte[] payload =
                ConnectMessage.request(config.permissions(), route, shmDetails(), privateData)
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
                                requestFailed(
                                        Status.TIME_OUT,
                                        reason + ", timeoutMillis=" + timeoutNanos / 1_000_000))
                        .set(Duration.ofNanos(timeoutNanos));
    }

    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel();
            deadline = null;
        }
    }

    /** A connection by address has failed before it was established. */
    void requestFailed(Status status, String reason) {
        end(CloseReason.CONNECT_FAILED, status, reason);
    }

    /** Whether it has ended, or will in the next progress. */
    boolean hasEnded() {
        return state == State.ENDED || closeReason != null || disconnecting;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // memories are objects, not values
    public @Nullable Refusal submit(WorkRequest request) {
        ShmSender out = sender;
        if (state != State.CONNECTED || out == null || isEnding()) {
            return notConnected();
        }
        RemoteMemory remote = request.remote;
        if (remote != null && remote != ofPeer) {
            Refusal refusal = RemoteAccess.check(remote, imported);
            if (refusal != null) {
                return refusal;
            }
            ofPeer = remote;
        }
        return out.submit(request, endpoint.insideProgress());
    }

    /** The refusal of a submission, unless it is established and not ending. */
    private Refusal notConnected() {
        return Refusal.of(
                Status.NOT_CONNECTED,
                "connection is not established or is ending: state=%s%s, expected=%s",
                state,
                closeReason == null ? "" : ", ending=" + endReason,
                State.CONNECTED);
    }

    /** Rings the peer's doorbell for the messages sent so far, if the peer sleeps. */
    void ring() {
        if (sender != null) {
            sender.ringIfArmed();
        }
    }

    @Override
    public void disconnect() {
        disconnecting = true;
    }

    /** Advances the connection; returns whether any work was done. */
    boolean progress() {
        if (state == State.ENDED) {
            return false;
        }
        boolean moved = false;
        if (disconnecting) {
            end(CloseReason.LOCAL_DISCONNECT);
        }
        if (state == State.CONNECTED) {
            moved = move();
        } else if (closeReason == null) {
            moved = attempt != null && attempt.progress();
            if (state == State.CONNECTING && closeReason == null) {
                moved |= establish();
            }
        }
        if (closeReason != null && !isDraining()) {
            finish(closeReason);
            moved = true;
        }
        return moved;
    }

    private boolean move() {
        ShmSender out = Objects.requireNonNull(sender, "connected without a sender");
        out.beginPass();
        if (closeReason == null) {
            int status = out.peerStatus();
            if (status != ShmWire.STATUS_OK) {
                end(CloseReason.ofWireStatus(status));
            } else if (peerGone) {
                end(CloseReason.PEER_GONE);
            }
        }
        boolean moved = receiver.receive();
        moved |= out.complete();
        if (closeReason == null) {
            moved |= out.execute();
            moved |= out.complete();
        }
        out.ringIfArmed();
        acknowledge();
        return moved;
    }

    /**
     * A peer that has ended may have left messages for posted receives, which are received first;
     * at most a ring of them, since a process that still writes would otherwise delay the end
     * without end.
     */
    private boolean isDraining() {
        if (state != State.CONNECTED
                || !(closeReason == CloseReason.PEER_GONE
                        || closeReason == CloseReason.PEER_DISCONNECT)
                || drainPasses == 0) {
            return false;
        }
        drainPasses--;
        return !receiver.isDrained();
    }

    private boolean establish() {
        if (imported == null || peer == null) {
            return false;
        }
        // Before the end of the peer is looked at: it may have been connected, have done its work
        // without this side, and have left. Why it has left is in its ring.
        if (lease != null && receiver.helloFrom(key, peer.key())) {
            state = State.CONNECTED;
            cancelDeadline();
            endpoint.listener().established(this);
            return true;
        }
        if (peerGone) {
            end(CloseReason.PEER_GONE);
        }
        return peerGone;
    }

    /** From the mailbox: the peer's ring, or the failure of its import. */
    private void peerRingImported(@Nullable ImportedRegion region, @Nullable Throwable failure) {
        if (state != State.CONNECTING || closeReason != null) {
            return; // it ends: the close of this connection releases the region
        }
        ShmDetails details = peer;
        SharedSegment remote = region == null ? null : region.memory();
        if (region == null || remote == null || details == null) {
            connectFailed(
                    failure != null
                            ? Failures.of(failure)
                            : new DpuException(Status.UNEXPECTED, "the ring was not mapped"));
            return;
        }
        if (!watch(region.link())) {
            return; // the close of this connection releases the region
        }
        imported = region;
        @Nullable RnrWait rnrWait;
        try {
            rnrWait = RnrWait.of(services, endpoint.config().rnrRetries(), details.rnrTimer());
        } catch (DpuException e) {
            connectFailed(e);
            return;
        }
        ShmSender out =
                new ShmSender(
                        this,
                        services.copier(),
                        remote.segment(),
                        details.geometry(),
                        region.link(),
                        endpoint.config().sendQueueSize(),
                        rnrWait);
        sender = out;
        out.hello(details.key(), key);
    }

    /** On the bus thread: the first lease is the peer's; further ones are refused. */
    void refuseFurtherLeases() {
        exported.refuseFurther();
    }

    /** From the mailbox: the first lease of the ring. */
    void ringLeased(Link first) {
        if (state != State.ENDED && watch(first)) {
            lease = first;
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
            connectFailed(Failures.of(e));
            return false;
        }
        link.onPeerGone(() -> services.post(() -> peerGone = true));
        return true;
    }

    void connectFailed(DpuException failure) {
        if (attempt != null) {
            attempt.failedSince(failure);
            return;
        }
        CloseReason failed = CloseReason.CONNECT_FAILED;
        end(failed, failure.status(), failed.reason + ": " + Reason.of(failure));
    }

    /**
     * Publishes the receives, and wakes a peer that sleeps until there is one. The peer may be
     * established, and see the limit, before this side is.
     */
    void receiveLimitChanged() {
        if (state != State.CONNECTING && state != State.CONNECTED) {
            return;
        }
        boolean awaited = receiver.publishReceiveLimit();
        if (awaited && lease != null && receiver.isPeerAsleep()) {
            lease.ring();
        }
    }

    private void acknowledge() {
        if (receiver.isAcknowledgementAwaited() && lease != null) {
            lease.ring();
        }
    }

    boolean arm() {
        if (state == State.ENDED) {
            return false;
        }
        if (closeReason != null || disconnecting) {
            return true;
        }
        if (attempt != null && attempt.hasWork()) {
            return true;
        }
        if (state == State.EXPORTED) {
            return false; // a peer that leases the ring early is not looked at yet
        }
        boolean work = receiver.arm();
        if (state == State.CONNECTED && sender != null) {
            work |= sender.arm();
        }
        return work;
    }

    void disarm() {
        if (state == State.ENDED) {
            return;
        }
        receiver.disarm();
        if (sender != null) {
            sender.disarm();
        }
    }

    /** Marks the connection as ending, with effect in progress; only the first reason counts. */
    void end(CloseReason cause) {
        end(cause, cause.connectionStatus, cause.reason);
    }

    /** The peer violated the protocol. */
    void protocolError(String violation) {
        CloseReason cause = CloseReason.PROTOCOL_ERROR_DETECTED;
        end(cause, cause.connectionStatus, cause.reason + ": " + violation);
    }

    /** As {@link #end(CloseReason)}, with a more specific status and reason. */
    void end(CloseReason cause, Status status, String reason) {
        if (closeReason == null) {
            closeReason = cause;
            endStatus = status;
            endReason = reason;
            drainPasses = GEOMETRY.slots();
        }
    }

    /** Whether no more messages may be received or submitted. */
    boolean isEnding() {
        return closeReason != null
                && closeReason != CloseReason.PEER_GONE
                && closeReason != CloseReason.PEER_DISCONNECT;
    }

    /** Ends the connection now and reports all completions; inside progress. */
    void finish(CloseReason requested) {
        if (state == State.ENDED) {
            return;
        }
        end(requested);
        CloseReason cause =
                closeReason == null ? requested : closeReason; // the first reason counts
        state = State.ENDED;
        receiver.end(cause); // before close() closes the link, which wakes a sleeping peer
        if (sender != null) {
            sender.flush(cause, endStatus);
        }
        endpoint.listener().ended(this, endStatus, endReason);
    }

    @Override
    public void close() {
        if (endpoint.forget(this)) {
            state = State.ENDED;
            cancelDeadline();
            if (attempt != null) {
                attempt.close();
            }
            if (lease != null) {
                BusServices.poller(services).remove(lease);
            }
            if (imported != null) {
                BusServices.poller(services).remove(imported.link());
            }
            peerEvents.close();
            if (importing != null) {
                importing.close();
            }
            exported.revoke();
            endpoint.bus().release(memory);
        }
    }

    /** Completes a receive that a message has taken. */
    void received(WorkRequest request, Status status) {
        request.resultConnection = this;
        request.sink.completed(status);
    }
}
