package io.softdpu.fabric.ring;

import static io.softdpu.fabric.ring.FastPathRing.CAPACITY_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.CORRUPT;
import static io.softdpu.fabric.ring.FastPathRing.DATA_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.FLAGS_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.FLAG_ABANDONED;
import static io.softdpu.fabric.ring.FastPathRing.FLAG_INLINE;
import static io.softdpu.fabric.ring.FastPathRing.IMMEDIATE_BYTES;
import static io.softdpu.fabric.ring.FastPathRing.IMMEDIATE_LENGTH_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.IMMEDIATE_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.INLINE_BYTES;
import static io.softdpu.fabric.ring.FastPathRing.LEGAL_FLAGS;
import static io.softdpu.fabric.ring.FastPathRing.LENGTH_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.POSTING_BYTES;
import static io.softdpu.fabric.ring.FastPathRing.PRODUCER_OFFSET;
import static io.softdpu.fabric.ring.FastPathRing.SLOT_BYTES;
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
import org.jspecify.annotations.Nullable;

/**
 * Receiving side of a {@link FastPathRing}. One thread.
 *
 * <p>Inside a batch ({@link #beginBatch}, {@link #endBatch}) postings are published together, and a
 * posting that equals the previous one of its slot is not written again: both keep cache lines with
 * the producers, which would have to fetch them for each message otherwise.
 */
public final class FastPathConsumer {
    /**
     * Postings of a batch that are published together. With fewer the producers fetch the index
     * more often; with more they begin later.
     */
    private static final int PUBLISH_BATCH = 16;

    private final MemorySegment memory;
    private final long address;
    private final int slots;
    private final long mask;
    private final long slotsAddress;
    private final long[] offsets;
    private final long[] capacities;
    private long posted;
    private long published;
    private boolean batching;

    /** Value of {@link #posted} when the producers were last asked whether they wait. */
    private long postedWhenAsked;

    private long completed;
    private long lengthBytes;
    private int producerId;
    private int immediateLength;
    private byte flags;
    private @Nullable String violation;

    FastPathConsumer(MemorySegment memory, FastPathRing.Geometry geometry) {
        this.memory = memory;
        this.address = memory.address();
        this.slots = geometry.slots();
        this.mask = slots - 1L;
        this.slotsAddress = address + geometry.slotsOffset();
        this.offsets = new long[slots];
        this.capacities = new long[slots];
    }

    /** The ring's memory; offsets of this class count from its start. */
    public MemorySegment segment() {
        return memory;
    }

    /** Buffers posted and not yet released. */
    public int outstanding() {
        return (int) (posted - completed);
    }

    /**
     * Posts a buffer for one message. Inside a batch it may be published later, by {@link
     * #endBatch} at the latest.
     *
     * @return false if as many buffers are posted as the ring has slots
     */
    public boolean post(long regionOffset, long capacityBytes) {
        if (posted - completed >= slots) {
            return false;
        }
        int slot = (int) (posted & mask);
        // The memory was formatted with zeros, as these arrays were.
        if (offsets[slot] != regionOffset || capacities[slot] != capacityBytes) {
            long posting = address + SLOTS_START + slot * POSTING_BYTES;
            ALL_MEMORY.set(ValueLayout.JAVA_LONG, posting, regionOffset);
            ALL_MEMORY.set(ValueLayout.JAVA_LONG, posting + CAPACITY_OFFSET, capacityBytes);
            offsets[slot] = regionOffset;
            capacities[slot] = capacityBytes;
        }
        posted++;
        if (!batching || posted - published >= PUBLISH_BATCH) {
            publish();
        }
        return true;
    }

    /**
     * Begins a batch: postings may be published together until {@link #endBatch}.
     *
     * @return false if one has begun already, whose end is still due
     */
    public boolean beginBatch() {
        boolean begun = !batching;
        batching = true;
        return begun;
    }

    /** Ends a batch: publishes all postings. */
    public void endBatch() {
        batching = false;
        if (published != posted) {
            publish();
        }
    }

    private void publish() {
        published = posted;
        LONG.setRelease(ALL_MEMORY, address + CONSUMED_OFFSET, posted);
    }

    /**
     * Whether to ask for producers that wait ({@link #peerArmed}): half of the ring was posted
     * since they were last asked, or anything was and there is nothing else to do. With the second
     * alone they would begin late, with the first alone perhaps never; and so neither side wakes
     * the other for each message.
     *
     * @param idle whether there is nothing else to do
     */
    public boolean isPeerToBeAsked(boolean idle) {
        long unknown = posted - postedWhenAsked;
        return unknown >= (slots + 1L) / 2 || (idle && unknown > 0);
    }

    /** Whether a producer sleeps, waits for buffers and must be rung; disarms it. */
    public boolean peerArmed() {
        postedWhenAsked = posted;
        return RingLayout.takeArmed(address + PEER_ARMED_OFFSET);
    }

    /**
     * Polls the oldest posted buffer.
     *
     * @return 1 if it was completed: its fields can be read until {@link #release()}; 0 if not yet;
     *     {@link FastPathRing#CORRUPT} if the producer's header is impossible
     */
    public int poll() {
        if (violation != null) {
            return (int) CORRUPT;
        }
        if (!stamped()) {
            return 0;
        }
        long slot = slotAddress();
        long claimedLength = ALL_MEMORY.get(ValueLayout.JAVA_LONG, slot + LENGTH_OFFSET);
        int claimedImmediate =
                ALL_MEMORY.get(ValueLayout.JAVA_BYTE, slot + IMMEDIATE_LENGTH_OFFSET) & 0xff;
        byte claimedFlags = ALL_MEMORY.get(ValueLayout.JAVA_BYTE, slot + FLAGS_OFFSET);
        long limit = capacities[(int) (completed & mask)];
        if ((claimedFlags & FLAG_INLINE) != 0) {
            limit = Math.min(limit, INLINE_BYTES);
        }
        if ((claimedFlags & ~LEGAL_FLAGS) != 0) {
            return broken("slot flags", claimedFlags, LEGAL_FLAGS);
        }
        if (claimedLength < 0 || claimedLength > limit) {
            return broken("slot length", claimedLength, limit);
        }
        if (claimedImmediate > IMMEDIATE_BYTES) {
            return broken("slot immediate length", claimedImmediate, IMMEDIATE_BYTES);
        }
        lengthBytes = claimedLength;
        immediateLength = claimedImmediate;
        flags = claimedFlags;
        producerId = ALL_MEMORY.get(ValueLayout.JAVA_INT, slot + PRODUCER_OFFSET);
        return 1;
    }

    /** Data bytes of the completed buffer, within what was posted. */
    public long length() {
        return lengthBytes;
    }

    /** The producer's id, as claimed by the peer. */
    public int producerId() {
        return producerId;
    }

    /** Bytes of immediate data, 0 to {@link FastPathRing#IMMEDIATE_BYTES}. */
    public int immediateLength() {
        return immediateLength;
    }

    /** Whether the data is in the slot and must be copied into the buffer. */
    public boolean isInline() {
        return (flags & FLAG_INLINE) != 0;
    }

    /** Whether the producer has abandoned the posting: the buffer holds no data. */
    public boolean isAbandoned() {
        return (flags & FLAG_ABANDONED) != 0;
    }

    /** Offset of inline data in {@link #segment()}. */
    public long inlineOffset() {
        return slotAddress() - address + DATA_OFFSET;
    }

    /** Offset of immediate data in {@link #segment()}. */
    public long immediateOffset() {
        return slotAddress() - address + IMMEDIATE_OFFSET;
    }

    /** Description of the peer's protocol violation, for messages; null if there was none. */
    public @Nullable String violation() {
        return violation;
    }

    /**
     * Advances to the next posted buffer; the slot of this one can be posted again.
     *
     * @throws IllegalStateException if none is posted
     */
    public void release() {
        if (posted == completed) {
            throw new IllegalStateException("release without a posted buffer: posted=" + posted);
        }
        completed++;
    }

    /**
     * Requests a doorbell at the next completion.
     *
     * @return true if one is there already: do not sleep
     */
    public boolean arm() {
        RingLayout.arm(address + OWNER_ARMED_OFFSET);
        return violation != null || stamped();
    }

    /** Cancels the request of {@link #arm()}. */
    public void disarm() {
        RingLayout.disarm(address + OWNER_ARMED_OFFSET);
    }

    /** Tells the producers to claim no more. */
    public void close() {
        INT.setRelease(ALL_MEMORY, address + STATUS_OFFSET, 1);
    }

    private int broken(String what, long seen, long greatest) {
        violation = RingLayout.violation(what, seen, 0, greatest);
        return (int) CORRUPT;
    }

    private boolean stamped() {
        return completed != posted
                && (long) LONG.getAcquire(ALL_MEMORY, slotAddress()) == completed + 1;
    }

    private long slotAddress() {
        return slotsAddress + (completed & mask) * SLOT_BYTES;
    }
}
