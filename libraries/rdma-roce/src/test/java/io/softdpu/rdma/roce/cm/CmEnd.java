package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.AdapterConfig;
import io.softdpu.rdma.roce.adapter.IcrcCheck;
import io.softdpu.rdma.roce.rc.Attachment;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.rc.RemoteKeys;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * An adapter with its manager and program: keeps what is sent, and the events as words. Time is
 * that of the manager alone: queue pairs do not expire.
 */
final class CmEnd implements PacketSink, RequestListener, ConnectionListener {
    static final long MILLI = 1_000_000;
    static final long SECOND = 1000 * MILLI;
    static final int PORT = FarEnd.PORT;

    static final CmLimits LIMITS =
            new CmLimits(8, 8, 50 * MILLI, SECOND, 20 * SECOND, 5 * SECOND, 3 * SECOND);

    /** Places for queue pairs: those beyond the connections are for TIMEWAIT. */
    static final int PLACES = 16;

    private static final RemoteKeys NO_KEYS =
            new RemoteKeys() {
                @Override
                public int key(RemoteMemory memory) {
                    return 0;
                }

                @Override
                public long address(RemoteMemory memory) {
                    return 0;
                }
            };

    static final LocalTerms TERMS =
            new LocalTerms(
                    attachment(Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_ATOMIC)),
                    300_000,
                    4096,
                    16,
                    8,
                    17,
                    7,
                    5,
                    6 * SECOND);

    final FakeClock clock;
    final Gid gid;
    final Adapter adapter;
    final ConnectionManager manager;
    private final Deque<byte[]> sent = new ArrayDeque<>();
    final Deque<Gid> destinations = new ArrayDeque<>();
    final List<String> events = new ArrayList<>();
    final List<CmConnection> requests = new ArrayList<>();
    final Map<CmConnection, byte[]> rejections = new HashMap<>();
    String reason = "";
    Runnable atCompletion = () -> {};

    CmEnd(int number, FakeClock clock, SeededRandom random) {
        this(address(number), clock, LIMITS, random);
    }

    /** Requests of peers that were not accepted, after their end. */
    final List<CmConnection> gone = new ArrayList<>();

    CmEnd(Gid gid, FakeClock clock, CmLimits limits, SeededRandom random) {
        this.clock = clock;
        this.gid = gid;
        adapter =
                new Adapter(
                        new AdapterConfig(gid, 0x100, PLACES, 64, Limits.defaults(1)),
                        this,
                        new IcrcCheck(gid));
        manager = new ConnectionManager(adapter, limits, random);
        manager.listen(PORT, this);
    }

    /** An IPv4 address of a number. */
    static Gid address(int number) {
        return new Gid(0, 0xffff_0a00_0000L | number);
    }

    static Attachment attachment(Permissions grants) {
        return new Attachment(
                (queuePair, receive, status) -> {
                    throw new AssertionError("there are no receives: queuePair=" + queuePair);
                },
                () -> null,
                (key, address, bytes, right) -> null,
                NO_KEYS,
                new Copier(),
                grants,
                4,
                RnrTimer.LONGEST);
    }

    static Agreement agreement(CmConnection connection) {
        return Objects.requireNonNull(connection.agreement());
    }

    CmConnection connect(Gid peer, byte[] data) {
        return connect(peer, data, TERMS);
    }

    CmConnection connect(Gid peer, byte[] data, LocalTerms terms) {
        return manager.connect(peer, PORT, data, terms, this, clock.nowNanos());
    }

    CmConnection export() {
        return manager.export(TERMS, this);
    }

    void accept(CmConnection request, byte[] data) {
        request.accept(data, TERMS, this, clock.nowNanos());
        manager.expire(clock.nowNanos());
    }

    /** The newest request. */
    CmConnection request() {
        return requests.getLast();
    }

    /** Submits an empty send. */
    void submit(CmConnection connection) {
        QueuePair queuePair = Objects.requireNonNull(connection.queuePair());
        WorkRequest request = new WorkRequest(WorkRequest.Kind.SEND, this::completed, 1);
        assertThat(queuePair.submit(request)).isNull();
    }

    private void completed(Status status) {
        events.add("completed:" + status);
        atCompletion.run();
    }

    /** Gives its queue pair, if it has one, the first packet of the peer. */
    static void contact(CmConnection connection, Opcode opcode, long nowNanos) {
        QueuePair queuePair = connection.queuePair();
        if (queuePair == null) {
            return;
        }
        Path path = queuePair.path();
        MemorySegment memory =
                MemorySegment.ofArray(new byte[opcode.headerBytes() + Headers.ICRC_BYTES]);
        int psn = path == null ? 0 : path.receivePsn();
        Headers.writeBth(memory, 0, opcode, 0, 0, queuePair.number(), false, psn);
        Packet packet = new Packet();
        assertThat(packet.wrap(memory, 0, (int) memory.byteSize())).isNull();
        queuePair.receive(packet, nowNanos);
    }

    // ---- messages ----

    /** What was sent and not removed. */
    Deque<byte[]> sent() {
        adapter.transmit(1000, clock.nowNanos());
        return sent;
    }

    /** Removes the oldest message. */
    CmMessage take() {
        byte[] bytes = sent().remove();
        destinations.remove();
        return CmCodec.decode(MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    /** Removes the only message. */
    <T extends CmMessage> T takeOnly(Class<T> kind) {
        assertThat(sent()).hasSize(1);
        return kind.cast(take());
    }

    /** Removes all messages, and returns their kinds. */
    List<String> takeKinds() {
        List<String> kinds = new ArrayList<>();
        while (!sent().isEmpty()) {
            kinds.add(take().attribute().name());
        }
        return kinds;
    }

    void give(CmMessage message, Gid from) {
        give(CmCodec.encode(message), from);
    }

    void give(byte[] bytes, Gid from) {
        give(bytes, CmCodec.QUEUE_KEY, from);
    }

    void give(byte[] bytes, int queueKey, Gid from) {
        manager.datagram(datagram(bytes, queueKey), from, clock.nowNanos());
    }

    static Packet datagram(byte[] message, int queueKey) {
        int headerBytes = Opcode.DATAGRAM.headerBytes();
        int padding = Headers.paddingBytes(message.length);
        int bytes = headerBytes + message.length + padding + Headers.ICRC_BYTES;
        MemorySegment memory = MemorySegment.ofArray(new byte[bytes]);
        Headers.writeBth(memory, 0, Opcode.DATAGRAM, 0, padding, CmCodec.QUEUE_PAIR, false, 0);
        Headers.writeDeth(memory, Headers.BTH_BYTES, queueKey, CmCodec.QUEUE_PAIR);
        MemorySegment.copy(MemorySegment.ofArray(message), 0, memory, headerBytes, message.length);
        Packet packet = new Packet();
        assertThat(packet.wrap(memory, 0, bytes)).isNull();
        return packet;
    }

    /** Passes the oldest message to its receiver. */
    void pass(CmEnd to) {
        byte[] bytes = sent().remove();
        assertThat(destinations.remove()).isEqualTo(to.gid);
        to.give(bytes, gid);
    }

    /** Passes all messages of both, until there is none. */
    static void exchange(CmEnd one, CmEnd other) {
        while (!one.sent().isEmpty() || !other.sent().isEmpty()) {
            while (!one.sent().isEmpty()) {
                one.pass(other);
            }
            while (!other.sent().isEmpty()) {
                other.pass(one);
            }
        }
    }

    // ---- time ----

    /** Goes to the next deadline, and does what is due. */
    void next() {
        long deadline = manager.nextDeadline();
        assertThat(deadline).isNotEqualTo(Adapter.NO_DEADLINE);
        clock.advanceNanos(Math.max(0, deadline - clock.nowNanos()));
        manager.expire(clock.nowNanos());
        sent(); // the queue of datagrams is limited
    }

    /** Goes on for a time, through all deadlines. */
    void advance(long nanos) {
        long end = clock.nowNanos() + nanos;
        while (manager.nextDeadline() != Adapter.NO_DEADLINE && manager.nextDeadline() - end <= 0) {
            next();
        }
        clock.advanceNanos(end - clock.nowNanos());
        manager.expire(clock.nowNanos());
    }

    // ---- events ----

    String takeEvents() {
        String words = String.join(" ", events);
        events.clear();
        return words;
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public void send(OutgoingPacket packet) {
        if (packet.opcode() == Opcode.DATAGRAM) {
            sent.add(message(packet));
            destinations.add(packet.destination());
        }
    }

    /** The payload of a datagram. */
    static byte[] message(OutgoingPacket packet) {
        return packet.memory(0)
                .asSlice(packet.offset(0), packet.length(0))
                .toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void requested(CmConnection request) {
        requests.add(request);
        events.add("requested");
    }

    @Override
    public void gone(CmConnection request) {
        assertThat(request.state()).isEqualTo(CmState.CLOSED);
        gone.add(request);
    }

    @Override
    public void established(CmConnection connection) {
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(connection.agreement()).isNotNull();
        events.add("established");
    }

    @Override
    public void rejected(CmConnection connection, byte[] privateData) {
        rejections.put(connection, privateData);
        events.add("rejected");
    }

    @Override
    public void ended(CmConnection connection, Status status, String because) {
        events.add("ended:" + status);
        reason = because;
    }

    @Override
    public void released(CmConnection connection) {
        assertThat(connection.state()).isEqualTo(CmState.CLOSED);
        events.add("released");
    }
}
