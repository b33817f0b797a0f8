package io.softdpu.fabric.ring;

import static io.softdpu.fabric.ring.FastPathRing.CAPACITY_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.CLOSING;
import static io.softdpu.fabric.ring.FastPathRing.CORRUPT;
import static io.softdpu.fabric.ring.FastPathRing.DATA_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.FLAGS_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.FLAG_ABANDONED;
import static io.softdpu.fabric.ring.FastPathRing.FLAG_INLINE;
import static io.softdpu.fabric.ring.FastPathRing.IMMEDIATE_LENGTH_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.IMMEDIATE_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.LENGTH_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.NO_BUFFER;
import static io.softdpu.fabric.ring.FastPathRing.POSTING_BYTES;
import static io.softdpu.fabric.ring.FastPathRing.PRODUCER_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.SLOT_BYTES;
import static io.softdpu.fabric.ring.FastPathRing.TAKEN;
import static io.softdpu.fabric.ring.FastPathRing.TOO_LARGE;
import static io.softdpu.fabric.ring.RingLayout.CONSUMED_OFFSET;
import static io.softdpu.fabric.ring.RingLayout.INT;
import static io.softdpu.fabric.ring.RingLayout.LONG;
import static io.softdpu.fabric.ring.RingLayout.OWNER_ARMED_OFFSET;
import static io.softdpu.fabric.ring.RingLayout.PEER_ARMED_OFFSET;
import static io.softdpu.fabric.ring.RingLayout.SLOTS_START;
import static io.softdpu.fabric.ring.RingLayout.STATUS_OFFSET;
import static io.softdpu.linux.NativeMemory.ALL_MEMORY;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** Sending side of a {@link FastPathRing}, for any number of threads of one process. */
public final class FastPathProducer {
    private static final VarHandle CLAIMED;
    private static final VarHandle POSTED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            CLAIMED = lookup.findVarHandle(FastPathProducer.class, "claimed", long.class);
            POSTED = lookup.findVarHandle(FastPathProducer.class, "posted", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemorySegment memory;
    private final long address;
    private final int slots;
    private final long mask;
    private final long slotsAddress;

    @SuppressWarnings("unused") // through CLAIMED
    private volatile long claimed;

    /**
     * Checked copy of the posted index: the consumer writes the original for each batch of
     * postings, so that it is read only once this is used up. Another thread may set it back to an
     * earlier value that it has checked.
     */
    @SuppressWarnings("unused") // through POSTED
    private volatile long posted;

    private volatile @Nullable String violation;

    /** Capacity of the posted buffer that was too small last; for messages. */
    private volatile long refusedCapacityBytes;

    FastPathProducer(MemorySegment memory, FastPathRing.Geometry geometry) {
        this.memory = memory;
        this.address = memory.address();
        this.slots = geometry.slots();
        this.mask = slots - 1L;
        this.slotsAddress = address + geometry.slotsOffset();
    }

    /** The ring's memory; offsets of this class count from its start. */
    public MemorySegment segment() {
        return memory;
    }

    /**
     * Claims the next posted buffer for data of the given length, 0 or more.
     *
     * @return a ticket, 0 or more, to be given to {@link #commit} or {@link #abandon}; or {@link
     *     FastPathRing#NO_BUFFER}, {@link FastPathRing#TOO_LARGE}, {@link FastPathRing#CORRUPT},
     *     {@link FastPathRing#CLOSING}, with nothing claimed
     */
    public long claim(long lengthBytes) {
        while (true) {
            long ticket = nextTicket();
            long found = check(ticket, ticket, lengthBytes);
            if (found < 0 ? found != TAKEN : claim(ticket, ticket + 1)) {
                return found;
            }
        }
    }

    /** The ticket that is claimed next, unless another thread claims it before. */
    public long nextTicket() {
        return (long) CLAIMED.getAcquire(this);
    }

    /**
     * Checks a posted buffer before a claim: it is there, and takes data of the given length, 0 or
     * more.
     *
     * @param next the {@link #nextTicket()} seen before
     * @param ticket that or a later one, after those between were found claimable
     * @return the ticket; or {@link FastPathRing#TAKEN} if another thread has claimed next, or as
     *     {@link #claim(long)}
     */
    public long check(long next, long ticket, long lengthBytes) {
        if (violation != null) {
            return CORRUPT;
        }
        if (isClosing()) {
            return CLOSING;
        }
        if ((long) POSTED.getAcquire(this) <= ticket) {
            long seen = (long) LONG.getAcquire(ALL_MEMORY, address + CONSUMED_OFFSET);
            if (seen == ticket) {
                return NO_BUFFER;
            }
            if (seen < ticket || seen - next > slots) {
                return nextTicket() != next
                        ? TAKEN // another thread moved the index between the two loads
                        : broken("posted index", seen, ticket, next + slots);
            }
            POSTED.setRelease(this, seen);
        }
        long capacity =
                ALL_MEMORY.get(ValueLayout.JAVA_LONG, postingAddress(ticket) + CAPACITY_OFFSET);
        if (lengthBytes > capacity) { // a negative capacity always ends here
            if (nextTicket() != next) {
                return TAKEN;
            }
            if (capacity < 0) {
                return broken("posting capacity", capacity, 0, Long.MAX_VALUE);
            }
            refusedCapacityBytes = capacity;
            return TOO_LARGE;
        }
        return ticket;
    }

    /**
     * Claims buffers that were found claimable, for {@link #commit} or {@link #abandon} each.
     *
     * @param next the first of their tickets, the {@link #nextTicket()} seen before
     * @param end the ticket after the last
     * @return false if another thread has claimed one: nothing is claimed
     */
    public boolean claim(long next, long end) {
        return CLAIMED.compareAndSet(this, next, end);
    }

    private long broken(String what, long seen, long least, long greatest) {
        violation = RingLayout.violation(what, seen, least, greatest);
        return CORRUPT;
    }

    /**
     * Posted buffers that no thread has claimed, read from shared memory now. An index that is out
     * of range counts as a full ring: the next claim reports it.
     */
    public long available() {
        long ticket = (long) CLAIMED.getAcquire(this); // first: it only grows, as the other does
        long seen = (long) LONG.getAcquire(ALL_MEMORY, address + CONSUMED_OFFSET);
        long available = seen - ticket;
        return available < 0 || available > slots ? slots : available;
    }

    /** Whether the consumer is stopping: no buffer can be claimed any more. */
    public boolean isClosing() {
        return (int) INT.getAcquire(ALL_MEMORY, address + STATUS_OFFSET) != 0;
    }

    /**
     * Requests a doorbell when buffers are posted; check {@link #available} after it. All threads
     * share the request: the first doorbell ends it.
     */
    public void arm() {
        RingLayout.arm(address + PEER_ARMED_OFFSET);
    }

    /** Cancels the request of {@link #arm()}, of all threads. */
    public void disarm() {
        RingLayout.disarm(address + PEER_ARMED_OFFSET);
    }

    /**
     * Offset of the claimed buffer's free space in the consumer's region, as claimed by the peer:
     * read it once and check it, with the length, against the region's size.
     */
    public long regionOffset(long ticket) {
        return ALL_MEMORY.get(ValueLayout.JAVA_LONG, postingAddress(ticket));
    }

    /** Offset in {@link #segment()} for data of up to {@link FastPathRing#INLINE_BYTES}. */
    public long inlineOffset(long ticket) {
        return slotAddress(ticket) - address + DATA_OFFSET;
    }

    /** Offset in {@link #segment()} for immediate data. */
    public long immediateOffset(long ticket) {
        return slotAddress(ticket) - address + IMMEDIATE_OFFSET;
    }

    /** The capacity of the posted buffer that was last found too small for some data. */
    public long refusedCapacityBytes() {
        return refusedCapacityBytes;
    }

    /** Description of the peer's protocol violation, for messages; null if there was none. */
    public @Nullable String violation() {
        return violation;
    }

    /**
     * Publishes a claimed slot after its data was written. The peer treats other lengths than those
     * below as a violation.
     *
     * @param lengthBytes as checked for the claim; inline at most {@link FastPathRing#INLINE_BYTES}
     * @param immediateLength 0 to {@link FastPathRing#IMMEDIATE_BYTES}
     */
    public void commit(
            long ticket, long lengthBytes, int producerId, int immediateLength, boolean inline) {
        stamp(ticket, lengthBytes, producerId, immediateLength, inline ? FLAG_INLINE : 0);
    }

    /** Abandons a claimed slot: the consumer fails that one buffer and continues. */
    public void abandon(long ticket, int producerId) {
        stamp(ticket, 0, producerId, 0, FLAG_ABANDONED);
    }

    /** Whether the consumer sleeps and must be rung; disarms it. Call after commits. */
    public boolean peerArmed() {
        return RingLayout.takeArmed(address + OWNER_ARMED_OFFSET);
    }

    private void stamp(
            long ticket, long lengthBytes, int producerId, int immediateLength, int flags) {
        long slot = slotAddress(ticket);
        ALL_MEMORY.set(ValueLayout.JAVA_LONG, slot + LENGTH_OFFSET, lengthBytes);
        ALL_MEMORY.set(ValueLayout.JAVA_INT, slot + PRODUCER_OFFSET, producerId);
        ALL_MEMORY.set(
                ValueLayout.JAVA_BYTE, slot + IMMEDIATE_LENGTH_OFFSET, (byte) immediateLength);
        ALL_MEMORY.set(ValueLayout.JAVA_BYTE, slot + FLAGS_OFFSET, (byte) flags);
        LONG.setRelease(ALL_MEMORY, slot, ticket + 1);
    }

    private long postingAddress(long ticket) {
        return address + SLOTS_START + (ticket & mask) * POSTING_BYTES;
    }

    private long slotAddress(long ticket) {
        return slotsAddress + (ticket & mask) * SLOT_BYTES;
    }
}
