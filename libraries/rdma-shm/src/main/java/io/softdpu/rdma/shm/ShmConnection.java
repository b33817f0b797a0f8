package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.Lease;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.WorkRequest;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One side of a connection: a ring of its own that the peer writes, and the peer's ring that it
 * writes.
 *
 * <p>It is established when three things have come, in any order: the peer's ring is mapped here,
 * the peer has leased this side's ring, and the peer's hello stands in it with the keys of both
 * blobs. Whoever has leased the ring without the other blob ends the connection and cannot join it.
 *
 * <p>Thread: the engine's, save for what the bus thread reports, which is handed over through
 * {@link PeerArrivals} and the mailbox.
 */
final class ShmConnection implements ProviderConnection {
    /** 128 slots: the completions of 64 transactions may wait, twice; 520 KiB of memory. */
    static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(128, 4096);

    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();
    private static final SecureRandom RANDOM = new SecureRandom();

    private enum State {
        /** The own ring is exported; no peer is known. */
        EXPORTED,
        /** The peer's ring is being fetched, or the peer has not come yet. */
        CONNECTING,
        /** Both sides hold each other. */
        CONNECTED,
        /** Over; everything was reported. */
        ENDED
    }

    private final ShmEndpoint endpoint;
    private final Object owner;
    private final ContextServices services;
    private final ShmDetails.Key key = new ShmDetails.Key(RANDOM.nextLong(), RANDOM.nextLong());
    private final SharedSegment memory;
    private final ExportedRegion exported;
    private final ShmReceiver receiver;
    private final PeerArrivals arrivals;
    private State state = State.EXPORTED;
    private @Nullable ShmDetails peer;
    private @Nullable ImportedRegion imported;
    private @Nullable ShmSender sender;
    private @Nullable Lease lease;
    private boolean peerGone;
    private boolean disconnecting;
    private @Nullable End end;
    private Status endStatus = Status.SUCCESS;
    private String endReason = "";
    private int lingering;

    ShmConnection(ShmEndpoint endpoint, Object owner) {
        this.endpoint = endpoint;
        this.owner = owner;
        this.services = endpoint.services();
        this.arrivals = new PeerArrivals(this, services);
        SharedSegment made = null;
        try {
            made = SharedSegment.allocate("softdpu-rdma", ShmDetails.regionBytes(GEOMETRY));
            receiver =
                    new ShmReceiver(
                            this, services.copier(), made.segment(), GEOMETRY, endpoint.receives());
            exported = endpoint.bus().export(made, true, arrivals);
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

    @Override
    public Object owner() {
        return owner;
    }

    @Override
    public byte[] details() {
        return new ShmDetails(GEOMETRY, key, exported.address()).encode();
    }

    @Override
    public void connect(byte[] section) {
        if (state != State.EXPORTED) {
            throw new DpuException(
                    Status.BAD_STATE, "RDMA connection was connected before: state=" + state);
        }
        ShmDetails details = ShmDetails.decode(section);
        CompletableFuture<ImportedRegion> fetching;
        try {
            fetching =
                    endpoint.bus()
                            .importRegion(
                                    details.region(), true, true, endpoint.connectTimeoutNanos());
        } catch (FabricException e) {
            throw Failures.of(e);
        }
        peer = details;
        state = State.CONNECTING;
        CompletableFuture<?> _ = fetching.whenComplete(arrivals::fetched);
    }

    @Override
    public Status submit(WorkRequest request) {
        ShmSender out = sender;
        if (state != State.CONNECTED || out == null || ending()) {
            return Status.NOT_CONNECTED;
        }
        Buf remote = request.remote;
        if (remote != null) {
            Status usable = checkRemote(remote.mmap());
            if (usable != Status.SUCCESS) {
                return usable;
            }
        }
        return out.submit(request, endpoint.insideProgress());
    }

    /**
     * Whether remote memory is mapped here, and comes from the machine at the other end: an adapter
     * would not let anybody reach a third one's memory through this connection.
     */
    private Status checkRemote(Mmap mmap) {
        ImportedRegion memoryOfPeer = BusServices.importedRegion(mmap);
        ImportedRegion ringOfPeer = imported;
        if (memoryOfPeer == null || ringOfPeer == null || !REGIONS.isMapped(mmap)) {
            return Status.NOT_SUPPORTED;
        }
        return memoryOfPeer.exporter().equals(ringOfPeer.exporter())
                ? Status.SUCCESS
                : Status.NOT_PERMITTED;
    }

    /** Rings the peer for what was submitted so far. */
    void ring() {
        ShmSender out = sender;
        if (out != null) {
            out.announce();
        }
    }

    @Override
    public void disconnect() {
        disconnecting = true;
    }

    /** Moves this connection on; whether anything moved. */
    boolean progress() {
        if (state == State.ENDED) {
            return false;
        }
        boolean moved = false;
        if (disconnecting) {
            end(End.DISCONNECTED_HERE);
        }
        if (state == State.CONNECTED) {
            moved = move();
        } else if (state == State.CONNECTING && end == null) {
            moved = establish();
        }
        if (end != null && !lingers()) {
            finish(end);
            moved = true;
        }
        return moved;
    }

    private boolean move() {
        ShmSender out = connectedSender();
        out.beginPass();
        if (end == null) {
            int status = out.peerStatus();
            if (status != ShmWire.STATUS_OK) {
                end(End.ofWireStatus(status));
            } else if (peerGone) {
                end(End.PEER_GONE);
            }
        }
        boolean moved = receiver.receive();
        moved |= out.complete();
        if (end == null) {
            moved |= out.execute();
            moved |= out.complete();
        }
        out.announce();
        acknowledge();
        return moved;
    }

    /**
     * A peer that has gone may have left messages for which there are receives: they come first,
     * but no more than its ring held, since whoever still writes is not gone.
     */
    private boolean lingers() {
        if (state != State.CONNECTED
                || !(end == End.PEER_GONE || end == End.DISCONNECTED_THERE)
                || lingering == 0) {
            return false;
        }
        lingering--;
        return !receiver.drained();
    }

    private boolean establish() {
        ImportedRegion region = imported;
        ShmDetails details = peer;
        if (region == null || details == null) {
            return false;
        }
        if (peerGone) {
            end(End.PEER_GONE);
            return true;
        }
        if (lease == null || !receiver.helloFrom(key, details.key())) {
            return false;
        }
        state = State.CONNECTED;
        receiver.publishReceiveLimit();
        endpoint.listener().established(this);
        return true;
    }

    /** From the mailbox: the peer's ring, or why it could not be had. */
    void fetched(@Nullable ImportedRegion region, @Nullable Throwable failure) {
        if (state != State.CONNECTING || end != null) {
            return; // closed meanwhile; PeerArrivals has given the region back
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
            return; // with PeerArrivals, which gives the region back when this closes
        }
        imported = region;
        EngineTimer rnrTimer;
        try {
            rnrTimer = ShmSender.rnrTimer(services, endpoint.rnrRetries());
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
                        endpoint.sendQueueSize(),
                        endpoint.rnrRetries(),
                        rnrTimer);
        sender = out;
        out.hello(details.key(), key);
    }

    /** On the bus thread: the ring is the first peer's; whoever else wants it is refused. */
    void refuseFurtherLeases() {
        exported.refuseFurther();
    }

    /** From the mailbox: the first who has leased the ring. */
    void leased(Lease first) {
        if (state != State.ENDED && watch(first.link())) {
            lease = first;
        }
    }

    /**
     * Listens for a doorbell. Where the kernel lets this user watch nothing more the connection
     * ends: without its doorbell an engine that sleeps would not hear of the peer.
     *
     * @return whether it is listened for
     */
    private boolean watch(Link link) {
        try {
            BusServices.waiter(services).add(link);
        } catch (FabricException e) {
            connectFailed(Failures.of(e));
            return false;
        }
        link.onPeerGone(() -> services.post(() -> peerGone = true));
        return true;
    }

    private void connectFailed(DpuException why) {
        End failed = End.CONNECT_FAILED;
        end(failed, why.status(), failed.reason + ": " + why.getMessage());
    }

    void receiveLimitChanged() {
        if (state == State.CONNECTED) {
            receiver.publishReceiveLimit();
        }
    }

    private void acknowledge() {
        Lease held = lease;
        if (receiver.acknowledgementWanted() && held != null) {
            held.link().ring();
        }
    }

    boolean arm() {
        if (state == State.ENDED) {
            return false;
        }
        if (end != null || disconnecting) {
            return true;
        }
        boolean work = receiver.arm();
        ShmSender out = sender;
        if (state == State.CONNECTED && out != null) {
            work |= out.arm();
        }
        return work;
    }

    void disarm() {
        if (state == State.ENDED) {
            return;
        }
        receiver.disarm();
        ShmSender out = sender;
        if (out != null) {
            out.disarm();
        }
    }

    /** Notes that the connection has to end; the first reason counts. Takes effect in progress. */
    void end(End why) {
        end(why, why.connectionStatus, why.reason);
    }

    /** The peer wrote what no correct peer writes. */
    void protocolError(String violation) {
        End why = End.PROTOCOL_ERROR_HERE;
        end(why, why.connectionStatus, why.reason + ": " + violation);
    }

    /** The same with a status and a reason that say more. */
    void end(End why, Status status, String reason) {
        if (end == null) {
            end = why;
            endStatus = status;
            endReason = reason;
            lingering = GEOMETRY.slots();
        }
    }

    /** Whether nothing more shall be taken from the peer or given to it. */
    boolean ending() {
        return end != null && end != End.PEER_GONE && end != End.DISCONNECTED_THERE;
    }

    /** Ends the connection now and reports everything; inside progress. */
    void finish(End asked) {
        if (state == State.ENDED) {
            return;
        }
        end(asked);
        End why = end == null ? asked : end; // what came first counts
        state = State.ENDED;
        receiver.end(why); // before close() ends the link, which wakes a peer that sleeps
        ShmSender out = sender;
        if (out != null) {
            out.flush(why, endStatus);
        }
        endpoint.listener().ended(this, endStatus, endReason);
    }

    @Override
    public void close() {
        if (endpoint.forget(this)) {
            state = State.ENDED;
            Lease held = lease;
            if (held != null) {
                BusServices.waiter(services).remove(held.link());
            }
            ImportedRegion region = imported;
            if (region != null) {
                BusServices.waiter(services).remove(region.link());
            }
            arrivals.close();
            exported.revoke();
            endpoint.bus().release(memory);
        }
    }

    void completed(WorkRequest request, Status status) {
        endpoint.listener().completed(request, status);
    }

    void received(WorkRequest request, Status status) {
        endpoint.listener().received(request, status, this);
    }

    private ShmSender connectedSender() {
        ShmSender out = sender;
        if (out == null) {
            throw new IllegalStateException("connected without a sender");
        }
        return out;
    }
}
