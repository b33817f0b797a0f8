package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.cm.PeerQueuePair;
import io.softdpu.rdma.roce.nic.NicConnection;
import io.softdpu.rdma.roce.nic.NicEvent;
import io.softdpu.rdma.roce.nic.NicRequest;
import io.softdpu.rdma.roce.nic.WorkRing;
import io.softdpu.rdma.roce.rc.ConnectionCounter;
import io.softdpu.rdma.roce.rc.ConnectionCounters;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.LinkedHashMap;
import java.util.Objects;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Local end of a connection, as its engine sees it. Requests wait in a ring until the next
 * progress, ring or arm publishes them. Belongs to the engine's thread.
 */
final class RoceConnection implements ProviderConnection {
    private enum State {
        /** It has a queue pair and a key; no peer is known. */
        EXPORTED,
        /** Connection management connects it with the peer's end. */
        CONNECTING,
        /** Established. */
        CONNECTED,
        /** Ended; all events were reported. */
        ENDED
    }

    private final RoceEndpoint endpoint;
    private final Object owner;
    private final int sendQueueSize;
    private final Refusal sendQueueFull;
    private @Nullable NicConnection part;
    private State state = State.EXPORTED;

    /** That of this end, until both have agreed on one. */
    private int pathMtuBytes;

    private @Nullable Gid peer;

    /** The listener that it is requested from; null for any other connection. */
    private @Nullable String target;

    /** The request that it accepts, until the NIC was told so. */
    private @Nullable NicRequest accepting;

    /** For the peer's program, with that. */
    private byte[] answer = {};

    /** The last remote memory that was found to be the peer's. */
    private @Nullable RemoteMemory ofPeer;

    /** Requests that were accepted and not completed, of which the last may be unpublished. */
    private int inFlight;

    /** Number of completions that were there before the events of this pass. */
    private long completed;

    private boolean disconnecting;

    /** Whether the NIC was told to disconnect. */
    private boolean handedOver;

    /** Its end, until all requests that the NIC has got are completed. */
    private NicEvent.@Nullable Ended end;

    RoceConnection(RoceEndpoint endpoint, Object owner) {
        this.endpoint = endpoint;
        this.owner = owner;
        sendQueueSize = endpoint.config().sendQueueSize();
        sendQueueFull =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                "send queue is full: inFlight="
                                        + sendQueueSize
                                        + ", sendQueueSize="
                                        + sendQueueSize
                                        + ", expected=a completion first");
    }

    void begin(NicConnection exported) {
        part = exported;
        pathMtuBytes = endpoint.part().pathMtuBytes();
    }

    /** It is requested from a listener. */
    void beginRequest(NicConnection requested, Gid address, int port) {
        part = requested;
        pathMtuBytes = endpoint.part().pathMtuBytes();
        peer = address;
        target = Text.format("address=%s, port=%d", address, port);
        state = State.CONNECTING;
    }

    /** It accepts a request, of which the NIC is told in a later progress. */
    void beginAccept(NicConnection prepared, NicRequest request, byte[] privateData) {
        part = prepared;
        pathMtuBytes = endpoint.part().pathMtuBytes();
        peer = request.peer();
        accepting = request;
        answer = privateData.clone();
        state = State.CONNECTING;
    }

    private NicConnection part() {
        return Objects.requireNonNull(part, "connection was begun");
    }

    @Override
    public Object owner() {
        return owner;
    }

    @Override
    public byte[] details() {
        return endpoint.details(part()).encode();
    }

    @Override
    public int pathMtuBytes() {
        return pathMtuBytes;
    }

    @Override
    public SequencedMap<String, Long> counters() {
        ConnectionCounters counters = part().counters();
        SequencedMap<String, Long> counts = new LinkedHashMap<>();
        for (ConnectionCounter each : ConnectionCounter.values()) {
            counts.put(each.key(), counters.get(each));
        }
        return counts;
    }

    @Override
    public void connect(byte[] section) {
        if (state != State.EXPORTED) {
            throw new DpuException(
                    Status.BAD_STATE, "RDMA connection was connected before: state=" + state);
        }
        endpoint.serve();
        if (RoceQueuePair.isOne(section)) {
            PeerQueuePair stated = RoceQueuePair.decode(section).asPeer();
            endpoint.part().connect(part(), stated);
            peer = stated.gid();
        } else {
            RoceDetails details = RoceDetails.decode(section);
            endpoint.part().connect(part(), details.gid(), details.key(), details.rnrTimer());
            peer = details.gid();
        }
        state = State.CONNECTING;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // memories are objects, not values
    public @Nullable Refusal submit(WorkRequest request) {
        if (state != State.CONNECTED || handedOver || end != null) {
            return notConnected();
        }
        if (inFlight == sendQueueSize) {
            return sendQueueFull;
        }
        Refusal refusal = endpoint.checkAccess(request);
        RemoteMemory remote = request.remote;
        if (refusal == null && remote != null && remote != ofPeer) {
            refusal = checkRemote(remote);
            ofPeer = refusal == null ? remote : ofPeer;
        }
        if (refusal != null) {
            return refusal;
        }
        part().requests().add(request, Status.SUCCESS);
        inFlight++;
        return null;
    }

    /**
     * Checks that the connection's peer has exported the memory: its key is valid there alone. An
     * export names the IPv4 address of its device: over IPv6 the peer alone knows, and refuses a
     * key that it has not made.
     */
    private @Nullable Refusal checkRemote(RemoteMemory memory) {
        Gid connected = peer;
        return connected != null && (!connected.isIpv4() || memory.isOf(connected.bytes()))
                ? null
                : Refusal.of(
                        Status.NOT_PERMITTED,
                        "remote memory belongs to another device than the peer's: memory=%s,"
                                + " peer=%s, expected=memory that the peer of the connection has"
                                + " exported",
                        memory,
                        connected);
    }

    private Refusal notConnected() {
        return Refusal.of(
                Status.NOT_CONNECTED,
                "connection is not established or is ending: state=%s, disconnecting=%s,"
                        + " expected=%s",
                state,
                handedOver || end != null,
                State.CONNECTED);
    }

    /**
     * Publishes its requests.
     *
     * @return whether there were some
     */
    boolean publish() {
        return !disconnecting && end == null && part().requests().publish();
    }

    @Override
    public void disconnect() {
        disconnecting = true;
    }

    // ---- progress ----

    /** Tells the NIC to accept its request, or to disconnect, if that is due. */
    void handOver() {
        NicRequest request = accepting;
        if (request != null) {
            accepting = null;
            if (disconnecting) {
                refuse(request);
            } else {
                endpoint.part().accept(part(), request, answer);
            }
        }
        if (disconnecting && !handedOver && state != State.ENDED) {
            handedOver = true;
            endpoint.part().disconnect(part());
        }
    }

    private void refuse(NicRequest request) {
        endpoint.part().refuse(request, "listener has disconnected: port=" + request.port());
    }

    /** An event of the NIC. */
    void happened(NicEvent.What what) {
        if (what instanceof NicEvent.Ended ended) {
            end = ended;
        } else if (state == State.CONNECTING && !disconnecting) {
            switch (what) {
                case NicEvent.Accepted(Permissions grants, byte[] data) ->
                        endpoint.listener().accepted(this, grants, data);
                case NicEvent.Rejected(byte[] data) -> endpoint.listener().rejected(this, data);
                case NicEvent.Established _ -> {
                    state = State.CONNECTED;
                    pathMtuBytes = part().pathMtuBytes();
                    endpoint.listener().established(this);
                }
                case NicEvent.Ended _ -> {} // handled above
            }
        }
    }

    /** Before the events of a pass: failures are reported behind the event that ends it. */
    void seeCompletions() {
        completed = part().completions().published();
    }

    /**
     * Reports completions, and the end behind them.
     *
     * @return whether there were some
     */
    boolean progress() {
        WorkRing completions = part().completions();
        boolean moved = false;
        while (completions.taken() < completed) {
            WorkRequest done = Objects.requireNonNull(completions.poll(), "a completed request");
            inFlight--;
            moved = true;
            done.sink.completed(completions.status());
        }
        NicEvent.Ended event = end;
        if (event != null && state != State.ENDED && inFlight == part().requests().unpublished()) {
            finish(event);
            moved = true;
        }
        return moved;
    }

    private void finish(NicEvent.Ended event) {
        String reason = reasonOf(event);
        state = State.ENDED;
        WorkRequest left = part().requests().takeBack();
        while (left != null) {
            inFlight--;
            left.sink.completed(event.requestStatus());
            left = part().requests().takeBack();
        }
        endpoint.listener().ended(this, event.status(), reason);
    }

    private String reasonOf(NicEvent.Ended event) {
        String requested = target;
        String reason = event.reason();
        if (requested == null || state != State.CONNECTING || event.status() == Status.SUCCESS) {
            return reason;
        }
        return reason.contains(requested) // most reasons of connection management name it
                ? "RDMA connection by address failed: reason=" + reason
                : Text.format(
                        "RDMA connection by address failed: %s, reason=%s", requested, reason);
    }

    /**
     * The NIC disconnects all connections of the endpoint, and refuses the requests that it was not
     * told to accept: of this one, the end alone is reported.
     */
    void flush() {
        accepting = null;
        disconnecting = true;
        handedOver = true;
    }

    /** Whether {@link #progress} has something to do. */
    boolean hasWork() {
        return state != State.ENDED
                && (accepting != null
                        || (disconnecting && !handedOver)
                        || part().completions().available() > 0
                        || (end != null && inFlight == part().requests().unpublished()));
    }

    @Override
    public void close() {
        if (!endpoint.forget(this)) {
            return;
        }
        boolean used = state == State.EXPORTED || state == State.CONNECTED;
        state = State.ENDED;
        NicRequest request = accepting;
        if (request != null) {
            accepting = null;
            refuse(request);
        } else if (used) {
            endpoint.part().close(part());
        } else {
            endpoint.part().closeLater(part());
        }
    }
}
