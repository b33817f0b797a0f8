package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
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

/** A manager with its program: keeps what is sent, and the events as words. */
final class CmEnd implements DatagramSink, RequestListener, ConnectionListener {
    static final long MILLI = 1_000_000;
    static final long SECOND = 1000 * MILLI;
    static final int PORT = 7174;

    static final CmLimits LIMITS =
            new CmLimits(8, 8, 8, 50 * MILLI, SECOND, 20 * SECOND, 5 * SECOND, 3 * SECOND);

    static final LocalTerms TERMS =
            new LocalTerms(
                    Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_ATOMIC),
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
    final ConnectionManager manager;
    final Deque<byte[]> sent = new ArrayDeque<>();
    final Deque<Gid> destinations = new ArrayDeque<>();
    final List<String> events = new ArrayList<>();
    final List<CmConnection> requests = new ArrayList<>();
    final Map<CmConnection, byte[]> rejections = new HashMap<>();
    final Map<CmConnection, Agreement> agreements = new HashMap<>();
    String reason = "";
    private int queuePairs = 0x100;

    CmEnd(int number, FakeClock clock, SeededRandom random) {
        this(address(number), clock, LIMITS, random);
    }

    CmEnd(Gid gid, FakeClock clock, CmLimits limits, SeededRandom random) {
        this.clock = clock;
        this.gid = gid;
        manager = new ConnectionManager(gid, limits, this, random);
        manager.listen(PORT, this);
    }

    /** An IPv4 address of a number. */
    static Gid address(int number) {
        return new Gid(0, 0xffff_0a00_0000L | number);
    }

    int newQueuePair() {
        return queuePairs++;
    }

    CmConnection connect(Gid peer, byte[] data) {
        return connect(peer, data, TERMS);
    }

    CmConnection connect(Gid peer, byte[] data, LocalTerms terms) {
        return manager.connect(peer, PORT, data, newQueuePair(), terms, this, clock.nowNanos());
    }

    CmConnection export() {
        return manager.export(newQueuePair(), TERMS, this);
    }

    void accept(CmConnection request, byte[] data) {
        request.accept(newQueuePair(), data, TERMS, this, clock.nowNanos());
        manager.expire(clock.nowNanos());
    }

    /** The newest request. */
    CmConnection request() {
        return requests.getLast();
    }

    // ---- messages ----

    /** Removes the oldest message. */
    CmMessage take() {
        destinations.remove();
        byte[] bytes = sent.remove();
        return CmCodec.decode(MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    /** Removes the only message. */
    <T extends CmMessage> T takeOnly(Class<T> kind) {
        assertThat(sent).hasSize(1);
        return kind.cast(take());
    }

    /** Removes all messages, and returns their kinds. */
    List<String> takeKinds() {
        List<String> kinds = new ArrayList<>();
        while (!sent.isEmpty()) {
            kinds.add(take().attribute().name());
        }
        return kinds;
    }

    void give(CmMessage message, Gid from) {
        give(CmCodec.encode(message), from);
    }

    void give(byte[] bytes, Gid from) {
        manager.receive(MemorySegment.ofArray(bytes), 0, bytes.length, from, clock.nowNanos());
    }

    /** Passes the oldest message to its receiver. */
    void pass(CmEnd to) {
        assertThat(destinations.remove()).isEqualTo(to.gid);
        to.give(sent.remove(), gid);
    }

    /** Passes all messages of both, until there is none. */
    static void exchange(CmEnd one, CmEnd other) {
        while (!one.sent.isEmpty() || !other.sent.isEmpty()) {
            while (!one.sent.isEmpty()) {
                one.pass(other);
            }
            while (!other.sent.isEmpty()) {
                other.pass(one);
            }
        }
    }

    // ---- time ----

    /** Goes to the next deadline, and does what is due. */
    void next() {
        long deadline = manager.nextDeadline();
        assertThat(deadline).isNotEqualTo(ConnectionManager.NO_DEADLINE);
        clock.advanceNanos(Math.max(0, deadline - clock.nowNanos()));
        manager.expire(clock.nowNanos());
    }

    /** Goes on for a time, through all deadlines. */
    void advance(long nanos) {
        long end = clock.nowNanos() + nanos;
        while (manager.nextDeadline() != ConnectionManager.NO_DEADLINE
                && manager.nextDeadline() - end <= 0) {
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
    public boolean send(Gid destination, MemorySegment memory, long at) {
        sent.add(memory.asSlice(at, CmCodec.MESSAGE_BYTES).toArray(ValueLayout.JAVA_BYTE));
        destinations.add(destination);
        return true;
    }

    @Override
    public void requested(CmConnection request) {
        requests.add(request);
        events.add("requested");
    }

    @Override
    public void connecting(CmConnection connection, Agreement agreement) {
        assertThat(agreements.put(connection, agreement)).isNull();
        events.add("connecting");
    }

    @Override
    public void established(CmConnection connection) {
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
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
