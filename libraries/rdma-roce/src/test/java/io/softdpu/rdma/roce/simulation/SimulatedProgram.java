package io.softdpu.rdma.roce.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.Management;
import io.softdpu.rdma.roce.rc.CompletionListener;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.SeededRandom;
import java.util.ArrayList;
import java.util.List;
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
    private static final long MOST_WITHOUT_PROGRESS = 20 * SECOND;

    private static final int MEMORY_BYTES = 8 << 10;
    private static final long START = Long.MAX_VALUE - SECOND;

    /** A host, as long as it is there. */
    private static final class Host {
        final Gid gid;
        final List<ConnectionEnd> ends = new ArrayList<>();
        @Nullable TestHost parts;
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
    }

    private final SeededRandom random;
    private final VirtualNetwork.Faults faults;
    private final VirtualNetwork network;
    private final List<Host> hosts = new ArrayList<>();
    private final List<ConnectionEnd> ends = new ArrayList<>();
    private final int maxMessageBytes;
    private final boolean ipv4;
    private final long actionNanos;
    private final boolean idleBehind;
    private long vanishAt;
    private boolean vanishes;
    private int partitions;
    private long progressAt = START;
    private long delivered;
    private int contacted;
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
        int mtuBytes = random.oneOf(256, 256, 256, 512, 1024, 4096);
        maxMessageBytes = Math.min(MEMORY_BYTES, 8 * mtuBytes);
        idleBehind = random.chance(0.1);
        vanishes = random.chance(0.1);
        vanishAt = START + random.nextLong(50 * MILLISECOND);
        partitions = random.chance(0.2) ? 1 + random.nextInt(3) : 0;
        int hostCount = random.chance(0.7) ? 2 : 3 + random.nextInt(6);
        for (int i = 0; i < hostCount; i++) {
            hosts.add(host(i));
        }
        int connections = 1 + random.nextInt(random.chance(0.5) ? 2 : 2 * hostCount);
        for (int i = 0; i < connections; i++) {
            Host one = hosts.get(random.nextInt(hostCount));
            connect(one, other(one), mtuBytes);
        }
    }

    /** Adds one who sends whatever it likes to the first host. */
    Intruder admitIntruder() {
        vanishes = false;
        Host first = hosts.getFirst();
        intruder = new Intruder(random.fork(), first.parts(), first.gid);
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
        return ends.stream().anyMatch(end -> !end.ended().isEmpty());
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
                        32,
                        limits,
                        network.sinkOf(gid),
                        listener(),
                        management());
        host.parts = parts;
        host.receivesWanted = random.oneOf(1, 3, 40);
        network.add(parts.adapter());
        return host;
    }

    private CompletionListener listener() {
        return new CompletionListener() {
            @Override
            public void completed(QueuePair queuePair, WorkRequest request, Status status) {
                if (queuePair.owner() instanceof Intruder) {
                    return;
                }
                progressAt = network.nowNanos();
                ConnectionEnd end = endOf(queuePair);
                end.complete(request, status);
                if (end.canSubmit() && random.chance(0.3)) {
                    end.submit(); // a callback may submit
                }
            }

            @Override
            public void received(QueuePair queuePair, WorkRequest receive, Status status) {
                if (queuePair.owner() instanceof Intruder) {
                    return;
                }
                progressAt = network.nowNanos();
                endOf(queuePair).receive(receive, status);
            }
        };
    }

    private Management management() {
        return new Management() {
            @Override
            public void contacted(QueuePair queuePair, long nowNanos) {
                contacted += queuePair.owner() instanceof Intruder ? 0 : 1;
            }

            @Override
            public void ended(QueuePair queuePair, Status status, String reason, long nowNanos) {
                if (queuePair.owner() instanceof Intruder victim) {
                    victim.ended();
                    return;
                }
                progressAt = nowNanos;
                endOf(queuePair).end(status, reason);
            }

            @Override
            public void datagram(Packet packet, Gid source, long nowNanos) {
                assertThat(intruder).as("nobody else sends datagrams").isNotNull();
            }

            @Override
            public long nextDeadline() {
                return Adapter.NO_DEADLINE;
            }

            @Override
            public void expire(long nowNanos) {
                throw new AssertionError("there is no deadline");
            }
        };
    }

    private static ConnectionEnd endOf(QueuePair queuePair) {
        if (queuePair.owner() instanceof ConnectionEnd end) {
            return end;
        }
        throw new AssertionError("queue pair without an end: " + queuePair);
    }

    private void connect(Host one, Host other, int mtuBytes) {
        TestMemory ofOne = memory(one);
        TestMemory ofOther = memory(other);
        ConnectionEnd near = end(mtuBytes, ofOther);
        ConnectionEnd far = end(mtuBytes, ofOne);
        QueuePair nearPair = create(one, near);
        QueuePair farPair = create(other, far);
        near.join(nearPair, far);
        far.join(farPair, near);
        int nearPsn = psn();
        int farPsn = psn();
        int nearResources = random.oneOf(1, 1, 2, 16);
        int farResources = random.oneOf(1, 1, 2, 16);
        int rnrRetries = random.oneOf(6, 7);
        nearPair.connect(
                path(
                        other,
                        farPair,
                        nearPsn,
                        farPsn,
                        mtuBytes,
                        nearResources,
                        farResources,
                        rnrRetries),
                START);
        farPair.connect(
                path(
                        one,
                        nearPair,
                        farPsn,
                        nearPsn,
                        mtuBytes,
                        farResources,
                        nearResources,
                        rnrRetries),
                START);
        one.ends.add(near);
        other.ends.add(far);
        ends.add(near);
        ends.add(far);
    }

    private TestMemory memory(Host host) {
        long address = random.chance(0.2) ? -MEMORY_BYTES : random.nextLong() & ~7L;
        TestMemory memory = TestMemory.open(random.nextInt(), address, MEMORY_BYTES);
        random.fill(memory.memory().asSlice(0, MEMORY_BYTES));
        return host.parts().grant(memory);
    }

    private ConnectionEnd end(int mtuBytes, TestMemory remote) {
        return new ConnectionEnd(
                random.fork(),
                mtuBytes,
                maxMessageBytes,
                random.oneOf(1, 2, 8, 64),
                remote,
                random.nextInt(40));
    }

    private QueuePair create(Host host, ConnectionEnd end) {
        QueuePair queuePair =
                host.adapter()
                        .create(
                                host.parts()
                                        .attachment(
                                                TestHost.ALL,
                                                end.sendQueueSize(),
                                                RnrTimer.LONGEST),
                                end);
        if (queuePair == null) {
            throw new AssertionError("no place for a queue pair");
        }
        return queuePair;
    }

    private int psn() {
        return random.chance(0.5)
                ? random.nextInt(SequenceNumber.MAX + 1)
                : SequenceNumber.add(
                        random.oneOf(0, SequenceNumber.MAX_WINDOW), -random.nextInt(40));
    }

    private static Path path(
            Host peer,
            QueuePair peerPair,
            int sendPsn,
            int receivePsn,
            int mtuBytes,
            int resources,
            int depth,
            int rnrRetries) {
        return new Path(
                peer.gid,
                peerPair.number(),
                sendPsn,
                receivePsn,
                mtuBytes,
                1,
                resources,
                depth,
                Path.DEFAULT_TRANSPORT_RETRIES,
                Path.DEFAULT_TIMEOUT_NANOS,
                rnrRetries);
    }

    // ---- execution ----

    void run() {
        while (!isDone()) {
            step();
        }
        if (idleBehind) {
            long until = network.nowNanos() + 15 * SECOND;
            while (network.nowNanos() - until < 0) {
                step();
            }
        }
        check();
    }

    private boolean isDone() {
        for (Host host : hosts) {
            for (ConnectionEnd end : host.ends) {
                if (!host.vanished && !end.isDone()) {
                    return false;
                }
            }
        }
        return true;
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
        if (partitions > 0 && random.chance(0.001)) {
            partitions--;
            network.part(hosts.get(random.nextInt(hosts.size())).gid, random.nextLong(SECOND));
        }
        delivered += network.deliver();
        if (intruder != null) {
            intruder.attack(network, now);
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
                                            maxMessageBytes + random.nextInt(2))
                                    .request);
        }
        for (ConnectionEnd end : host.ends) {
            for (int i = random.nextInt(4); i > 0 && end.canSubmit(); i--) {
                end.submit();
            }
        }
    }

    private void vanish(Host host) {
        host.vanished = true;
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
        for (Host host : hosts) {
            for (ConnectionEnd end : host.ends) {
                if (!host.vanished && !hasVanished() && !isHarsh()) {
                    assertThat(end.ended()).as("end of a connection").isEmpty();
                }
            }
        }
        if (idleBehind && hasVanished()) {
            for (Host host : hosts) {
                for (ConnectionEnd end : host.ends) {
                    if (!host.vanished && isVanished(end)) {
                        assertThat(end.ended()).as("its peer has vanished").isNotEmpty();
                    }
                }
            }
        }
        assertThat(contacted).isLessThanOrEqualTo(ends.size());
        if (intruder != null) {
            intruder.leave();
        }
        destroyAll();
    }

    private boolean isVanished(ConnectionEnd end) {
        Path path = end.queuePair().path();
        return path != null && !network.has(path.peer());
    }

    private void destroyAll() {
        for (Host host : hosts) {
            for (ConnectionEnd end : host.ends) {
                host.adapter().destroy(end.queuePair());
            }
            assertThat(host.adapter().queuePairs()).isZero();
            assertThat(host.adapter().isTransmitWaiting()).isFalse();
            assertThat(host.adapter().nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
        }
    }
}
