package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Local end of a connection: its state, the receive ring of this side, which the peer writes, and
 * the peer's ring, which this side writes. {@link ShmSetup} brings both about.
 *
 * <p>It is established when three events have occurred, in any order: the peer's ring was mapped,
 * the peer has leased this side's ring, and the peer's hello with the keys of both blobs is in it.
 * A process that leases the ring without knowing the other blob only ends the connection.
 *
 * <p>Belongs to the engine's thread.
 */
final class ShmConnection implements ProviderConnection {
    /** 128 slots, for two messages of each of 64 transactions; 520 KiB of memory. */
    static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(128, 4096);

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
    private final ShmSetup setup;
    private final ShmReceiver receiver;
    private State state = State.EXPORTED;

    /** Null until the peer's ring was mapped. */
    private @Nullable ShmSender sender;

    /** The bus that has exported the peer's ring; null until that was mapped. */
    private RegionAddress.@Nullable Id peerId;

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

    ShmConnection(ShmEndpoint endpoint, Object owner) {
        this.endpoint = endpoint;
        this.owner = owner;
        this.setup = new ShmSetup(this);
        this.receiver = setup.receiver();
    }

    ShmEndpoint endpoint() {
        return endpoint;
    }

    ShmSetup setup() {
        return setup;
    }

    @Override
    public Object owner() {
        return owner;
    }

    @Override
    public byte[] details() {
        return setup.details().encode();
    }

    @Override
    public int pathMtuBytes() {
        return setup.pathMtuBytes();
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
        setup.importRing(details);
        state = State.CONNECTING;
        receiveLimitChanged();
    }

    /** The peer's ring was mapped: what writes it, and the bus that has exported it. */
    void peerRingMapped(ShmSender out, RegionAddress.Id exporter) {
        sender = out;
        peerId = exporter;
    }

    /** The peer has leased the ring of this side. */
    void ringLeased(Link by) {
        lease = by;
    }

    /** The peer's process has ended, or the peer has revoked its ring. */
    void peerGone() {
        peerGone = true;
    }

    /** Whether it is being established. */
    boolean isConnecting() {
        return state == State.CONNECTING && closeReason == null;
    }

    /** Whether it has ended, and has reported that. */
    boolean isFinished() {
        return state == State.ENDED;
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
            Refusal refusal = RemoteAccess.check(remote, peerId);
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
            moved = setup.progress();
            if (isConnecting()) {
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
        if (sender == null) {
            return false;
        }
        // Before the end of the peer is looked at: it may have been connected, have done its work
        // without this side, and have left. Why it has left is in its ring.
        if (lease != null && setup.isGreeted()) {
            state = State.CONNECTED;
            setup.cancelDeadline();
            endpoint.listener().established(this);
            return true;
        }
        if (peerGone) {
            end(CloseReason.PEER_GONE);
        }
        return peerGone;
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
        if (state != State.CONNECTED && setup.hasWork()) {
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
            setup.close();
        }
    }

    /** Completes a receive that a message has taken. */
    void received(WorkRequest request, Status status) {
        request.resultConnection = this;
        request.sink.completed(status);
    }
}
