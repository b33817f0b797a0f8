package io.softdpu.rdma.roce.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.cm.CmConnection;
import io.softdpu.rdma.roce.cm.CmLimits;
import io.softdpu.rdma.roce.cm.CmState;
import io.softdpu.rdma.roce.cm.ConnectKey;
import io.softdpu.rdma.roce.cm.ConnectionListener;
import io.softdpu.rdma.roce.cm.ConnectionManager;
import io.softdpu.rdma.roce.cm.LocalTerms;
import io.softdpu.rdma.roce.cm.RequestListener;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.SeededRandom;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Random program of several hosts with connections between them, over a network with faults, in
 * virtual time and one thread. Everything follows from its seed.
 */
final class SimulatedProgram {
    private static final long MICROSECOND = 1_000;
    private static final long MILLISECOND = 1_000_000;
    private static final long SECOND = 1_000_000_000;

    /** Virtual time without a completion, while one is to come, that is a live-lock. */
    private static final long MOST_WITHOUT_PROGRESS = 30 * SECOND;

    private static final int MEMORY_BYTES = 8 << 10;
    private static final long START = Long.MAX_VALUE - SECOND;

    /** Virtual time in which all connections end, and their TIMEWAIT passes. */
    private static final long MOST_FOR_ENDS = 60 * SECOND;

    /** Connect timeout of an end. */
    private static final long CONNECT_TIMEOUT = 20 * SECOND;

    /**
     * Virtual time in which an end notices that its peer has vanished: an established one by its
     * keep-alive, which takes less, and one that is accepted last of all by the connect timeout.
     */
    private static final long LONGEST_TO_NOTICE = CONNECT_TIMEOUT + 5 * SECOND;

    private static final int PORT = 1;

    private static final CmLimits CM_LIMITS =
            new CmLimits(16, 32, 50 * MILLISECOND, SECOND, 20 * SECOND, 5 * SECOND, 3 * SECOND);

    /** A host, as long as it is there: the listener of its connections. */
    private final class Host implements RequestListener, ConnectionListener {
        final Gid gid;
        final List<ConnectionEnd> ends = new ArrayList<>();

        /** Calls that the program makes at some time. */
        final List<Runnable> later = new ArrayList<>();

        @Nullable TestHost parts;
        @Nullable ConnectionManager manager;
        int receivesWanted;
        long nextAction = START;
        boolean vanished;

        Host(Gid gid) {
            this.gid = gid;
        }

        TestHost parts() {
            if (parts == null) {
                throw new IllegalStateException("host without an adapter");
            }
            return parts;
        }

        Adapter adapter() {
            return parts().adapter();
        }

        ConnectionManager manager() {
            if (manager == null) {
                throw new IllegalStateException("host without a manager");
            }
            return manager;
        }

        void begin(ConnectionEnd end, CmConnection connection) {
            end.begin(connection);
            byConnection.put(connection, end);
        }

        @Override
        public void requested(CmConnection request) {
            ConnectionEnd end =
                    SimulatedProgram.this.ends.get(ByteBuffer.wrap(request.peerData()).getInt());
            if (end.hasEnded()) {
                // The network has lost all that would have told the requester for longer than the
                // TIMEWAIT: its next repeat is a new request.
                request.reject(new byte[0], network.nowNanos());
            } else if (random.nextBoolean()) {
                accept(end, request);
            } else {
                later.add(() -> accept(end, request));
            }
        }

        private void accept(ConnectionEnd end, CmConnection request) {
            if (request.state() == CmState.REQ_RECEIVED) {
                request.accept(new byte[0], terms(this, end), this, network.nowNanos());
                begin(end, request);
            }
        }

        @Override
        public void established(CmConnection connection) {
            progressAt = network.nowNanos();
            endOf(connection).establish();
        }

        @Override
        public void rejected(CmConnection connection, byte[] privateData) {
            assertThat(endOf(connection).peer().hasEnded()).as("rejected: %s", connection).isTrue();
        }

        @Override
        public void ended(CmConnection connection, Status status, String reason) {
            progressAt = network.nowNanos();
            endOf(connection).end(status, reason);
        }

        @Override
        public void released(CmConnection connection) {
            byConnection.remove(connection);
        }
    }

    private final SeededRandom random;
    private final VirtualNetwork.Faults faults;
    private final VirtualNetwork network;
    private final List<Host> hosts = new ArrayList<>();
    private final List<ConnectionEnd> ends = new ArrayList<>();
    private final Map<CmConnection, ConnectionEnd> byConnection = new HashMap<>();
    private final int mtuBytes;
    private final int maxMessageBytes;
    private final boolean ipv4;
    private final long actionNanos;
    private final boolean idleBehind;
    private long vanishAt;
    private boolean vanishes;
    private long disconnectAt;
    private boolean disconnects;
    private int partitions;
    private long progressAt = START;
    private long delivered;
    private @Nullable Intruder intruder;

    SimulatedProgram(long seed) {
        random = new SeededRandom(seed);
        faults =
                random.chance(0.1)
                        ? VirtualNetwork.Faults.NONE
                        : new VirtualNetwork.Faults(
                                random.oneOf(0.0, 0.01, 0.1, 0.3),
                                random.oneOf(0.0, 0.05, 0.3),
                                random.oneOf(0.0, 0.0, 0.01, 0.05),
                                random.oneOf(MICROSECOND, 20 * MICROSECOND, MILLISECOND),
                                random.oneOf(0L, 30 * MICROSECOND, 5 * MILLISECOND));
        network = new VirtualNetwork(random.fork(), faults, START);
        ipv4 = random.nextBoolean();
        actionNanos = random.oneOf(10 * MICROSECOND, MILLISECOND, 30 * MILLISECOND);
        mtuBytes = random.oneOf(256, 256, 256, 512, 1024, 4096);
        maxMessageBytes = Math.min(MEMORY_BYTES, 8 * mtuBytes);
        idleBehind = random.chance(0.1);
        vanishes = random.chance(0.1);
        vanishAt = START + random.nextLong(50 * MILLISECOND);
        disconnects = random.chance(0.2);
        disconnectAt = START + random.nextLong(20 * MILLISECOND);
        partitions = random.chance(0.2) ? 1 + random.nextInt(3) : 0;
        int hostCount = random.chance(0.7) ? 2 : 3 + random.nextInt(6);
        for (int i = 0; i < hostCount; i++) {
            hosts.add(host(i));
        }
        int connections = 1 + random.nextInt(random.chance(0.5) ? 2 : 2 * hostCount);
        for (int i = 0; i < connections; i++) {
            Host one = hosts.get(random.nextInt(hostCount));
            connect(one, other(one));
        }
    }

    /** Adds one who sends whatever it likes to the first host. */
    Intruder admitIntruder() {
        vanishes = false;
        Host first = hosts.getFirst();
        intruder = new Intruder(random.fork(), first.parts(), first.manager(), network);
        return intruder;
    }

    private Host other(Host one) {
        Host other = one;
        while (other == one) {
            other = hosts.get(random.nextInt(hosts.size()));
        }
        return other;
    }

    /** Whether a connection may fail although nobody has vanished. */
    boolean isHarsh() {
        return faults.loss() + faults.corruption() > 0.12;
    }

    /** Whether a connection has failed. */
    boolean hasFailed() {
        return ends.stream().anyMatch(ConnectionEnd::isBroken);
    }

    boolean hasVanished() {
        return hosts.stream().anyMatch(host -> host.vanished);
    }

    long delivered() {
        return delivered;
    }

    PacketLog log() {
        return network.log();
    }

    // ---- construction ----

    private Host host(int index) {
        Gid gid =
                ipv4
                        ? new Gid(0, 0xffff_0a00_0001L + index)
                        : new Gid(0xfd00_0000_0000_0000L, index + 1);
        Host host = new Host(gid);
        Limits limits =
                new Limits(
                        random.oneOf(1, 2, 3, 7, 64, 1024),
                        random.oneOf(1L, 5000L, 65536L, 1L << 20),
                        random.oneOf(256, 64 << 10),
                        16,
                        8,
                        2 * SECOND,
                        RnrTimer.atLeast(1_280_000));
        TestHost parts =
                new TestHost(
                        gid,
                        random.nextInt(SequenceNumber.MAX + 1),
                        64,
                        limits,
                        network.sinkOf(gid),
                        this::received);
        host.parts = parts;
        ConnectionManager manager =
                new ConnectionManager(parts.adapter(), CM_LIMITS, numbers(random.fork()));
        manager.listen(PORT, host);
        host.manager = manager;
        host.receivesWanted = random.oneOf(1, 3, 40);
        network.add(parts.adapter());
        return host;
    }

    private void received(QueuePair queuePair, WorkRequest receive, Status status) {
        if (isIntruders(queuePair)) {
            return;
        }
        progressAt = network.nowNanos();
        endOf(queuePair.owner()).receive(receive, status);
    }

    private void completed(ConnectionEnd end) {
        progressAt = network.nowNanos();
        if (end.canSubmit() && random.chance(0.3)) {
            end.submit(); // a callback may submit
        }
    }

    private boolean isIntruders(QueuePair queuePair) {
        return intruder != null && !byConnection.containsKey(queuePair.owner());
    }

    private ConnectionEnd endOf(@Nullable Object connection) {
        ConnectionEnd end = byConnection.get(connection);
        if (end == null) {
            throw new AssertionError("connection without an end: " + connection);
        }
        return end;
    }

    /** Connects two hosts by address or by blob. */
    private void connect(Host one, Host other) {
        TestMemory ofOne = memory(one);
        TestMemory ofOther = memory(other);
        ConnectionEnd near = end(ofOther);
        ConnectionEnd far = end(ofOne);
        near.join(far);
        far.join(near);
        one.ends.add(near);
        other.ends.add(far);
        ends.add(near);
        ends.add(far);
        if (random.nextBoolean()) {
            byte[] number = ByteBuffer.allocate(Integer.BYTES).putInt(ends.indexOf(far)).array();
            LocalTerms terms = terms(one, near);
            one.begin(near, one.manager().connect(other.gid, PORT, number, terms, one, START));
            return;
        }
        CmConnection nearMade = one.manager().export(terms(one, near), one);
        CmConnection farMade = other.manager().export(terms(other, far), other);
        one.begin(near, nearMade);
        other.begin(far, farMade);
        ConnectKey nearKey = Objects.requireNonNull(nearMade.key());
        ConnectKey farKey = Objects.requireNonNull(farMade.key());
        one.later.add(() -> connect(near, nearMade, other, farKey));
        other.later.add(() -> connect(far, farMade, one, nearKey));
    }

    private void connect(ConnectionEnd end, CmConnection made, Host peer, ConnectKey key) {
        if (!end.isOver()) {
            made.connect(peer.gid, key, network.nowNanos());
        }
    }

    private LocalTerms terms(Host host, ConnectionEnd end) {
        return new LocalTerms(
                host.parts().attachment(TestHost.ALL, end.sendQueueSize(), RnrTimer.LONGEST),
                1 << 20,
                mtuBytes,
                random.oneOf(1, 1, 2, 16),
                random.oneOf(1, 2, 16),
                17,
                Path.DEFAULT_TRANSPORT_RETRIES,
                random.oneOf(6, 7),
                CONNECT_TIMEOUT);
    }

    private TestMemory memory(Host host) {
        long address = random.chance(0.2) ? -MEMORY_BYTES : random.nextLong() & ~7L;
        TestMemory memory = TestMemory.open(random.nextInt(), address, MEMORY_BYTES);
        random.fill(memory.memory().asSlice(0, MEMORY_BYTES));
        return host.parts().grant(memory);
    }

    private ConnectionEnd end(TestMemory remote) {
        return new ConnectionEnd(
                random.fork(),
                mtuBytes,
                maxMessageBytes,
                random.oneOf(1, 2, 8, 64),
                remote,
                random.nextInt(40),
                this::completed);
    }

    /** Random numbers; half of the PSNs among them are before a wrap. */
    private static RandomGenerator numbers(SeededRandom random) {
        return new RandomGenerator() {
            @Override
            public long nextLong() {
                return random.nextLong();
            }

            @Override
            public int nextInt(int bound) {
                return bound == SequenceNumber.MAX + 1 && random.nextBoolean()
                        ? SequenceNumber.add(
                                random.oneOf(0, SequenceNumber.MAX_WINDOW), -random.nextInt(40))
                        : random.nextInt(bound);
            }
        };
    }

    // ---- execution ----

    void run() {
        while (!isDone()) {
            step();
        }
        if (idleBehind) {
            advance(LONGEST_TO_NOTICE);
        }
        check();
        disconnectAll();
    }

    private boolean isDone() {
        return ends.stream().allMatch(ConnectionEnd::isDone);
    }

    private void step() {
        network.advanceTo(nextTime());
        long now = network.nowNanos();
        if (!isDone() && now - progressAt > MOST_WITHOUT_PROGRESS) {
            throw new AssertionError(
                    "no progress: virtualNanos="
                            + (now - progressAt)
                            + ", expected=at most "
                            + MOST_WITHOUT_PROGRESS);
        }
        if (vanishes && now - vanishAt >= 0) {
            vanishes = false;
            vanish(hosts.get(random.nextInt(hosts.size())));
        }
        if (disconnects && now - disconnectAt >= 0) {
            disconnects = false;
            ends.get(random.nextInt(ends.size())).disconnect(now);
        }
        if (partitions > 0 && random.chance(0.001)) {
            partitions--;
            network.part(hosts.get(random.nextInt(hosts.size())).gid, random.nextLong(SECOND));
        }
        delivered += network.deliver();
        if (intruder != null) {
            intruder.attack(now);
        }
        for (Host host : hosts) {
            if (!host.vanished) {
                run(host, now);
            }
        }
    }

    private void run(Host host, long now) {
        Adapter adapter = host.adapter();
        long deadline = adapter.nextDeadline();
        if (deadline != Adapter.NO_DEADLINE && now - deadline >= 0) {
            adapter.expire(now);
        }
        if (hasAction(host) && now - host.nextAction >= 0) {
            act(host);
            host.nextAction = now + 1 + random.nextLong(actionNanos);
        }
        if (adapter.isTransmitWaiting()) {
            adapter.transmit(1 + random.nextInt(40), now);
        }
    }

    private static boolean hasAction(Host host) {
        return host.parts().receives().size() < host.receivesWanted
                || !host.later.isEmpty()
                || host.ends.stream().anyMatch(ConnectionEnd::canSubmit);
    }

    private void act(Host host) {
        while (host.parts().receives().size() < host.receivesWanted) {
            host.parts()
                    .receives()
                    .add(
                            new Operation(
                                            random,
                                            WorkRequest.Kind.RECEIVE,
                                            null,
                                            0,
                                            maxMessageBytes + random.nextInt(2),
                                            (receive, status) -> {})
                                    .request);
        }
        if (!host.later.isEmpty()) {
            host.later.removeFirst().run();
        }
        for (ConnectionEnd end : host.ends) {
            for (int i = random.nextInt(4); i > 0 && end.canSubmit(); i--) {
                end.submit();
            }
        }
    }

    private void vanish(Host host) {
        host.vanished = true;
        host.ends.forEach(ConnectionEnd::vanish);
        network.remove(host.gid);
        progressAt = network.nowNanos();
    }

    private long nextTime() {
        long now = network.nowNanos();
        long next = now + SECOND;
        if (network.hasDelivery()) {
            next = earlier(next, network.nextDelivery());
        }
        for (Host host : hosts) {
            if (!host.vanished) {
                if (hasAction(host)) {
                    next = earlier(next, host.nextAction);
                }
                long deadline = host.adapter().nextDeadline();
                if (deadline != Adapter.NO_DEADLINE) {
                    next = earlier(next, deadline);
                }
                if (host.adapter().isTransmitWaiting()) {
                    next = earlier(next, now + MICROSECOND);
                }
            }
        }
        return earlier(now, next) == now ? next : now;
    }

    private static long earlier(long one, long other) {
        return one - other <= 0 ? one : other;
    }

    // ---- the end ----

    private void check() {
        for (ConnectionEnd end : ends) {
            end.check();
        }
        checkFailures();
        if (idleBehind && hasVanished()) {
            for (Host host : hosts) {
                for (ConnectionEnd end : host.ends) {
                    if (!host.vanished && isVanished(end)) {
                        assertThat(end.isOver()).as("its peer has vanished").isTrue();
                    }
                }
            }
        }
    }

    private void checkFailures() {
        if (!hasVanished() && !isHarsh()) {
            assertThat(ends).as("ends that have failed").noneMatch(ConnectionEnd::isBroken);
        }
    }

    private boolean isVanished(ConnectionEnd end) {
        CmConnection connection = end.connection();
        Gid peer = connection == null ? null : connection.peer();
        return peer != null && !network.has(peer);
    }

    /** Ends all connections by one end or both; nothing is left of them. */
    private void disconnectAll() {
        if (intruder != null) {
            intruder.leave();
            intruder = null;
        }
        for (ConnectionEnd end : ends) {
            if (random.chance(0.7)) {
                end.disconnect(network.nowNanos());
            }
        }
        advance(MOST_FOR_ENDS / 4);
        for (ConnectionEnd end : ends) {
            end.disconnect(network.nowNanos());
        }
        advance(MOST_FOR_ENDS);
        checkFailures();
        for (Host host : hosts) {
            if (!host.vanished) {
                assertThat(host.adapter().queuePairs()).isZero();
                assertThat(host.adapter().isTransmitWaiting()).isFalse();
                assertThat(host.adapter().nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
                assertThat(host.manager().connections() + host.manager().timeWaits()).isZero();
                assertThat(host.manager().requests()).isZero();
            }
        }
    }

    private void advance(long nanos) {
        long until = network.nowNanos() + nanos;
        while (network.nowNanos() - until < 0) {
            step();
        }
    }
}
