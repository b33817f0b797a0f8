package io.softdpu.rdma.roce.cm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.Management;
import io.softdpu.rdma.roce.rc.Attachment;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.CmAttribute;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.IpAddressing;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.roce.wire.ServiceId;
import io.softdpu.rdma.spi.PrivateData;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Connection management of one adapter, on queue pair 1: requests of peers to ports, connections to
 * ports of peers and by blob, and their ends (InfiniBand Architecture Specification, volume 1,
 * chapter 12, and annex A11). The adapter passes on datagrams, deadlines and the events of queue
 * pairs; messages to peers go into its queue of datagrams.
 *
 * <p>A peer is the address from which its datagrams come: a message counts only for a connection to
 * that address. Everything that a peer can make this manager keep is limited by {@link CmLimits},
 * in number and in time.
 *
 * <p>Belongs to one thread, with its connections. Times are nanoseconds of any origin, compared by
 * difference only.
 */
public final class ConnectionManager implements Management {
    /** Queue pairs below are not of connections. */
    private static final int FIRST_QUEUE_PAIR = 2;

    private static final int FIRST_EPHEMERAL_PORT = 49_152;
    private static final int PORT_END = 65_536;

    private final Adapter adapter;
    private final CmLimits limits;
    private final RandomGenerator random;
    private final int adapterNumber;
    private final long plainGuid;
    private final int periodCode;
    private final Timers timers = new Timers();
    private final Map<CmCounter, Long> counters = new EnumMap<>(CmCounter.class);
    private final MemorySegment outgoing = MemorySegment.ofArray(new byte[CmCodec.MESSAGE_BYTES]);

    private final Map<Integer, RequestListener> ports = new HashMap<>();
    private final Map<Integer, CmConnection> byLocalId = new HashMap<>();
    private final Map<ConnectKey, CmConnection> byKey = new HashMap<>();
    private final Map<CmConnection.RemoteId, CmConnection> byRemoteId = new HashMap<>();
    private final Map<CmConnection.RemoteQueuePair, CmConnection> byRemoteQueuePair =
            new HashMap<>();

    /** Numbers of requests that wait for the program, by the addresses of their senders. */
    private final Map<Gid, Integer> waiting = new HashMap<>();

    /** Requests that were rejected, oldest first. */
    private final Set<CmConnection> rejected = new LinkedHashSet<>();

    private int requests;
    private int places;
    private int timeWaits;

    /**
     * Creates the manager of an adapter.
     *
     * @param adapter without a management; owns the queue pairs, which only this manager creates
     * @param random for communication ids, keys and sequence numbers, which peers must not guess
     */
    public ConnectionManager(Adapter adapter, CmLimits limits, RandomGenerator random) {
        this.adapter = adapter;
        this.limits = limits;
        this.random = random;
        adapterNumber = random.nextInt(1 << EndGuid.ADAPTER_BITS);
        plainGuid =
                new EndGuid(Permissions.LOCAL_READ_ONLY, 0, 1, EndGuid.MIN_MTU_CODE, adapterNumber)
                        .encode();
        periodCode = TimeCode.atLeast(limits.lastRepeatNanos());
        adapter.manage(this);
    }

    // ---- calls of the program ----

    /**
     * Listens on a port, for connections to any address of the adapter.
     *
     * @param port 1 to 65,535
     * @throws DpuException ALREADY_EXIST if a listener has the port
     */
    public void listen(int port, RequestListener listener) {
        if (ports.putIfAbsent(port, listener) != null) {
            throw new DpuException(
                    Status.ALREADY_EXIST,
                    "RDMA port is in use: port="
                            + port
                            + ", expected=another port, or stopListening there first");
        }
    }

    /** Releases a port. Requests that were reported can still be answered. */
    public void stopListening(int port) {
        ports.remove(port);
    }

    /**
     * Requests a connection from the listener at a port of a peer.
     *
     * @param address of the peer's adapter, of the same IP version as this one's
     * @param data for the listener's program, within {@link PrivateData#CONNECT_BYTES}
     * @throws DpuException FULL if all places are taken; NOT_SUPPORTED for the other IP version
     * @throws IllegalArgumentException if there is too much data
     */
    public CmConnection connect(
            Gid address,
            int port,
            byte[] data,
            LocalTerms terms,
            ConnectionListener listener,
            long nowNanos) {
        requireData(data, PrivateData.CONNECT_BYTES);
        requireIpVersion(address);
        CmConnection made = CmConnection.toPort(this, newId(), randomPsn(), port, terms, listener);
        byLocalId.put(made.localId(), made);
        moved(made, CmState.CLOSED, CmState.REQ_SENT);
        made.begin(address, nowNanos);
        IpAddressing addresses =
                new IpAddressing(
                        random.nextInt(FIRST_EPHEMERAL_PORT, PORT_END),
                        gid().addressBytes(),
                        address.addressBytes());
        made.sendRequest(ServiceId.ofPort(port), addresses.encode(data), data.length, nowNanos);
        return made;
    }

    /**
     * Creates the end of a connection by blob. The blob has its {@link CmConnection#key}, and
     * {@link CmConnection#connect} is called with the peer's.
     *
     * @throws DpuException FULL if all places are taken
     */
    public CmConnection export(LocalTerms terms, ConnectionListener listener) {
        ConnectKey key = ConnectKey.random(random);
        CmConnection made = CmConnection.exported(this, newId(), randomPsn(), key, terms, listener);
        byLocalId.put(made.localId(), made);
        byKey.put(key, made);
        moved(made, CmState.CLOSED, CmState.EXPORTED);
        return made;
    }

    // ---- queue pairs ----

    @Override
    public void contacted(QueuePair queuePair, long nowNanos) {
        connectionOf(queuePair).contacted(nowNanos);
    }

    @Override
    public void ended(QueuePair queuePair, Status status, String reason, long nowNanos) {
        connectionOf(queuePair).failed(status, reason, nowNanos);
    }

    private static CmConnection connectionOf(QueuePair queuePair) {
        if (queuePair.owner() instanceof CmConnection connection) {
            return connection;
        }
        throw new IllegalStateException("queue pair is of no connection: " + queuePair);
    }

    // ---- datagrams ----

    @Override
    public void datagram(Packet packet, Gid source, long nowNanos) {
        if (packet.queueKey() != CmCodec.QUEUE_KEY) {
            add(CmCounter.QUEUE_KEY);
            return;
        }
        MemorySegment memory = packet.memory();
        long at = packet.payloadAt();
        int bytes = packet.payloadBytes();
        CmMessage message;
        try {
            message = CmCodec.decode(memory, at, bytes);
        } catch (DpuException e) {
            if (e.status() == Status.NOT_SUPPORTED) {
                add(CmCounter.NOT_SUPPORTED);
                return;
            }
            add(CmCounter.MALFORMED);
            if (CmCodec.attribute(memory, at, bytes) == CmAttribute.REQ) {
                refuse(
                        CmCodec.transactionId(memory, at),
                        CmCodec.localId(memory, at),
                        source,
                        RejectReason.UNSUPPORTED,
                        String.valueOf(e.getMessage()));
            }
            return;
        }
        switch (message) {
            case CmMessage.Req req -> request(req, source, nowNanos);
            case CmMessage.Rep rep -> {
                CmConnection known = own(rep.remoteId(), source);
                if (known == null) {
                    refuse(rep, source);
                } else {
                    known.replied(rep, nowNanos);
                }
            }
            case CmMessage.Rtu rtu -> {
                CmConnection known = own(rtu.remoteId(), rtu.localId(), source);
                if (known != null) {
                    known.ready(nowNanos);
                }
            }
            case CmMessage.Rej rej -> rejection(rej, source, nowNanos);
            case CmMessage.Mra mra -> {
                CmConnection known =
                        mra.about() == CmMessage.About.REQ
                                ? own(mra.remoteId(), source)
                                : own(mra.remoteId(), mra.localId(), source);
                if (known != null) {
                    known.delayed(mra, nowNanos);
                }
            }
            case CmMessage.Dreq dreq -> disconnection(dreq, source, nowNanos);
            case CmMessage.Drep drep -> {
                CmConnection known = own(drep.remoteId(), drep.localId(), source);
                if (known != null) {
                    known.disconnectReplied(nowNanos);
                }
            }
        }
    }

    @Override
    public void refused(Gid peer, MemorySegment message, long at, long nowNanos) {
        if (CmCodec.attribute(message, at, CmCodec.MESSAGE_BYTES) == CmAttribute.REQ) {
            CmConnection known = own(CmCodec.localId(message, at), peer);
            if (known != null) {
                known.requestUnreceived(CmCodec.transactionId(message, at));
            }
        }
    }

    @Override
    public void refused(Gid peer, int queuePair, int psn, long nowNanos) {
        CmConnection known =
                byRemoteQueuePair.get(new CmConnection.RemoteQueuePair(peer, queuePair));
        QueuePair own = known == null ? null : known.queuePair();
        if (own != null) {
            own.refused(psn, nowNanos);
        }
    }

    /**
     * The interface does not take a packet of a connection, which ends.
     *
     * @param queuePair to which it was sent
     * @param details of the packet and the interface, {@code key=value}
     */
    public void tooLong(Gid peer, int queuePair, String details, long nowNanos) {
        CmConnection known =
                byRemoteQueuePair.get(new CmConnection.RemoteQueuePair(peer, queuePair));
        QueuePair own = known == null ? null : known.queuePair();
        if (own != null) {
            own.tooLong(details, nowNanos);
        }
    }

    private @Nullable CmConnection own(int id, Gid source) {
        CmConnection known = byLocalId.get(id);
        if (known == null || !known.isOf(source)) {
            add(CmCounter.UNKNOWN);
            return null;
        }
        return known;
    }

    private @Nullable CmConnection own(int id, int remoteId, Gid source) {
        CmConnection known = own(id, source);
        if (known != null && !known.hasRemote(remoteId)) {
            add(CmCounter.UNKNOWN);
            return null;
        }
        return known;
    }

    private void rejection(CmMessage.Rej rej, Gid source, long nowNanos) {
        if (rej.reason() == RejectReason.TIMEOUT && rej.remoteId() == 0) {
            CmConnection requested =
                    byRemoteId.get(
                            new CmConnection.RemoteId(
                                    source, Explanation.guid(rej.information()), rej.localId()));
            if (requested == null) {
                add(CmCounter.UNKNOWN);
            } else {
                requested.requestGivenUp(nowNanos);
            }
            return;
        }
        CmConnection known = own(rej.remoteId(), source);
        if (known == null) {
            return;
        }
        // Before the REP this side has no number of the peer's to compare with.
        if (known.state() == CmState.REQ_SENT || known.hasRemote(rej.localId())) {
            known.rejected(rej, nowNanos);
        } else {
            add(CmCounter.UNKNOWN);
        }
    }

    private void disconnection(CmMessage.Dreq dreq, Gid source, long nowNanos) {
        CmConnection known = own(dreq.remoteId(), dreq.localId(), source);
        if (known == null) {
            // The peer need not repeat it: nothing is connected here.
            send(source, CmMessages.drep(dreq));
        } else if (dreq.remoteQueuePair() != known.queuePairNumber()) {
            add(CmCounter.UNKNOWN);
        } else {
            known.disconnected(dreq, nowNanos);
        }
    }

    private void request(CmMessage.Req req, Gid source, long nowNanos) {
        CmConnection known =
                byRemoteId.get(new CmConnection.RemoteId(source, req.caGuid(), req.localId()));
        if (known != null) {
            add(CmCounter.REPEATED);
            known.requestRepeated(nowNanos);
            return;
        }
        boolean toPort = ServiceId.isPort(req.serviceId());
        EndGuid stated;
        try {
            stated = EndGuid.decode(req.caGuid(), PrivateData.CONNECT_BYTES);
            requireQueuePair(req.queuePair());
            requireGid(req, source);
            if (toPort) {
                IpAddressing.decode(req.privateData()); // checks it
            }
        } catch (DpuException e) {
            refuse(req, source, RejectReason.UNSUPPORTED, String.valueOf(e.getMessage()));
            return;
        }
        if (toPort) {
            requestOfPort(req, stated, source, nowNanos);
        } else if (req.serviceId() == ServiceId.BLOB) {
            requestOfKey(req, source, nowNanos);
        } else {
            refuse(
                    req,
                    source,
                    RejectReason.INVALID_SERVICE_ID,
                    "no such service: serviceId=0x" + Long.toHexString(req.serviceId()));
        }
    }

    private void requestOfPort(
            CmMessage.Req req, @Nullable EndGuid stated, Gid source, long nowNanos) {
        int port = ServiceId.port(req.serviceId());
        byte[] data = IpAddressing.programData(req.privateData());
        RequestListener listener = ports.get(port);
        if (listener == null) {
            refuse(
                    req,
                    source,
                    RejectReason.INVALID_SERVICE_ID,
                    "nothing listens at the port: port=" + port);
        } else if (endStale(source, req.queuePair(), nowNanos)) {
            refuse(req, source, RejectReason.STALE_CONNECTION, staleText(req.queuePair()));
        } else if (!hasRequestPlace(source)) {
            refuse(
                    req,
                    source,
                    RejectReason.NO_RESOURCES,
                    "too many requests wait: ofAddress="
                            + waitingOf(source)
                            + ", waiting="
                            + (requests - rejected.size())
                            + ", limit="
                            + limits.maxRequests());
        } else {
            CmConnection made =
                    CmConnection.requested(
                            this,
                            newId(),
                            randomPsn(),
                            port,
                            req,
                            stated,
                            stated == null ? data : Arrays.copyOf(data, stated.privateDataBytes()),
                            source,
                            listener,
                            nowNanos);
            byLocalId.put(made.localId(), made);
            moved(made, CmState.CLOSED, CmState.REQ_RECEIVED);
            listener.requested(made);
        }
    }

    /** Takes a REQ by blob that is checked, or one that its end has kept until now. */
    void requestOfKey(CmMessage.Req req, Gid source, long nowNanos) {
        ConnectKey key =
                ConnectKey.decode(MemorySegment.ofArray(req.privateData()), ConnectKey.WIRE_BYTES);
        CmConnection exported = byKey.get(key);
        if (exported == null) {
            refuse(
                    req,
                    source,
                    RejectReason.INVALID_SERVICE_ID,
                    "no connection has been exported with this key");
        } else if (Agreement.isPathMtuBeyond(req, exported.pathMtuBytes())) {
            refuse(
                    req,
                    source,
                    RejectReason.INVALID_PATH_MTU,
                    Agreement.pathMtuText(req, exported.pathMtuBytes()));
        } else if (endStale(source, req.queuePair(), nowNanos)) {
            refuse(req, source, RejectReason.STALE_CONNECTION, staleText(req.queuePair()));
        } else {
            exported.requestedByKey(req, source, nowNanos);
        }
    }

    /**
     * Ends the connection to a queue pair, if there is one, since its peer makes another with it.
     *
     * @return whether the message for the other is to be rejected
     */
    boolean endStale(Gid peer, int queuePair, long nowNanos) {
        CmConnection old = byRemoteQueuePair.get(new CmConnection.RemoteQueuePair(peer, queuePair));
        return old != null && old.endStale(nowNanos);
    }

    /**
     * Takes a queue pair of a peer for a connection without messages. The rest of an ended
     * connection gives way.
     *
     * @throws DpuException ALREADY_EXIST if it belongs to a connection, or to a request that waits,
     *     whose repeats would end this one
     */
    void takeQueuePair(Gid peer, int queuePair, long nowNanos) {
        CmConnection old = byRemoteQueuePair.get(new CmConnection.RemoteQueuePair(peer, queuePair));
        if (old == null) {
            return;
        }
        if (old.holdsQueuePair()) {
            throw new DpuException(
                    Status.ALREADY_EXIST,
                    "queue pair of the peer belongs to a connection: peer="
                            + peer
                            + ", queuePair="
                            + queuePair
                            + ", expected=another one, or the end of that connection");
        }
        boolean _ = old.endStale(nowNanos);
    }

    static String staleText(int queuePair) {
        return "queue pair belongs to a connection: queuePair=" + queuePair;
    }

    /**
     * Whether there is a place, for which an old rejection is forgotten. An address may take as
     * many as it leaves, so that a flood from some leaves places to others.
     */
    private boolean hasRequestPlace(Gid source) {
        int left = limits.maxRequests() - (requests - rejected.size());
        if (waitingOf(source) >= left) {
            return false;
        }
        if (requests >= limits.maxRequests()) {
            rejected.iterator().next().close();
        }
        return true;
    }

    private int waitingOf(Gid source) {
        return waiting.getOrDefault(addressOf(source), 0);
    }

    /** The address alone: its adapters, told apart by ports of any number, share the limit. */
    private static Gid addressOf(Gid peer) {
        return peer.withPort(Headers.UDP_PORT);
    }

    /** Packets of a connection come from the address of its GID. */
    private static void requireGid(CmMessage.Req req, Gid source) {
        Gid stated = Gid.of(req.path().localGid());
        if (!stated.hasAddressOf(source)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "local GID of the request is not its source: gid="
                            + stated
                            + ", expected="
                            + source);
        }
    }

    void requireIpVersion(Gid address) {
        if (address.isIpv4() != gid().isIpv4()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "address is of another IP version than the adapter's: address="
                            + address
                            + ", adapter="
                            + gid());
        }
    }

    static void requireQueuePair(int number) {
        if (number < FIRST_QUEUE_PAIR) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "queue pair is not of a connection: queuePair="
                            + number
                            + ", expected="
                            + FIRST_QUEUE_PAIR
                            + " or more");
        }
    }

    static void requireData(byte[] data, int limit) {
        if (data.length > limit) {
            throw new IllegalArgumentException(
                    "private data is too long: sizeBytes=" + data.length + ", limit=" + limit);
        }
    }

    // ---- time ----

    @Override
    public long nextDeadline() {
        CmTimer first = timers.first();
        if (first == null) {
            return Adapter.NO_DEADLINE;
        }
        return first.deadline == Adapter.NO_DEADLINE ? first.deadline + 1 : first.deadline;
    }

    @Override
    public void expire(long nowNanos, int limit) {
        CmTimer first = timers.first();
        for (int i = 0; i < limit && first != null && nowNanos - first.deadline >= 0; i++) {
            first.connection().expired(nowNanos);
            first = timers.first();
        }
    }

    // ---- what it holds ----

    /** Number of events of a kind so far. */
    public long count(CmCounter counter) {
        return counters.getOrDefault(counter, 0L);
    }

    /** Requests of peers that wait for the program, or were rejected a short time ago. */
    public int requests() {
        return requests;
    }

    /** Connections that have not ended, exported ends among them. */
    public int connections() {
        return places - timeWaits;
    }

    /** Connections in TIMEWAIT. */
    public int timeWaits() {
        return timeWaits;
    }

    /** Entries of all tables, and timers. */
    int held() {
        return byLocalId.size()
                + byKey.size()
                + byRemoteId.size()
                + byRemoteQueuePair.size()
                + rejected.size()
                + waiting.size()
                + timers.size();
    }

    // ---- for connections ----

    /** Counts a place by a change of state. */
    void moved(CmConnection connection, CmState before, CmState next) {
        requests += weight(isRequest(next)) - weight(isRequest(before));
        places += weight(isPlace(next)) - weight(isPlace(before));
        timeWaits += weight(next == CmState.TIMEWAIT) - weight(before == CmState.TIMEWAIT);
        Gid peer = connection.peer();
        if (next == CmState.REQ_RECEIVED && peer != null) {
            waiting.merge(addressOf(peer), 1, Integer::sum);
        } else if (before == CmState.REQ_RECEIVED && peer != null) {
            waiting.computeIfPresent(
                    addressOf(peer), (address, number) -> number == 1 ? null : number - 1);
        }
        if (next == CmState.REJECTED) {
            rejected.add(connection);
        } else if (before == CmState.REJECTED) {
            rejected.remove(connection);
        }
        if (next == CmState.CLOSED) {
            connection.release();
            byLocalId.remove(connection.localId());
            ConnectKey key = connection.key();
            if (key != null) {
                byKey.remove(key);
            }
        }
    }

    private static int weight(boolean counted) {
        return counted ? 1 : 0;
    }

    private static boolean isRequest(CmState state) {
        return state == CmState.REQ_RECEIVED || state == CmState.REJECTED;
    }

    private static boolean isPlace(CmState state) {
        return !isRequest(state) && state != CmState.CLOSED;
    }

    /**
     * Creates the queue pair of a connection, and so its place, which it has until the end of its
     * TIMEWAIT.
     *
     * @throws DpuException FULL if there is none
     */
    QueuePair createQueuePair(CmConnection connection, Attachment attachment) {
        QueuePair created =
                connections() < limits.maxConnections()
                        ? adapter.create(attachment, connection)
                        : null;
        if (created == null) {
            throw new DpuException(
                    Status.FULL,
                    "no place for a further connection: connections="
                            + connections()
                            + ", limit="
                            + limits.maxConnections()
                            + ", timeWaits="
                            + timeWaits
                            + ", expected=the end of one, and of its TIMEWAIT");
        }
        return created;
    }

    void destroy(QueuePair queuePair) {
        adapter.destroy(queuePair);
    }

    void bind(CmConnection.RemoteId id, CmConnection connection) {
        byRemoteId.put(id, connection);
    }

    void unbind(CmConnection.RemoteId id) {
        byRemoteId.remove(id);
    }

    void bind(CmConnection.RemoteQueuePair queuePair, CmConnection connection) {
        byRemoteQueuePair.put(queuePair, connection);
    }

    /** Removes the queue pair unless it belongs to a successor. */
    void unbind(CmConnection.RemoteQueuePair queuePair, CmConnection connection) {
        byRemoteQueuePair.remove(queuePair, connection);
    }

    void add(CmCounter counter) {
        counters.merge(counter, 1L, Long::sum);
    }

    void send(Gid destination, CmMessage message) {
        CmCodec.encode(message, outgoing, 0);
        if (!adapter.sendDatagram(destination, outgoing, 0)) {
            add(CmCounter.NOT_SENT);
        }
    }

    /**
     * Rejects the answer to a request of no connection. The peer has taken a late repeat of the
     * request for another one, and would wait for the readiness of this side.
     */
    void refuse(CmMessage.Rep rep, Gid source) {
        send(
                source,
                Rejection.byLibrary(RejectReason.INVALID_COMMUNICATION_ID, "")
                        .message(
                                rep.transactionId(),
                                /* localId= */ rep.remoteId(),
                                /* remoteId= */ rep.localId(),
                                CmMessage.About.REP,
                                plainGuid));
    }

    /** Rejects a request of which nothing is kept. */
    void refuse(CmMessage.Req req, Gid source, int reason, String text) {
        refuse(req.transactionId(), req.localId(), source, reason, text);
    }

    private void refuse(long transaction, int remoteId, Gid source, int reason, String text) {
        add(CmCounter.REFUSED);
        send(
                source,
                Rejection.byLibrary(reason, text)
                        .message(transaction, 0, remoteId, CmMessage.About.REQ, plainGuid));
    }

    private int newId() {
        int id = random.nextInt();
        while (id == 0 || byLocalId.containsKey(id)) {
            id = random.nextInt();
        }
        return id;
    }

    private int randomPsn() {
        return random.nextInt(SequenceNumber.MAX + 1);
    }

    long newTransaction() {
        return random.nextLong();
    }

    Gid gid() {
        return adapter.gid();
    }

    CmLimits limits() {
        return limits;
    }

    Timers timers() {
        return timers;
    }

    /** Random number of the adapter in its GUIDs. */
    int adapterNumber() {
        return adapterNumber;
    }

    /** The GUID in messages that belong to no connection: it states nothing. */
    long plainGuid() {
        return plainGuid;
    }

    /** Code of the period within which this side repeats a message, and awaits an answer. */
    int periodCode() {
        return periodCode;
    }
}
