package io.softdpu.rdma.roce.nic;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.cm.Agreement;
import io.softdpu.rdma.roce.cm.CmConnection;
import io.softdpu.rdma.roce.cm.ConnectKey;
import io.softdpu.rdma.roce.cm.ConnectionListener;
import io.softdpu.rdma.roce.cm.PeerQueuePair;
import io.softdpu.rdma.roce.rc.ConnectionCounters;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.rc.ReceiveListener;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Connection between the engine of its instance and the adapter: a ring of requests, and one of
 * their completions.
 *
 * <p>The engine's thread uses the rings and what is fixed; the rest belongs to the owner of the
 * NIC.
 */
public final class NicConnection implements ConnectionListener, ReceiveListener {
    private final NicEndpoint endpoint;
    private final ProviderConnection owner;
    private final WorkRing requests;
    private final WorkRing completions;
    private @Nullable CmConnection connection;

    /** Reason of the end where the program of the listener has rejected the request. */
    private @Nullable String rejection;

    /**
     * Of its queue pair, which may be gone before the engine asks for them; before it has one, and
     * if it gets none since its request is gone, all are 0.
     */
    private volatile ConnectionCounters counters = new ConnectionCounters();

    /** Whether the engine is to get no further event. */
    private boolean silent;

    /** Whether its end was added to the events. */
    private boolean over;

    /** Status of requests that come after the end. */
    private Status requestStatus = Status.CONNECTION_ABORTED;

    NicConnection(NicEndpoint endpoint, ProviderConnection owner, int sendQueueSize) {
        this.endpoint = endpoint;
        this.owner = owner;
        requests = new WorkRing(sendQueueSize);
        completions = new WorkRing(sendQueueSize);
    }

    // ---- for the engine's thread ----

    /** The engine's object for this connection. */
    public ProviderConnection owner() {
        return owner;
    }

    /** Requests for the NIC; the engine limits them, completions included, to its size. */
    public WorkRing requests() {
        return requests;
    }

    /** Completions of the requests, in their order. */
    public WorkRing completions() {
        return completions;
    }

    /** The path MTU that was agreed on in bytes; after the event that it is established. */
    public int pathMtuBytes() {
        Agreement made = own().agreement();
        return made == null ? 0 : made.path().mtuBytes();
    }

    /** What was counted for it, also after its end. */
    public ConnectionCounters counters() {
        return counters;
    }

    // ---- for the owner of the NIC ----

    void begin(CmConnection begun) {
        connection = begun;
        counters = queuePairOf(begun).counters();
    }

    /** By address, of a peer whose timer is not known. */
    void begin(CmConnection begun, int rnrRetries, RnrTimer timer) {
        begin(begun);
        queuePairOf(begun).limitReceiverNotReady(rnrRetries, timer);
    }

    private CmConnection own() {
        return Objects.requireNonNull(connection, "connection was begun");
    }

    /** The key for the blob. */
    public ConnectKey key() {
        return Objects.requireNonNull(own().key(), "exported connection has a key");
    }

    /** Number of its queue pair. */
    public int queuePair() {
        return queuePairOf(own()).number();
    }

    /** The PSN of the first request packet of this end if its peer is stated by parameters. */
    public int firstPsn() {
        return own().ownPsn();
    }

    private static QueuePair queuePairOf(CmConnection of) {
        return Objects.requireNonNull(of.queuePair(), "exported connection has a queue pair");
    }

    /**
     * Connects it to the peer's end.
     *
     * @param rnrRetries of messages that find no receive at the peer
     * @param peersTimer by which the retries are counted as time
     * @throws io.softdpu.core.DpuException as {@link CmConnection#connect(Gid, ConnectKey, long)}
     */
    void connect(
            Gid peer, ConnectKey peersKey, int rnrRetries, RnrTimer peersTimer, long nowNanos) {
        queuePairOf(own()).limitReceiverNotReady(rnrRetries, peersTimer);
        own().connect(peer, peersKey, nowNanos);
    }

    /**
     * Connects it to a peer without connection management.
     *
     * @throws io.softdpu.core.DpuException as {@link CmConnection#connect(PeerQueuePair, long)}
     */
    void connect(PeerQueuePair peer, int rnrRetries, RnrTimer timer, long nowNanos) {
        queuePairOf(own()).limitReceiverNotReady(rnrRetries, timer);
        own().connect(peer, nowNanos);
    }

    /**
     * Hands published requests to the queue pair; one that is not connected completes them.
     *
     * @param limit 1 or more
     * @return their number
     */
    int takeRequests(int limit) {
        WorkRequest request = requests.poll();
        if (request == null) {
            return 0;
        }
        QueuePair queuePair = queuePairOf(own());
        int taken = 0;
        while (request != null) {
            taken++;
            Refusal refusal = queuePair.submit(request);
            if (refusal != null) {
                Status refused = Refusal.statusOf(refusal);
                complete(request, refused == Status.NOT_CONNECTED ? requestStatus : refused);
            }
            request = taken == limit ? null : requests.poll();
        }
        if (queuePair.state() == QueuePair.State.CONNECTED) { // what it has refused itself
            boolean _ = completions.publish();
        }
        return taken;
    }

    /**
     * A failure ends the connection: it becomes visible with the end, so that the engine never has
     * the one without the other.
     */
    private void complete(WorkRequest request, Status status) {
        completions.add(request, status);
        if (status == Status.SUCCESS || over) {
            boolean _ = completions.publish();
        }
        endpoint.requestCompleted();
    }

    /** Ends it in an orderly way, with an event. */
    void disconnect(long nowNanos) {
        int _ = takeRequests(Integer.MAX_VALUE);
        CmConnection begun = connection;
        if (begun != null) { // else it was accepted, and the peer has not got that
            begun.disconnect(nowNanos);
        }
        if (!over) {
            end(Status.SUCCESS, "", Status.CONNECTION_ABORTED);
        }
    }

    /** Ends it in an orderly way, without an event. */
    void close(long nowNanos) {
        silent = true;
        disconnect(nowNanos);
        endpoint.remove(this);
    }

    /** Ends it since its request could not be accepted. */
    void failed(Status status, String reason) {
        end(status, reason, Status.CONNECTION_ABORTED);
    }

    private void end(Status status, String reason, Status ofRequests) {
        requestStatus = ofRequests;
        int _ = takeRequests(Integer.MAX_VALUE);
        add(new NicEvent.Ended(status, reason, requestStatus));
        over = true;
        boolean _ = completions.publish();
    }

    // ---- events of the connection ----

    @Override
    public void established(CmConnection of) {
        if (of.key() == null && of.isRequester()) {
            add(new NicEvent.Accepted(of.peerGrants(), of.peerData()));
        }
        add(new NicEvent.Established());
    }

    private void add(NicEvent.What what) {
        if (!silent) {
            endpoint.add(new NicEvent(this, endpoint.received(), what));
        }
    }

    @Override
    public void rejected(CmConnection of, byte[] privateData) {
        rejection =
                Text.format(
                        "program of the listener has rejected the request: privateDataBytes=%d,"
                                + " expected=see RdmaConnection.peerPrivateData",
                        privateData.length);
        add(new NicEvent.Rejected(privateData));
    }

    @Override
    public void ended(CmConnection of, Status status, String reason) {
        boolean byPeer = status == Status.SUCCESS || status == Status.CONNECTION_RESET;
        String rejected = rejection;
        end(
                status,
                rejected == null ? reason + notSent(status) : rejected,
                byPeer ? Status.CONNECTION_RESET : Status.CONNECTION_ABORTED);
    }

    /** Why a peer that does not answer has got no packets, if the system has refused to send. */
    private String notSent(Status status) {
        Gid peer = connection == null ? null : connection.peer();
        boolean unanswered = status == Status.CONNECTION_RESET || status == Status.TIME_OUT;
        return unanswered && peer != null ? endpoint.notSent(peer) : "";
    }

    @Override
    public void released(CmConnection of) {
        // Its engine may hand over requests until it has got the end.
    }

    // ---- completions of the queue pair ----

    @Override
    public void completed(QueuePair queuePair, WorkRequest request, Status status) {
        complete(request, status);
    }

    @Override
    public void received(QueuePair queuePair, WorkRequest receive, Status status) {
        receive.resultConnection = owner;
        endpoint.receiveCompleted(receive, status);
    }
}
