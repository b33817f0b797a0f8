package io.softdpu.rdma.roce.cm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.CmMessage.About;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.rdma.roce.wire.ServiceId;
import io.softdpu.rdma.spi.PrivateData;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, or a request of a peer for one, from its first message to the end of its
 * TIMEWAIT. Made by its {@link ConnectionManager}, and used by the thread of that; {@code nowNanos}
 * is the time of the call, which is compared by difference only.
 */
public final class CmConnection {
    /** Repeats by its sender that a waiting request may miss. */
    private static final int MISSED_REPEATS = 4;

    private static final byte[] NO_DATA = {};

    private final ConnectionManager manager;
    private final int localId;

    /**
     * Random number of a first request packet: of the peer's, which learns it by a message; or of
     * this end, if the programs exchange parameters.
     */
    private final int receivePsn;

    private final int port;
    private final @Nullable ConnectKey key;
    private CmState state;

    // This end: set at first, or by accept.
    private @Nullable ConnectionListener listener;
    private @Nullable RequestListener requestListener;
    private @Nullable LocalTerms terms;
    private @Nullable QueuePair queuePair;

    /** The GUID that this end states in its REQ or REP. */
    private long guid;

    // The peer.
    private @Nullable Gid peer;
    private @Nullable ConnectKey peerKey;
    private int remoteId;
    private @Nullable RemoteId remote;
    private @Nullable RemoteQueuePair remoteQueuePair;
    private @Nullable Agreement agreement;

    /** The peer's REQ: one that waits for the program, or for the connect call of a blob. */
    private CmMessage.@Nullable Req request;

    private @Nullable EndGuid requestGuid;
    private byte[] peerData = NO_DATA;

    /** Whether this end has sent the REQ. */
    private boolean requester;

    /** Whether the peer has no connection management: nothing is sent to it, or taken of it. */
    private boolean silent;

    private long transactionId;

    private final CmTimer timer;

    /** The rejection that answers further messages of a peer whose request has ended. */
    private @Nullable Rejection rejection;

    /** Identity of a peer's connection: its communication id, unique for its adapter. */
    record RemoteId(Gid peer, long guid, int id) {}

    /** Identity of a peer's queue pair. */
    record RemoteQueuePair(Gid peer, int number) {}

    private CmConnection(
            ConnectionManager manager,
            CmState state,
            int localId,
            int receivePsn,
            int port,
            @Nullable ConnectKey key) {
        this.manager = manager;
        this.state = state;
        this.localId = localId;
        this.receivePsn = receivePsn;
        this.port = port;
        this.key = key;
        guid = manager.plainGuid();
        timer = new CmTimer(this, manager.timers(), manager.limits());
    }

    /** An end that requests a connection to a port. */
    static CmConnection toPort(
            ConnectionManager manager,
            int localId,
            int receivePsn,
            int port,
            LocalTerms terms,
            ConnectionListener listener) {
        CmConnection made =
                new CmConnection(manager, CmState.REQ_SENT, localId, receivePsn, port, null);
        made.setEnd(terms, listener);
        return made;
    }

    /** An end with a key. */
    static CmConnection exported(
            ConnectionManager manager,
            int localId,
            int receivePsn,
            ConnectKey key,
            LocalTerms terms,
            ConnectionListener listener) {
        CmConnection made =
                new CmConnection(manager, CmState.EXPORTED, localId, receivePsn, 0, key);
        made.setEnd(terms, listener);
        return made;
    }

    /** A request of a peer to a port. */
    static CmConnection requested(
            ConnectionManager manager,
            int localId,
            int receivePsn,
            int port,
            CmMessage.Req req,
            @Nullable EndGuid guid,
            byte[] programData,
            Gid peer,
            RequestListener listener,
            long nowNanos) {
        CmConnection made =
                new CmConnection(manager, CmState.REQ_RECEIVED, localId, receivePsn, port, null);
        made.peerData = programData;
        made.requestListener = listener;
        made.keepRequest(req, guid, peer, nowNanos);
        made.bindQueuePair(req.queuePair());
        return made;
    }

    private void setEnd(LocalTerms offered, ConnectionListener events) {
        queuePair = manager.createQueuePair(this, offered.attachment());
        terms = offered;
        listener = events;
    }

    // ---- what it is ----

    /** The state. */
    public CmState state() {
        return state;
    }

    /** Number of this end in messages. */
    public int localId() {
        return localId;
    }

    /** The queue pair of this end; null until a request is accepted. */
    public @Nullable QueuePair queuePair() {
        return queuePair;
    }

    /** Its number; 0 until a request is accepted. */
    int queuePairNumber() {
        QueuePair own = queuePair;
        return own == null ? 0 : own.number();
    }

    /** The PSN of the first request packet of this end if it has no messages. */
    public int ownPsn() {
        return receivePsn;
    }

    /** The path MTU of this end. */
    int pathMtuBytes() {
        return ownTerms().pathMtuBytes();
    }

    /** The port of a connection by address; 0 by blob. */
    public int port() {
        return port;
    }

    /** The key of this end of a connection by blob; null by address. */
    public @Nullable ConnectKey key() {
        return key;
    }

    /** The peer's address; null before it is connected to a blob. */
    public @Nullable Gid peer() {
        return state == CmState.EXPORTED ? null : peer;
    }

    /** The rights that the peer's instance grants, of a request as well. */
    public Permissions peerGrants() {
        Agreement made = agreement;
        return made == null ? Agreement.grantsOf(requestGuid) : made.grants();
    }

    /** The terms of both ends; null until they are known to this end. */
    public @Nullable Agreement agreement() {
        return agreement;
    }

    /** Whether this end has sent the REQ. */
    public boolean isRequester() {
        return requester;
    }

    /**
     * The path MTU in bytes that a request which waits asks for, and that no answer lowers, since
     * its sender is none of softdpu; 0 if one does.
     */
    public int fixedPathMtuBytes() {
        CmMessage.Req req = request;
        return req == null ? 0 : Agreement.fixedPathMtuBytes(req);
    }

    /**
     * A copy of the data of the peer's program: that of its request, or that of the answer which
     * has accepted this side's request.
     */
    public byte[] peerData() {
        return peerData.clone();
    }

    // ---- calls of the program ----

    /**
     * Connects an exported end to the peer's: the one with the lower key sends the REQ, the other
     * answers it.
     *
     * @param address of the peer's adapter
     * @param peersKey from its blob
     * @throws DpuException INVALID_VALUE if that is this end's own key; NOT_SUPPORTED for an
     *     address of the other IP version; BAD_STATE if it was connected before, or is over
     */
    public void connect(Gid address, ConnectKey peersKey, long nowNanos) {
        ConnectKey own = key;
        if (state != CmState.EXPORTED || own == null) {
            throw badState(CmState.EXPORTED);
        }
        if (own.equals(peersKey)) {
            throw toItself("blob");
        }
        manager.requireIpVersion(address);
        CmMessage.Req waiting = request;
        Gid from = peer;
        dropRequest();
        peer = address;
        peerKey = peersKey;
        timer.limit(nowNanos, ownTerms().connectTimeoutNanos());
        if (own.compareTo(peersKey) < 0) {
            enter(CmState.REQ_SENT);
            byte[] keys = new byte[2 * ConnectKey.WIRE_BYTES];
            MemorySegment bytes = MemorySegment.ofArray(keys);
            own.encode(bytes, 0);
            peersKey.encode(bytes, ConnectKey.WIRE_BYTES);
            sendRequest(ServiceId.BLOB, keys, keys.length, nowNanos);
        } else {
            enter(CmState.AWAITING_REQ);
        }
        if (waiting != null && from != null) {
            manager.requestOfKey(waiting, from, nowNanos);
        }
    }

    /**
     * Connects an exported end to a queue pair of a peer without connection management, which may
     * not be ready yet: it is established at once, no message of its connection is sent or taken,
     * and the peer is asked whether it is there only once it has sent a packet.
     *
     * @throws DpuException INVALID_VALUE for its own queue pair; NOT_SUPPORTED for an address of
     *     the other IP version; ALREADY_EXIST if the queue pair belongs to a connection; BAD_STATE
     *     if it was connected before, or is over
     */
    public void connect(PeerQueuePair stated, long nowNanos) {
        if (state != CmState.EXPORTED) {
            throw badState(CmState.EXPORTED);
        }
        manager.requireIpVersion(stated.gid());
        if (stated.number() == queuePairNumber() && stated.gid().equals(manager.gid())) {
            throw toItself("queue pair");
        }
        manager.takeQueuePair(stated.gid(), stated.number(), nowNanos);
        refuseKept(RejectReason.INVALID_SERVICE_ID, "connection belongs to another peer");
        dropRequest();
        silent = true;
        peer = stated.gid();
        Agreement made = Agreement.stated(stated, ownTerms(), receivePsn);
        agreement = made;
        bindQueuePair(stated.number());
        ownQueuePair().prepareUnheard(made.path());
        establish(nowNanos);
    }

    /**
     * Accepts a request: {@link #agreement} is there. The peer is notified by the next {@link
     * ConnectionManager#expire}, so what the caller does until then comes first.
     *
     * @param data for the peer's program, within {@link PrivateData#ACCEPT_BYTES}
     * @throws DpuException FULL if all places are taken: it can be answered again, or {@linkplain
     *     #refuse refused}; NOT_SUPPORTED if the terms have a lower path MTU than {@link
     *     #fixedPathMtuBytes}, with which it was rejected; BAD_STATE unless the request waits
     * @throws IllegalArgumentException if there is too much data
     */
    public void accept(byte[] data, LocalTerms offered, ConnectionListener events, long nowNanos) {
        CmMessage.Req req = request;
        if (state != CmState.REQ_RECEIVED || req == null) {
            throw badState(CmState.REQ_RECEIVED);
        }
        ConnectionManager.requireData(data, PrivateData.ACCEPT_BYTES);
        if (Agreement.isPathMtuBeyond(req, offered.pathMtuBytes())) {
            refusePathMtu(offered.pathMtuBytes(), nowNanos);
            throw new DpuException(
                    Status.NOT_SUPPORTED, Agreement.pathMtuText(req, offered.pathMtuBytes()));
        }
        setEnd(offered, events);
        answer(req, data, nowNanos);
    }

    /**
     * Rejects a request for the program.
     *
     * @param data for the peer's program, within {@link PrivateData#REJECT_BYTES}
     * @throws DpuException BAD_STATE unless the request waits
     * @throws IllegalArgumentException if there is too much data
     */
    public void reject(byte[] data, long nowNanos) {
        ConnectionManager.requireData(data, PrivateData.REJECT_BYTES);
        rejectRequest(Rejection.byProgram(data), nowNanos);
    }

    /**
     * Rejects a request for the library: it has no place for the connection.
     *
     * @param reason for the peer's message, {@code reason: key=value}; cut to {@link
     *     PrivateData#REJECT_BYTES}
     * @throws DpuException BAD_STATE unless the request waits
     */
    public void refuse(String reason, long nowNanos) {
        rejectRequest(Rejection.byLibrary(RejectReason.NO_RESOURCES, reason), nowNanos);
    }

    /**
     * Rejects a request whose path MTU this end does not have, and no answer lowers.
     *
     * @param limit the path MTU of this end in bytes, lower than {@link #fixedPathMtuBytes}
     * @throws DpuException BAD_STATE unless the request waits
     */
    public void refusePathMtu(int limit, long nowNanos) {
        CmMessage.Req req = request;
        String text = req == null ? "" : Agreement.pathMtuText(req, limit);
        rejectRequest(Rejection.byLibrary(RejectReason.INVALID_PATH_MTU, text), nowNanos);
    }

    private void rejectRequest(Rejection given, long nowNanos) {
        if (state != CmState.REQ_RECEIVED) {
            throw badState(CmState.REQ_RECEIVED);
        }
        rejection = given;
        enter(CmState.REJECTED);
        unbindQueuePair();
        waitForRepeat(nowNanos);
        sendRejection(given(), About.REQ, remoteId);
    }

    /**
     * Ends it in an orderly way: requests under way complete with CONNECTION_ABORTED, the peer sees
     * a disconnect, or the end of its request. Does nothing if it has ended.
     */
    public void disconnect(long nowNanos) {
        end(null, nowNanos);
    }

    /**
     * Ends it as {@link #disconnect}, but by a failure. A peer of softdpu gets the reason; others
     * see a disconnect.
     *
     * @param reason for the peer's message, {@code reason: key=value}
     */
    public void fail(String reason, long nowNanos) {
        end(reason, nowNanos);
    }

    private void end(@Nullable String reason, long nowNanos) {
        switch (state) {
            case EXPORTED, AWAITING_REQ -> {
                refuseKept(RejectReason.INVALID_SERVICE_ID, "connection was ended");
                close();
            }
            case REQ_SENT ->
                    giveUp(RejectReason.TIMEOUT, orElse(reason, "request was ended"), nowNanos);
            case REQ_RECEIVED -> refuse(orElse(reason, "listener is stopping"), nowNanos);
            case REP_SENT ->
                    giveUp(
                            RejectReason.CONSUMER,
                            orElse(reason, "listener has disconnected"),
                            nowNanos);
            case ESTABLISHED -> sendDisconnect(reason, nowNanos);
            case REJECTED, DREQ_SENT, TIMEWAIT, CLOSED -> {}
        }
    }

    private static String orElse(@Nullable String reason, String other) {
        return reason == null ? other : reason;
    }

    // ---- events of the queue pair ----

    /**
     * A packet of the peer has connected the queue pair: it counts as an RTU (InfiniBand
     * Architecture Specification, volume 1, section 12.9.6). The queue pair was READY, which it is
     * in REP_SENT alone.
     */
    void contacted(long nowNanos) {
        establish(nowNanos);
    }

    /**
     * The queue pair has failed. It was CONNECTED, which it is in ESTABLISHED alone; but a listener
     * for its requests may have ended the connection since.
     */
    void failed(Status status, String reason, long nowNanos) {
        if (state == CmState.ESTABLISHED) {
            ended(beginDisconnect(reason, nowNanos), status, reason);
        }
    }

    // ---- messages of the peer ----

    /** A REQ has come again. */
    void requestRepeated(long nowNanos) {
        switch (state) {
            case EXPORTED, REQ_RECEIVED -> waitForRepeat(nowNanos);
            case REJECTED -> {
                waitForRepeat(nowNanos);
                sendRejection(given(), About.REQ, remoteId);
            }
            case REP_SENT -> timer.repeatNow(nowNanos); // once for many in one pass
            case TIMEWAIT -> {
                Rejection given = rejection;
                sendRejection(given == null ? Rejection.STALE : given, About.REQ, remoteId);
            }
            case AWAITING_REQ, REQ_SENT, ESTABLISHED, DREQ_SENT, CLOSED -> {}
        }
    }

    /** A REQ with this end's key has come, from a connection that is not known. */
    void requestedByKey(CmMessage.Req req, Gid from, long nowNanos) {
        switch (state) {
            case EXPORTED -> {
                if (request == null) { // another one is repeated until this one's time is over
                    keepRequest(req, statedIn(req), from, nowNanos);
                }
            }
            case AWAITING_REQ -> {
                if (isOfPeer(req)) {
                    peer = from;
                    remoteId = req.localId();
                    requestGuid = statedIn(req);
                    bindRemote(req.caGuid());
                    bindQueuePair(req.queuePair());
                    answer(req, NO_DATA, nowNanos);
                } else {
                    refuseForeign(req, from);
                    ended(CmState.CLOSED, Status.AUTHENTICATION, foreignPeer(from));
                }
            }
            case REQ_SENT -> {
                if (isOfPeer(req)) {
                    manager.refuse(
                            req,
                            from,
                            RejectReason.UNSUPPORTED,
                            "the end with the higher key has sent a request");
                } else {
                    refuseForeign(req, from);
                    rejectAndEnd(
                            Rejection.byLibrary(RejectReason.TIMEOUT, "another peer has connected"),
                            About.OTHER,
                            Status.AUTHENTICATION,
                            foreignPeer(from),
                            nowNanos);
                }
            }
            case REQ_RECEIVED, REJECTED, REP_SENT, ESTABLISHED, DREQ_SENT, TIMEWAIT, CLOSED ->
                    refuseForeign(req, from);
        }
    }

    private static @Nullable EndGuid statedIn(CmMessage.Req req) {
        return EndGuid.decode(req.caGuid(), PrivateData.CONNECT_BYTES);
    }

    private boolean isOfPeer(CmMessage.Req req) {
        return ConnectKey.decode(MemorySegment.ofArray(req.privateData()), 0).equals(peerKey);
    }

    private void refuseForeign(CmMessage.Req req, Gid from) {
        manager.refuse(
                req, from, RejectReason.INVALID_SERVICE_ID, "connection belongs to another peer");
    }

    private static String foreignPeer(Gid from) {
        return "the peer of the connection is not the exporter of the connected blob: peer=" + from;
    }

    /**
     * Whether its peer's queue pair is its own: one that waits for an answer, or is ending, leaves
     * it to another.
     */
    boolean holdsQueuePair() {
        return state == CmState.REQ_RECEIVED
                || state == CmState.REP_SENT
                || state == CmState.ESTABLISHED;
    }

    /**
     * A new REQ or REP has come from the queue pair of this connection's peer: the peer has
     * forgotten this one.
     *
     * @return whether that message is to be rejected, since this end took part in the connection
     */
    boolean endStale(long nowNanos) {
        switch (state) {
            case REQ_RECEIVED -> {
                manager.add(CmCounter.GIVEN_UP);
                close();
            }
            case REP_SENT, ESTABLISHED -> {
                ended(
                        beginDisconnect(null, nowNanos),
                        Status.CONNECTION_RESET,
                        "the peer has used its queue pair for a new connection: queuePair="
                                + peerQueuePair());
                return true;
            }
            case DREQ_SENT -> {
                unbindQueuePair();
                waitOut(nowNanos);
            }
            case TIMEWAIT -> unbindQueuePair();
            case EXPORTED, AWAITING_REQ, REQ_SENT, REJECTED, CLOSED -> {}
        }
        return false;
    }

    /** Answer that accepts. */
    void replied(CmMessage.Rep rep, long nowNanos) {
        switch (state) {
            case REQ_SENT -> takeReply(rep, nowNanos);
            case ESTABLISHED -> {
                manager.add(CmCounter.REPEATED);
                if (requester && rep.localId() == remoteId) {
                    sendReady(rep.transactionId());
                }
            }
            case TIMEWAIT -> {
                manager.add(CmCounter.REPEATED);
                if (requester && rejection != null) {
                    sendRejection(given(), About.REP, rep.localId());
                } else if (rep.localId() != remoteId) {
                    manager.refuse(rep, requirePeer());
                }
            }
            case EXPORTED, AWAITING_REQ, REQ_RECEIVED, REJECTED, REP_SENT, DREQ_SENT, CLOSED ->
                    manager.add(CmCounter.REPEATED);
        }
    }

    private void takeReply(CmMessage.Rep rep, long nowNanos) {
        remoteId = rep.localId();
        EndGuid stated;
        try {
            stated = EndGuid.decode(rep.caGuid(), PrivateData.ACCEPT_BYTES);
            ConnectionManager.requireQueuePair(rep.queuePair());
        } catch (DpuException e) {
            rejectReply(
                    RejectReason.UNSUPPORTED, e.status(), String.valueOf(e.getMessage()), nowNanos);
            return;
        }
        if (manager.endStale(requirePeer(), rep.queuePair(), nowNanos)) {
            if (state == CmState.REQ_SENT) { // no listener has ended it meanwhile
                rejectReply(
                        RejectReason.STALE_CONNECTION,
                        Status.CONNECTION_RESET,
                        ConnectionManager.staleText(rep.queuePair()),
                        nowNanos);
            }
            return;
        }
        peerData =
                stated == null
                        ? rep.privateData()
                        : Arrays.copyOf(rep.privateData(), stated.privateDataBytes());
        Agreement made = Agreement.answered(rep, stated, requirePeer(), ownTerms(), receivePsn);
        agreement = made;
        ownQueuePair().prepare(made.path());
        bindQueuePair(rep.queuePair());
        sendReady(rep.transactionId());
        establish(nowNanos);
    }

    private void rejectReply(int reason, Status status, String text, long nowNanos) {
        rejectAndEnd(Rejection.byLibrary(reason, text), About.REP, status, text, nowNanos);
    }

    /** The requester has the REP. */
    void ready(long nowNanos) {
        switch (state) {
            case REP_SENT -> establish(nowNanos);
            case TIMEWAIT -> {
                manager.add(CmCounter.REPEATED);
                if (rejection != null) {
                    sendRejection(given(), About.OTHER, remoteId);
                }
            }
            case EXPORTED,
                    AWAITING_REQ,
                    REQ_SENT,
                    REQ_RECEIVED,
                    REJECTED,
                    ESTABLISHED,
                    DREQ_SENT,
                    CLOSED ->
                    manager.add(CmCounter.REPEATED);
        }
    }

    /** The peer needs more time: there are no repeats until that is over. */
    void delayed(CmMessage.Mra mra, long nowNanos) {
        boolean request = state == CmState.REQ_SENT && mra.about() == About.REQ;
        boolean reply = state == CmState.REP_SENT && mra.about() == About.REP;
        if (request || reply) {
            timer.postpone(nowNanos, TimeCode.nanos(mra.serviceTimeout()));
        } else {
            manager.add(CmCounter.REPEATED);
        }
    }

    /** The peer rejects. */
    void rejected(CmMessage.Rej rej, long nowNanos) {
        switch (state) {
            case REQ_SENT -> requestRejected(Rejection.of(rej));
            case REP_SENT, ESTABLISHED -> {
                setTimeWait(nowNanos);
                ended(
                        CmState.TIMEWAIT,
                        Status.CONNECTION_RESET,
                        "the peer has rejected the connection: " + Rejection.of(rej).describe());
            }
            case DREQ_SENT -> waitOut(nowNanos);
            case EXPORTED, AWAITING_REQ, REQ_RECEIVED, REJECTED, TIMEWAIT, CLOSED ->
                    manager.add(CmCounter.REPEATED);
        }
    }

    private void requestRejected(Rejection given) {
        ConnectionListener events = ownListener();
        enter(CmState.CLOSED);
        if (!given.byLibrary()) {
            events.rejected(this, given.data());
        }
        events.ended(
                this,
                given.status(key != null),
                "the peer has rejected the request: " + target() + ", " + given.describe());
        events.released(this);
    }

    /** Nothing receives at the port to which a REQ was sent. */
    void requestUnreceived(long transaction) {
        if (state == CmState.REQ_SENT && transaction == transactionId) {
            ended(
                    CmState.CLOSED,
                    Status.NOT_FOUND,
                    "nothing receives at the address of the peer: " + target());
        }
    }

    /** The sender of the REQ has given up, without an answer, or repeats it no more. */
    void requestGivenUp(long nowNanos) {
        switch (state) {
            case EXPORTED -> {
                manager.add(CmCounter.GIVEN_UP);
                dropRequest();
            }
            case REQ_RECEIVED -> {
                manager.add(CmCounter.GIVEN_UP);
                close();
            }
            case REJECTED -> close();
            case REP_SENT -> {
                setTimeWait(nowNanos);
                ended(
                        CmState.TIMEWAIT,
                        Status.CONNECTION_RESET,
                        "the peer has ended its request: " + target());
            }
            case AWAITING_REQ, REQ_SENT, ESTABLISHED, DREQ_SENT, TIMEWAIT, CLOSED ->
                    manager.add(CmCounter.REPEATED);
        }
    }

    /** The peer ends the connection. */
    void disconnected(CmMessage.Dreq dreq, long nowNanos) {
        switch (state) {
            case REP_SENT, ESTABLISHED -> {
                manager.send(requirePeer(), CmMessages.drep(dreq));
                setTimeWait(nowNanos);
                String failure = CmMessages.failureOf(dreq.privateData());
                if (failure.isEmpty()) {
                    ended(CmState.TIMEWAIT, Status.SUCCESS, "");
                } else {
                    ended(
                            CmState.TIMEWAIT,
                            Status.CONNECTION_RESET,
                            "the connection has failed at the peer: text=" + failure);
                }
            }
            case DREQ_SENT -> {
                manager.send(requirePeer(), CmMessages.drep(dreq));
                waitOut(nowNanos);
            }
            case TIMEWAIT -> {
                manager.add(CmCounter.REPEATED);
                manager.send(requirePeer(), CmMessages.drep(dreq));
            }
            case EXPORTED, AWAITING_REQ, REQ_SENT, REQ_RECEIVED, REJECTED, CLOSED ->
                    manager.add(CmCounter.REPEATED);
        }
    }

    /** The peer has got the DREQ. */
    void disconnectReplied(long nowNanos) {
        if (state == CmState.DREQ_SENT) {
            waitOut(nowNanos);
        } else {
            manager.add(CmCounter.REPEATED);
        }
    }

    // ---- time ----

    /** Repeats a message, or ends what has lasted too long. */
    void expired(long nowNanos) {
        if (timer.isOver(nowNanos)) {
            timedOut(nowNanos);
            return;
        }
        CmMessage message = timer.due(nowNanos);
        if (message != null) {
            manager.send(requirePeer(), message);
        }
    }

    private void timedOut(long nowNanos) {
        switch (state) {
            case EXPORTED, REQ_RECEIVED, REJECTED -> requestGivenUp(nowNanos);
            case AWAITING_REQ -> ended(CmState.CLOSED, Status.TIME_OUT, notInTime());
            case REQ_SENT, REP_SENT ->
                    rejectAndEnd(
                            Rejection.byLibrary(RejectReason.TIMEOUT, "no answer has come in time"),
                            About.OTHER,
                            Status.TIME_OUT,
                            notInTime(),
                            nowNanos);
            case DREQ_SENT -> waitOut(nowNanos);
            case TIMEWAIT -> close();
            case ESTABLISHED, CLOSED ->
                    throw new IllegalStateException("no deadline was set: state=" + state);
        }
    }

    private String notInTime() {
        return "RDMA connection was not established in time: "
                + target()
                + ", timeoutMillis="
                + ownTerms().connectTimeoutNanos() / 1_000_000;
    }

    private String target() {
        Gid address = peer;
        return "address="
                + (address == null ? "none" : address)
                + (key == null ? ", port=" + port : "");
    }

    // ---- transitions ----

    private void enter(CmState next) {
        CmState before = state;
        state = next;
        manager.moved(this, before, next);
    }

    private void establish(long nowNanos) {
        timer.clear();
        request = null;
        enter(CmState.ESTABLISHED);
        ownQueuePair().connect(nowNanos);
        ownListener().established(this);
    }

    /** Ends it for the listener, after everything else of the transition. */
    private void ended(CmState next, Status status, String reason) {
        enter(next);
        endQueuePair(Status.CONNECTION_RESET);
        ConnectionListener events = ownListener();
        events.ended(this, status, reason);
        if (next == CmState.CLOSED) {
            events.released(this);
        }
    }

    /** Ends the queue pair unless it has failed: it refuses repeats of the request then. */
    private void endQueuePair(Status requestStatus) {
        QueuePair own = queuePair;
        if (own != null && own.state() != QueuePair.State.ENDED) {
            own.end(requestStatus);
        }
    }

    /** Forgets it. */
    void close() {
        enter(CmState.CLOSED);
        ConnectionListener events = listener;
        RequestListener ofRequest = requestListener;
        if (events != null) {
            events.released(this);
        } else if (ofRequest != null) {
            ofRequest.gone(this);
        }
    }

    /** Ends what is not established, and tells the peer. */
    private void giveUp(int reason, String text, long nowNanos) {
        rejection = Rejection.byLibrary(reason, text);
        waitOut(nowNanos);
        sendRejection(given(), About.OTHER, remoteId);
    }

    /** Ends what is not established, for the peer and for the listener. */
    private void rejectAndEnd(
            Rejection given, About about, Status status, String reason, long nowNanos) {
        rejection = given;
        sendRejection(given, about, remoteId);
        setTimeWait(nowNanos);
        ended(CmState.TIMEWAIT, status, reason);
    }

    private void waitOut(long nowNanos) {
        setTimeWait(nowNanos);
        enter(CmState.TIMEWAIT);
        endQueuePair(Status.CONNECTION_ABORTED);
    }

    /** Sets what TIMEWAIT needs but the state. */
    private void setTimeWait(long nowNanos) {
        timer.stopRepeating();
        timer.limit(nowNanos, manager.limits().timeWaitNanos());
        request = null;
    }

    private void sendDisconnect(@Nullable String reason, long nowNanos) {
        enter(beginDisconnect(reason, nowNanos));
        endQueuePair(Status.CONNECTION_ABORTED);
    }

    /** Sends a DREQ, and repeats it, if the peer takes messages; returns the next state. */
    private CmState beginDisconnect(@Nullable String reason, long nowNanos) {
        if (silent) {
            setTimeWait(nowNanos);
            return CmState.TIMEWAIT;
        }
        byte[] data = reason == null ? NO_DATA : CmMessages.failure(guid, reason);
        transactionId = manager.newTransaction();
        request = null;
        timer.limit(nowNanos, manager.limits().disconnectNanos());
        timer.repeat(
                new CmMessage.Dreq(transactionId, localId, remoteId, peerQueuePair(), data),
                nowNanos);
        expired(nowNanos);
        return CmState.DREQ_SENT;
    }

    /** Sends a REQ, and repeats it. */
    void sendRequest(long serviceId, byte[] privateData, int programBytes, long nowNanos) {
        requester = true;
        transactionId = manager.newTransaction();
        LocalTerms own = ownTerms();
        int mtu = EndGuid.mtuCode(own.pathMtuBytes());
        guid = EndGuid.of(own, mtu, programBytes, manager.adapterNumber()).encode();
        timer.repeat(
                CmMessages.req(
                        transactionId,
                        localId,
                        serviceId,
                        guid,
                        queuePairNumber(),
                        receivePsn,
                        own,
                        manager.gid(),
                        requirePeer(),
                        manager.periodCode(),
                        privateData),
                nowNanos);
        expired(nowNanos);
    }

    /** Sets the peer of a request to a port, and its timeout. */
    void begin(Gid address, long nowNanos) {
        peer = address;
        timer.limit(nowNanos, ownTerms().connectTimeoutNanos());
    }

    /** Accepts a request; its REP is due now. */
    private void answer(CmMessage.Req req, byte[] data, long nowNanos) {
        LocalTerms own = ownTerms();
        Agreement made = Agreement.answering(req, requestGuid, requirePeer(), own, receivePsn);
        agreement = made;
        transactionId = req.transactionId();
        int mtu = EndGuid.mtuCode(made.path().mtuBytes());
        guid = EndGuid.of(own, mtu, data.length, manager.adapterNumber()).encode();
        request = null;
        timer.limit(nowNanos, own.connectTimeoutNanos());
        timer.repeat(
                CmMessages.rep(
                        transactionId,
                        localId,
                        remoteId,
                        guid,
                        queuePairNumber(),
                        made,
                        own.rnrRetries(),
                        data.clone()),
                nowNanos);
        ownQueuePair().prepare(made.path());
        enter(CmState.REP_SENT);
    }

    private void sendReady(long transaction) {
        manager.send(requirePeer(), CmMessages.rtu(transaction, localId, remoteId));
    }

    private void sendRejection(Rejection given, About about, int to) {
        manager.send(requirePeer(), given.message(transactionId, localId, to, about, guid));
    }

    private void refuseKept(int reason, String text) {
        CmMessage.Req kept = request;
        Gid from = peer;
        if (kept != null && from != null) {
            manager.refuse(kept, from, reason, text);
        }
    }

    // ---- the peer's request ----

    private void keepRequest(CmMessage.Req req, @Nullable EndGuid stated, Gid from, long nowNanos) {
        request = req;
        requestGuid = stated;
        peer = from;
        remoteId = req.localId();
        transactionId = req.transactionId();
        bindRemote(req.caGuid());
        waitForRepeat(nowNanos);
    }

    /** Waits as long as the sender of the REQ may take for its next repeats. */
    private void waitForRepeat(long nowNanos) {
        CmMessage.Req req = request;
        if (req != null) {
            CmLimits limits = manager.limits();
            long stated = MISSED_REPEATS * TimeCode.nanos(req.remoteTimeout());
            long shortest = MISSED_REPEATS * limits.firstRepeatNanos();
            timer.limit(nowNanos, Math.min(Math.max(stated, shortest), limits.requestWaitNanos()));
        }
    }

    private void dropRequest() {
        request = null;
        requestGuid = null;
        peer = null;
        remoteId = 0;
        unbindRemote();
        timer.clear();
    }

    // ---- tables and timers ----

    private void bindRemote(long peerGuid) {
        RemoteId id = new RemoteId(requirePeer(), peerGuid, remoteId);
        remote = id;
        manager.bind(id, this);
    }

    private void unbindRemote() {
        RemoteId id = remote;
        if (id != null) {
            remote = null;
            manager.unbind(id);
        }
    }

    private void bindQueuePair(int number) {
        RemoteQueuePair bound = new RemoteQueuePair(requirePeer(), number);
        remoteQueuePair = bound;
        manager.bind(bound, this);
    }

    private void unbindQueuePair() {
        RemoteQueuePair bound = remoteQueuePair;
        if (bound != null) {
            remoteQueuePair = null;
            manager.unbind(bound, this);
        }
    }

    /** Removes it from all tables but those of its ids and its key, and destroys its queue pair. */
    void release() {
        unbindRemote();
        unbindQueuePair();
        timer.clear();
        request = null;
        QueuePair own = queuePair;
        if (own != null) {
            manager.destroy(own);
        }
    }

    // ---- fields that a state has ----

    /** Whether an address is that of its peer, which takes part in connection management. */
    boolean isOf(Gid address) {
        return !silent && address.equals(peer);
    }

    /** Whether the peer has given it this number. */
    boolean hasRemote(int id) {
        return remoteId == id && state != CmState.REQ_SENT;
    }

    private Gid requirePeer() {
        return Objects.requireNonNull(peer, "has a peer");
    }

    private LocalTerms ownTerms() {
        return Objects.requireNonNull(terms, "has terms");
    }

    private QueuePair ownQueuePair() {
        return Objects.requireNonNull(queuePair, "has a queue pair");
    }

    private ConnectionListener ownListener() {
        return Objects.requireNonNull(listener, "has a listener");
    }

    private Rejection given() {
        return Objects.requireNonNull(rejection, "has rejected");
    }

    private int peerQueuePair() {
        return Objects.requireNonNull(agreement, "has an agreement").path().peerQueuePair();
    }

    private DpuException toItself(String what) {
        return new DpuException(
                Status.INVALID_VALUE,
                "connection cannot be connected to its own "
                        + what
                        + ": queuePair="
                        + queuePairNumber()
                        + ", expected=that of a peer");
    }

    private DpuException badState(CmState expected) {
        return new DpuException(
                Status.BAD_STATE,
                "connection is in another state: state=" + state + ", expected=" + expected);
    }

    @Override
    public String toString() {
        return "connection 0x"
                + Integer.toHexString(localId)
                + " of queue pair "
                + queuePairNumber()
                + " ("
                + state
                + ")";
    }
}
