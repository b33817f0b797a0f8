package io.softdpu.rdma.roce.nic;

import io.softdpu.rdma.roce.adapter.PacketWriter;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/**
 * Decorator of the sink of a NIC that impairs the packets: they wait in a queue of limited length,
 * which {@link #release} empties into the sink as far as it is their time. While it is full the
 * sender waits.
 *
 * <p>Each packet takes the same number of random numbers, so that the decisions depend on seed,
 * address and number of the packet alone. Belongs to the owner of the NIC; allocates nothing after
 * its construction.
 */
final class ImpairedSink implements PacketSink {
    /** Packets that wait at most. */
    static final int CAPACITY = 256;

    /** A packet may need places for itself, its duplicate, and one that was held back. */
    private static final int PLACES_PER_PACKET = 3;

    private static final int MAX_FOLLOWERS = 3;

    /** Time after which a packet that is held back is sent although none follows. */
    private static final long HOLD_NANOS = 1_000_000;

    private static final long GOLDEN_RATIO = 0x9e37_79b9_7f4a_7c15L;

    /** The byte of the congestion bits, which the ICRC does not cover. */
    private static final int CONGESTION_BYTE = 4;

    private final Impairment impairment;
    private final SocketSink sink;
    private final PacketWriter writer;
    private final LongSupplier clock;
    private final SplittableRandom random;
    private final long[] counters = new long[ImpairmentCounter.values().length];

    // The queue, and behind it the place of the packet that is held back.
    private final MemorySegment packets =
            MemorySegment.ofArray(new byte[(CAPACITY + 1) * Headers.MAX_PACKET_BYTES]);
    private final ByteBuffer view = packets.asByteBuffer();
    private final int[] sizes = new int[CAPACITY + 1];
    private final Gid[] destinations = new Gid[CAPACITY + 1];
    private final long[] dueNanos = new long[CAPACITY];
    private int first;
    private int waiting;

    private boolean begun;
    private long beginNanos;

    /** Packets that are to be sent before the one that is held back; 0 if there is none. */
    private int followers;

    private long heldUntilNanos;

    /**
     * A decorator.
     *
     * @param own address of the NIC
     * @param clock as {@link System#nanoTime}
     */
    ImpairedSink(Impairment impairment, Gid own, SocketSink sink, LongSupplier clock) {
        this.impairment = impairment;
        this.sink = sink;
        this.clock = clock;
        writer = PacketWriter.ofSocket(own);
        random =
                new SplittableRandom(
                        impairment.seed() ^ (own.high() * GOLDEN_RATIO + own.low()) * GOLDEN_RATIO);
        Arrays.fill(destinations, own);
    }

    @Override
    public boolean isReady() {
        return waiting + PLACES_PER_PACKET <= CAPACITY;
    }

    @Override
    public void send(OutgoingPacket packet) {
        long now = clock.getAsLong();
        if (!begun) {
            begun = true;
            beginNanos = now;
        }
        boolean lost = random.nextDouble() < impairment.loss();
        boolean duplicated = random.nextDouble() < impairment.duplication();
        boolean reordered = random.nextDouble() < impairment.reordering();
        boolean corrupted = random.nextDouble() < impairment.corruption();
        int which = random.nextInt();
        if (isPartitioned(now)) {
            increment(ImpairmentCounter.PARTITIONED);
        } else if (lost) {
            increment(ImpairmentCounter.LOST);
        } else {
            pass(packet, duplicated, reordered, corrupted, which, now);
        }
        release(now);
    }

    private boolean isPartitioned(long now) {
        long since = now - beginNanos;
        return since >= impairment.partitionBeginNanos() && since < impairment.partitionEndNanos();
    }

    private void pass(
            OutgoingPacket packet,
            boolean duplicated,
            boolean reordered,
            boolean corrupted,
            int which,
            long now) {
        boolean held = reordered && followers == 0;
        int place = held ? CAPACITY : place(waiting);
        int bytes = writer.write(packet, packets, view, at(place));
        sizes[place] = bytes;
        destinations[place] = packet.destination();
        if (corrupted) {
            corrupt(place, bytes, which);
        }
        if (impairment.delayNanos() > 0) {
            increment(ImpairmentCounter.DELAYED);
        }
        if (held) {
            increment(ImpairmentCounter.REORDERED);
            followers = 1 + Math.floorMod(which, MAX_FOLLOWERS);
            heldUntilNanos = now + HOLD_NANOS;
        } else {
            add(place, now);
        }
        if (duplicated) {
            increment(ImpairmentCounter.DUPLICATED);
            copy(place, place(waiting));
            add(place(waiting), now);
        }
        if (!held && followers > 0) {
            followers--;
            if (followers == 0) {
                addHeld(now);
            }
        }
    }

    private void corrupt(int place, int bytes, int which) {
        increment(ImpairmentCounter.CORRUPTED);
        int bit = Math.floorMod(which, (bytes - 1) * Byte.SIZE);
        int index = bit / Byte.SIZE;
        long at = at(place) + (index < CONGESTION_BYTE ? index : index + 1);
        byte before = packets.get(ValueLayout.JAVA_BYTE, at);
        packets.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ 1 << bit % Byte.SIZE));
    }

    private int place(int number) {
        return (first + number) % CAPACITY;
    }

    private static long at(int place) {
        return (long) place * Headers.MAX_PACKET_BYTES;
    }

    private void copy(int from, int to) {
        MemorySegment.copy(packets, at(from), packets, at(to), sizes[from]);
        sizes[to] = sizes[from];
        destinations[to] = destinations[from];
    }

    /** Adds the packet that is at the end of the queue. */
    private void add(int place, long now) {
        dueNanos[place] = now + impairment.delayNanos();
        waiting++;
    }

    private void addHeld(long now) {
        int place = place(waiting);
        copy(CAPACITY, place);
        add(place, now);
    }

    @SuppressWarnings("EnumOrdinal") // index of an array: counted per packet
    private void increment(ImpairmentCounter counter) {
        counters[counter.ordinal()]++;
    }

    /** Passes on the packets whose time has come, as far as the sink takes them. */
    void release(long nowNanos) {
        if (followers > 0 && nowNanos - heldUntilNanos >= 0 && waiting < CAPACITY) {
            followers = 0;
            addHeld(nowNanos);
        }
        while (waiting > 0 && nowNanos - dueNanos[first] >= 0 && sink.isReady()) {
            passOn();
        }
    }

    /** Passes on all packets at once, as far as the sink takes them. */
    void releaseAll() {
        if (followers > 0 && waiting < CAPACITY) {
            followers = 0;
            addHeld(clock.getAsLong());
        }
        while (waiting > 0 && sink.isReady()) {
            passOn();
        }
    }

    private void passOn() {
        sink.send(packets, at(first), sizes[first], destinations[first]);
        first = (first + 1) % CAPACITY;
        waiting--;
    }

    /** Whether packets wait, for their time or for the sink. */
    boolean hasPackets() {
        return waiting > 0 || followers > 0;
    }

    /** The time at which the next packet is due; only if it {@link #hasPackets}. */
    long nextNanos() {
        if (waiting == 0) {
            return heldUntilNanos;
        }
        long due = dueNanos[first];
        return followers > 0 && heldUntilNanos - due < 0 ? heldUntilNanos : due;
    }

    /** Number of packets that it has treated so. */
    @SuppressWarnings("EnumOrdinal") // as above
    long count(ImpairmentCounter counter) {
        return counters[counter.ordinal()];
    }
}
