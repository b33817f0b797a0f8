package io.softdpu.rdma.roce.simulation;

import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.PacketWriter;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Network between adapters in virtual time, whose faults come from a seed: it loses, repeats,
 * delays, reorders and changes packets, and parts hosts from each other for a while.
 */
final class VirtualNetwork {
    /**
     * Faults of a network.
     *
     * @param loss probability of a packet
     * @param duplication probability of a packet
     * @param corruption probability of a packet
     * @param delayNanos least delay
     * @param jitterNanos limit of what is added at random, so that packets overtake others
     * @param late probability of a packet that is behind those of the next {@link #LATE_NANOS}
     */
    record Faults(
            double loss,
            double duplication,
            double corruption,
            long delayNanos,
            long jitterNanos,
            double late) {
        static final Faults NONE = new Faults(0, 0, 0, 5_000, 0);

        Faults(
                double loss,
                double duplication,
                double corruption,
                long delayNanos,
                long jitterNanos) {
            this(loss, duplication, corruption, delayNanos, jitterNanos, 0);
        }
    }

    private static final long LATE_NANOS = 2_500;

    private record Delivery(long atNanos, long order, Gid from, Gid to, int port, byte[] packet) {}

    private final SeededRandom random;
    private final Faults faults;
    private final long startNanos;
    private final PacketLog log = new PacketLog();
    private final Map<Gid, Adapter> adapters = new HashMap<>();
    private final Map<Gid, Long> partedUntil = new HashMap<>();
    private final PriorityQueue<Delivery> deliveries;
    private long nowNanos;
    private long order;

    VirtualNetwork(SeededRandom random, Faults faults, long startNanos) {
        this.random = random;
        this.faults = faults;
        this.startNanos = startNanos;
        nowNanos = startNanos;
        deliveries =
                new PriorityQueue<>((one, other) -> {
                    long later = one.atNanos() - other.atNanos();
                    return later == 0
                            ? Long.compare(one.order(), other.order())
                            : Long.signum(later);
                });
    }

    /** Sink for the packets of an adapter. */
    PacketSink sinkOf(Gid own) {
        PacketWriter writer = new PacketWriter(own);
        MemorySegment memory = MemorySegment.ofArray(new byte[Headers.MAX_PACKET_BYTES]);
        ByteBuffer view = memory.asByteBuffer();
        return new PacketSink() {
            @Override
            public boolean isReady() {
                return true;
            }

            @Override
            public void send(OutgoingPacket packet) {
                int bytes = writer.write(packet, memory, view, 0);
                byte[] copy = new byte[bytes];
                MemorySegment.copy(memory, 0, MemorySegment.ofArray(copy), 0, bytes);
                VirtualNetwork.this.send(own, packet.destination(), packet.sourcePort(), copy);
            }
        };
    }

    void add(Adapter adapter) {
        adapters.put(adapter.gid(), adapter);
    }

    /** Whether a host is there. */
    boolean has(Gid gid) {
        return adapters.containsKey(gid);
    }

    /** A host is gone, with what is on its way to it. */
    void remove(Gid gid) {
        adapters.remove(gid);
    }

    /** Nothing comes from a host, and nothing to it, for a while. */
    void part(Gid gid, long nanos) {
        partedUntil.put(gid, nowNanos + nanos);
    }

    private boolean isParted(Gid gid) {
        Long until = partedUntil.get(gid);
        return until != null && nowNanos - until < 0;
    }

    void send(Gid from, Gid to, int port, byte[] packet) {
        log.add(nowNanos - startNanos, from, to, port, packet);
        if (isParted(from) || isParted(to) || random.chance(faults.loss())) {
            return;
        }
        deliverLater(from, to, port, packet);
        while (random.chance(faults.duplication())) {
            deliverLater(from, to, port, packet);
        }
    }

    private void deliverLater(Gid from, Gid to, int port, byte[] packet) {
        byte[] arriving = packet;
        if (random.chance(faults.corruption())) {
            arriving = Arrays.copyOf(packet, packet.length);
            int at = random.nextInt(packet.length);
            arriving[at] ^= (byte) (1 << random.nextInt(8));
            if (random.chance(0.1)) {
                arriving = Arrays.copyOf(arriving, random.nextInt(arriving.length));
            }
        }
        long delay = faults.delayNanos() + (long) (random.nextDouble() * faults.jitterNanos());
        if (faults.late() > 0 && random.chance(faults.late())) {
            delay += LATE_NANOS;
        }
        order++;
        deliveries.add(new Delivery(nowNanos + delay, order, from, to, port, arriving));
    }

    long nowNanos() {
        return nowNanos;
    }

    void advanceTo(long nanos) {
        nowNanos = nanos;
    }

    boolean hasDelivery() {
        return !deliveries.isEmpty();
    }

    long nextDelivery() {
        return deliveries.element().atNanos();
    }

    /**
     * Delivers all that has arrived.
     *
     * @return number of packets
     */
    int deliver() {
        int count = 0;
        while (hasDelivery() && nextDelivery() - nowNanos <= 0) {
            Delivery next = deliveries.remove();
            @Nullable Adapter to = adapters.get(next.to());
            if (to != null) {
                MemorySegment memory = MemorySegment.ofArray(next.packet());
                to.receive(
                        memory,
                        ByteBuffer.wrap(next.packet()),
                        0,
                        next.packet().length,
                        next.from().high(),
                        next.from().low(),
                        next.port(),
                        false,
                        nowNanos);
                count++;
            }
        }
        return count;
    }

    PacketLog log() {
        return log;
    }
}
