package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.AdapterConfig;
import io.softdpu.rdma.roce.adapter.IcrcCheck;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random programs over two to four managers and a network that loses, repeats, delays and reorders.
 * Virtual time, one thread. Each connection is compared with its other end.
 */
class CmSimulationTest {
    private static final long MILLI = CmEnd.MILLI;
    private static final long SECOND = CmEnd.SECOND;

    private static final CmLimits LIMITS =
            new CmLimits(64, 64, 50 * MILLI, SECOND, 20 * SECOND, 5 * SECOND, 3 * SECOND);

    /**
     * A message on its way.
     *
     * @param number in the order of sending
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Flight(long atNanos, long number, Gid from, Node to, byte[] bytes)
            implements Comparable<Flight> {
        @Override
        public int compareTo(Flight other) {
            int result = Long.signum(atNanos - other.atNanos); // the clock overflows
            return result != 0 ? result : Long.compare(number, other.number);
        }
    }

    /** One end of a connection, as its program knows it. */
    private static final class End {
        private final Node node;
        private final long token;
        private @Nullable CmConnection connection;
        private @Nullable End other;
        private boolean accepted;
        private boolean established;
        private boolean over;
        private boolean rejected;
        private boolean released;
        private @Nullable Status status;

        End(Node node, long token) {
            this.node = node;
            this.token = token;
        }

        CmConnection open() {
            return Objects.requireNonNull(connection);
        }

        boolean is(CmState state) {
            return open().state() == state;
        }
    }

    private static byte[] data(long token, int size) {
        return Arrays.copyOf(ByteBuffer.allocate(Long.BYTES).putLong(token).array(), size);
    }

    private static long token(byte[] data) {
        return ByteBuffer.wrap(data).getLong();
    }

    /** A manager and its program. */
    private static final class Node implements PacketSink, RequestListener, ConnectionListener {
        private final World world;
        private final Gid gid;
        private final Adapter adapter;
        private final ConnectionManager manager;
        private final List<CmConnection> requests = new ArrayList<>();
        private final Map<CmConnection, End> ends = new HashMap<>();
        private final Map<Long, CmConnection> byToken = new HashMap<>();

        Node(World world, int number) {
            this.world = world;
            gid = CmEnd.address(number);
            adapter =
                    new Adapter(
                            new AdapterConfig(gid, number << 20, 512, 256, Limits.defaults(1)),
                            this,
                            new IcrcCheck(gid));
            manager = new ConnectionManager(adapter, LIMITS, world.random.fork());
            manager.listen(CmEnd.PORT, this);
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void send(OutgoingPacket packet) {
            assertThat(packet.opcode()).as("there is no work").isEqualTo(Opcode.DATAGRAM);
            world.send(gid, packet.destination(), CmEnd.message(packet));
        }

        @Override
        public void requested(CmConnection request) {
            CmConnection before = byToken.put(token(request.peerData()), request);
            assertThat(before == null || before.state() == CmState.CLOSED)
                    .as("a request is reported once")
                    .isTrue();
            requests.add(request);
        }

        End end(CmConnection connection) {
            return Objects.requireNonNull(ends.get(connection));
        }

        private static void assertSame(End requester, End responder) {
            Agreement one = CmEnd.agreement(requester.open());
            Agreement other = CmEnd.agreement(responder.open());
            assertThat(one.path().peerQueuePair()).isEqualTo(responder.open().queuePairNumber());
            assertThat(other.path().peerQueuePair()).isEqualTo(requester.open().queuePairNumber());
            assertThat(one.path().sendPsn()).isEqualTo(other.path().receivePsn());
            assertThat(one.path().receivePsn()).isEqualTo(other.path().sendPsn());
            assertThat(one.path().mtuBytes()).isEqualTo(other.path().mtuBytes());
        }

        @Override
        public void established(CmConnection connection) {
            End end = end(connection);
            assertThat(end.established || end.over).isFalse();
            if (connection.isRequester()) {
                if (connection.key() == null) {
                    end.other = world.tokens.get(token(connection.peerData()));
                }
                assertSame(end, Objects.requireNonNull(end.other));
            }
            end.established = true;
            world.established++;
        }

        @Override
        public void rejected(CmConnection connection, byte[] privateData) {
            End end = end(connection);
            assertThat(end.over || end.rejected).isFalse();
            assertThat(privateData).as("what the other program has said").hasSize(9);
            assertThat(world.rejectedTokens).contains(token(privateData));
            assertThat(token(privateData)).isEqualTo(end.token);
            end.rejected = true;
        }

        @Override
        public void ended(CmConnection connection, Status status, String reason) {
            End end = end(connection);
            assertThat(end.over).isFalse();
            end.over = true;
            end.status = status;
            assertThat(end.established && status == Status.NOT_FOUND).isFalse();
        }

        @Override
        public void released(CmConnection connection) {
            End end = end(connection);
            assertThat(end.over).as("after its end").isTrue();
            assertThat(end.released).isFalse();
            end.released = true;
            ends.remove(connection);
        }
    }

    /** The network, the time, and what the programs do. */
    private static final class World {
        private final SeededRandom random;
        private final FakeClock clock = new FakeClock();
        private final PriorityQueue<Flight> flights = new PriorityQueue<>();
        private final List<Node> nodes = new ArrayList<>();
        private final Map<Long, End> tokens = new HashMap<>();
        private final List<Long> rejectedTokens = new ArrayList<>();
        private final List<Runnable> later = new ArrayList<>();
        private double loss;
        private double duplication;
        private final long delayNanos;
        private long sent;
        private long tokensMade;
        private int established;
        private int halfOpen;
        private int accepted;
        private long trace;

        World(SeededRandom random) {
            this.random = random;
            loss = random.oneOf(0.0, 0.05, 0.3);
            duplication = random.oneOf(0.0, 0.3);
            delayNanos = random.oneOf(1L, MILLI, 200 * MILLI);
            int count = random.nextInt(2, 5);
            for (int number = 1; number <= count; number++) {
                nodes.add(new Node(this, number));
            }
        }

        void send(Gid from, Gid to, byte[] bytes) {
            int copies = random.chance(loss) ? 0 : random.chance(duplication) ? 2 : 1;
            for (int copy = 0; copy < copies; copy++) {
                Node node = nodes.get((int) to.low() - (int) CmEnd.address(1).low());
                long at = clock.nowNanos() + 1 + random.nextLong(delayNanos);
                flights.add(new Flight(at, sent++, from, node, bytes));
            }
        }

        /** Goes on for a time, in the order of all deadlines and arrivals. */
        void advance(long nanos) {
            long end = clock.nowNanos() + nanos;
            long steps = 0;
            transmit();
            while (clock.nowNanos() - end < 0) {
                long next = end;
                for (Node node : nodes) {
                    long deadline = node.manager.nextDeadline();
                    if (deadline != Adapter.NO_DEADLINE && deadline - next < 0) {
                        next = deadline;
                    }
                }
                Flight flight = flights.peek();
                if (flight != null && flight.atNanos() - next < 0) {
                    next = flight.atNanos();
                }
                clock.advanceNanos(Math.max(0, next - clock.nowNanos()));
                long now = clock.nowNanos();
                flight = flights.peek();
                if (flight != null && flight.atNanos() - now <= 0) {
                    Flight arrived = Objects.requireNonNull(flights.poll());
                    trace = trace * 31 + Arrays.hashCode(arrived.bytes());
                    arrived.to()
                            .manager
                            .datagram(
                                    CmEnd.datagram(arrived.bytes(), CmCodec.QUEUE_KEY),
                                    arrived.from(),
                                    now);
                }
                for (Node node : nodes) {
                    node.manager.expire(now);
                }
                transmit();
                assertThat(++steps).as("no storm of messages").isLessThan(1_000_000);
            }
        }

        private void transmit() {
            for (Node node : nodes) {
                node.adapter.transmit(1000, clock.nowNanos());
            }
        }

        // ---- programs ----

        private End newEnd(Node node) {
            End end = new End(node, ++tokensMade);
            tokens.put(end.token, end);
            return end;
        }

        private void connect() {
            Node from = nodes.get(random.nextInt(nodes.size()));
            Node to = nodes.get(random.nextInt(nodes.size()));
            End end = newEnd(from);
            if (from.manager.connections() == LIMITS.maxConnections()) {
                return;
            }
            CmConnection made =
                    from.manager.connect(
                            to.gid,
                            random.chance(0.05) ? 1 : CmEnd.PORT,
                            data(end.token, random.nextInt(8, 57)),
                            CmEnd.TERMS,
                            from,
                            clock.nowNanos());
            end.connection = made;
            from.ends.put(made, end);
        }

        private void connectByBlob() {
            End one = newEnd(nodes.get(random.nextInt(nodes.size())));
            End other = newEnd(nodes.get(random.nextInt(nodes.size())));
            for (End end : List.of(one, other)) {
                CmConnection made = end.node.manager.export(CmEnd.TERMS, end.node);
                end.connection = made;
                end.node.ends.put(made, end);
            }
            one.other = other;
            other.other = one;
            for (End end : List.of(one, other)) {
                later.add(() -> {
                    End peer = Objects.requireNonNull(end.other);
                    if (end.is(CmState.EXPORTED)) {
                        end.open()
                                .connect(
                                        peer.node.gid,
                                        Objects.requireNonNull(peer.open().key()),
                                        clock.nowNanos());
                    }
                });
            }
        }

        private void answer() {
            for (Node node : nodes) {
                if (!node.requests.isEmpty()) {
                    answer(node, node.requests.remove(random.nextInt(node.requests.size())));
                }
            }
        }

        private void answer(Node node, CmConnection request) {
            if (request.state() != CmState.REQ_RECEIVED) {
                return;
            }
            long asked = token(request.peerData());
            if (random.chance(0.2)) {
                rejectedTokens.add(asked);
                request.reject(data(asked, 9), clock.nowNanos());
                return;
            }
            End end = newEnd(node);
            end.connection = request;
            end.accepted = true;
            End requester = Objects.requireNonNull(tokens.get(asked));
            end.other = requester;
            node.ends.put(request, end);
            accepted++;
            request.accept(
                    data(end.token, random.nextInt(8, 197)), CmEnd.TERMS, node, clock.nowNanos());
        }

        private void disconnect() {
            Node node = nodes.get(random.nextInt(nodes.size()));
            List<End> living = node.ends.values().stream().filter(end -> !end.over).toList();
            if (!living.isEmpty()) {
                disconnect(
                        living.stream()
                                .sorted((one, other) -> Long.compare(one.token, other.token))
                                .toList()
                                .get(random.nextInt(living.size())));
            }
        }

        private void disconnect(End end) {
            if (!end.over) {
                end.over = true;
                if (random.nextBoolean()) {
                    end.open().disconnect(clock.nowNanos());
                } else {
                    end.open().fail("reason: token=" + end.token, clock.nowNanos());
                }
            }
        }

        /** Packets of requesters reach peers whose RTU has not come. */
        private void contact() {
            for (End end : List.copyOf(tokens.values())) {
                End other = end.other;
                if (end.connection != null
                        && end.accepted
                        && end.is(CmState.REP_SENT)
                        && other != null
                        && other.connection != null
                        && other.is(CmState.ESTABLISHED)) {
                    CmEnd.contact(end.open(), Opcode.ACKNOWLEDGE, clock.nowNanos());
                }
            }
        }

        void run() {
            for (int step = 0; step < 60; step++) {
                switch (random.nextInt(8)) {
                    case 0, 1 -> connect();
                    case 2 -> connectByBlob();
                    case 3, 4 -> answer();
                    case 5 -> disconnect();
                    case 6 -> contact();
                    default -> {
                        if (!later.isEmpty()) {
                            later.remove(random.nextInt(later.size())).run();
                        }
                    }
                }
                advance(random.nextLong(random.oneOf(MILLI, 100 * MILLI, SECOND)) + 1);
            }
            boolean lossless = loss == 0;
            loss = 0;
            later.forEach(Runnable::run);
            for (int i = 0; i < 10; i++) {
                answer();
                advance(2 * SECOND);
            }
            settle(lossless);
            end();
        }

        /** Everything has an answer or has ended. */
        private void settle(boolean lossless) {
            for (End end : List.copyOf(tokens.values())) {
                if (end.connection == null) {
                    continue;
                }
                assertThat(end.open().state())
                        .isIn(
                                CmState.ESTABLISHED,
                                CmState.TIMEWAIT,
                                CmState.CLOSED,
                                CmState.REJECTED);
                if (end.is(CmState.ESTABLISHED)) {
                    assertThat(end.established).isTrue();
                    assertThat(end.over).isFalse();
                    End other = Objects.requireNonNull(end.other);
                    if (!other.is(CmState.ESTABLISHED)) {
                        halfOpen++;
                        assertThat(lossless).as("one end alone is established").isFalse();
                        disconnect(end); // as retransmission would notice
                    }
                }
                if (lossless && end.accepted && end.status == Status.TIME_OUT) {
                    End requester = Objects.requireNonNull(end.other);
                    assertThat(requester.over).as("an answer was there").isTrue();
                }
            }
        }

        /** Nothing is left of anything. */
        private void end() {
            for (End end : List.copyOf(tokens.values())) {
                if (end.connection != null) {
                    disconnect(end);
                }
            }
            advance(30 * SECOND);
            for (Node node : nodes) {
                assertThat(node.manager.held()).isZero();
                assertThat(node.adapter.queuePairs()).isZero();
                assertThat(node.manager.connections()).isZero();
                assertThat(node.manager.timeWaits()).isZero();
                assertThat(node.manager.requests()).isZero();
                assertThat(node.manager.nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
                assertThat(node.ends).as("all were released").isEmpty();
            }
        }
    }

    @Test
    @Tag(Soak.TAG)
    void shouldConnectAndEndAsBothProgramsSayOverAnyNetwork(SeededRandom random) {
        int programs = Soak.count(100, 1_000, 20_000);
        long begin = System.nanoTime();
        long accepted = 0;
        long established = 0;
        long halfOpen = 0;
        for (int program = 0; program < programs; program++) {
            World world = new World(random.fork());
            world.run();
            accepted += world.accepted;
            established += world.established;
            halfOpen += world.halfOpen;
        }
        assertThat(established).isGreaterThan(accepted);
        assertThat(halfOpen).isLessThan(established / 50);
        Soak.report(
                "roce-cm-simulation",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "programs="
                        + programs
                        + ", accepted="
                        + accepted
                        + ", established="
                        + established
                        + ", halfOpen="
                        + halfOpen
                        + ", failed=0");
    }

    @Test
    void shouldDoTheSameAgainForTheSameSeed(SeededRandom random) {
        long seed = random.nextLong();
        World one = new World(new SeededRandom(seed));
        one.run();
        World other = new World(new SeededRandom(seed));
        other.run();
        assertThat(one.trace).isEqualTo(other.trace).isNotZero();
        assertThat(one.sent).isEqualTo(other.sent);
    }
}
