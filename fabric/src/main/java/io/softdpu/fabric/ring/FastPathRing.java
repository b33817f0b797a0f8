package io.softdpu.fabric.ring;

import static io.softdpu.fabric.ring.RingLayout.CONSUMED_OFFSET;
import static io.softdpu.fabric.ring.RingLayout.INT;
import static io.softdpu.fabric.ring.RingLayout.LONG;
import static io.softdpu.fabric.ring.RingLayout.OWNER_ARMED_OFFSET;
import static io.softdpu.fabric.ring.RingLayout.SLOTS_START;
import static io.softdpu.fabric.ring.RingLayout.STATUS_OFFSET;
import static io.softdpu.linux.NativeMemory.EVERYTHING;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The ring of one Comm Channel consumer: slot i stands for the i-th posted buffer. The consumer
 * owns the memory and posts; the producers of the peer process claim postings in order, write, and
 * stamp.
 *
 * <pre>
 * posting, 16 bytes, written by the consumer
 *         0  offset       u64   where the buffer's free room begins in the consumer's region
 *         8  capacity     u64   bytes of that room
 *
 * slot, 128 bytes, written by the producer
 *         0  stamp        u64   ticket + 1: stored last, with release
 *         8  length       u64   bytes of data
 *        16  producer id  u32
 *        20  immediate    u8    bytes of immediate data, 0 to 32
 *        21  flags        u8    1 data stands in the slot, 2 abandoned (the producer failed)
 *        22  reserved     u16
 *        24  data         64 B  the first 40 bytes share the cache line of the header
 *        88  immediate    32 B
 *       120  reserved     u64
 * </pre>
 *
 * <p>The claim index is a private atomic of the producing process: all producers of a connection
 * live in one process, so nothing about it has to be shared or trusted.
 */
public final class FastPathRing {
    /** Data of up to this many bytes travels in the slot. */
    public static final int INLINE_BYTES = 64;

    /** Largest immediate data. */
    public static final int IMMEDIATE_BYTES = 32;

    /** {@link Producer#claim}: no buffer is posted. */
    public static final long NO_BUFFER = -1;

    /** {@link Producer#claim}: the next posted buffer is smaller than the data. */
    public static final long TOO_LARGE = -2;

    /** The peer wrote what no correct peer writes; the connection has to be broken. */
    public static final long CORRUPT = -3;

    /** {@link Producer#claim}: the consumer is stopping. */
    public static final long CLOSING = -4;

    private static final int SLOTS_LIMIT = 1 << 16;
    private static final long POSTING_BYTES = 16;
    private static final long SLOT_BYTES = 128;
    private static final long CAPACITY_OFFSET = 8;
    private static final long LENGTH_OFFSET = 8;
    private static final long PRODUCER_OFFSET = 16;
    private static final long IMMEDIATE_LENGTH_OFFSET = 20;
    private static final long FLAGS_OFFSET = 21;
    private static final long DATA_OFFSET = 24;
    private static final long IMMEDIATE_OFFSET = 88;
    private static final byte FLAG_INLINE = 1;
    private static final byte FLAG_ABANDONED = 2;
    private static final int LEGAL_FLAGS = FLAG_INLINE | FLAG_ABANDONED;

    private FastPathRing() {}

    /**
     * Slots of a ring: the number of buffers that can be posted at once.
     *
     * @param slots a power of two up to 65,536
     */
    public record Geometry(int slots) {
        /** Refuses anything but legal values with {@link IllegalArgumentException}. */
        public Geometry {
            RingLayout.requirePowerOfTwo(slots, SLOTS_LIMIT);
        }

        /** Bytes of memory that the ring needs. */
        public long sizeBytes() {
            return SLOTS_START + slots * (POSTING_BYTES + SLOT_BYTES);
        }

        /**
         * Where a posting begins in that memory.
         *
         * @param slot from 0
         */
        public long postingOffset(int slot) {
            return SLOTS_START + slot * POSTING_BYTES;
        }

        long slotsOffset() {
            return postingOffset(slots);
        }
    }

    /** Formats memory that this process owns and returns its receiving half. */
    public static Consumer consumer(MemorySegment owned, Geometry geometry) {
        RingLayout.requireNative(owned, geometry.sizeBytes());
        RingLayout.format(owned, RingLayout.KIND_FAST_PATH, geometry.slots(), INLINE_BYTES);
        owned.asSlice(SLOTS_START, geometry.sizeBytes() - SLOTS_START).fill((byte) 0);
        return new Consumer(owned, geometry);
    }

    /** Returns the sending half over memory that the peer owns and has formatted. */
    public static Producer producer(MemorySegment remote, Geometry geometry) {
        RingLayout.requireNative(remote, geometry.sizeBytes());
        return new Producer(remote, geometry);
    }

    /** The receiving half. One thread. */
    public static final class Consumer {
        private final MemorySegment memory;
        private final long address;
        private final int slots;
        private final long mask;
        private final long slotsAddress;
        private final long[] capacities;
        private long posted;
        private long completed;
        private long lengthBytes;
        private int producerId;
        private int immediateLength;
        private byte flags;
        private @Nullable String violation;

        private Consumer(MemorySegment memory, Geometry geometry) {
            this.memory = memory;
            this.address = memory.address();
            this.slots = geometry.slots();
            this.mask = slots - 1L;
            this.slotsAddress = address + geometry.slotsOffset();
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
         * Publishes room for one message.
         *
         * @return false if as many buffers are posted as the ring has slots
         */
        public boolean post(long regionOffset, long capacityBytes) {
            if (posted - completed >= slots) {
                return false;
            }
            long posting = address + SLOTS_START + (posted & mask) * POSTING_BYTES;
            EVERYTHING.set(ValueLayout.JAVA_LONG, posting, regionOffset);
            EVERYTHING.set(ValueLayout.JAVA_LONG, posting + CAPACITY_OFFSET, capacityBytes);
            capacities[(int) (posted & mask)] = capacityBytes;
            posted++;
            LONG.setRelease(EVERYTHING, address + CONSUMED_OFFSET, posted);
            return true;
        }

        /**
         * Looks at the oldest posted buffer.
         *
         * @return 1 if it was completed: its fields can be read until {@link #release()}; 0 if not
         *     yet; {@link #CORRUPT} if the producer's header is impossible
         */
        public int poll() {
            if (violation != null) {
                return (int) CORRUPT;
            }
            if (!stamped()) {
                return 0;
            }
            long slot = slotAddress();
            long claimedLength = EVERYTHING.get(ValueLayout.JAVA_LONG, slot + LENGTH_OFFSET);
            int claimedImmediate =
                    EVERYTHING.get(ValueLayout.JAVA_BYTE, slot + IMMEDIATE_LENGTH_OFFSET) & 0xff;
            byte claimedFlags = EVERYTHING.get(ValueLayout.JAVA_BYTE, slot + FLAGS_OFFSET);
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
            producerId = EVERYTHING.get(ValueLayout.JAVA_INT, slot + PRODUCER_OFFSET);
            return 1;
        }

        /** Data bytes of the completed buffer, within what was posted. */
        public long length() {
            return lengthBytes;
        }

        /** The producer's id, as the peer says. */
        public int producerId() {
            return producerId;
        }

        /** Bytes of immediate data, 0 to {@link #IMMEDIATE_BYTES}. */
        public int immediateLength() {
            return immediateLength;
        }

        /** Whether the data stands in the slot and has to be copied into the buffer. */
        public boolean isInline() {
            return (flags & FLAG_INLINE) != 0;
        }

        /** Whether the producer gave the posting up: the buffer holds nothing. */
        public boolean isAbandoned() {
            return (flags & FLAG_ABANDONED) != 0;
        }

        /** Where inline data stands in {@link #segment()}. */
        public long inlineOffset() {
            return slotAddress() - address + DATA_OFFSET;
        }

        /** Where immediate data stands in {@link #segment()}. */
        public long immediateOffset() {
            return slotAddress() - address + IMMEDIATE_OFFSET;
        }

        /** What the peer wrote that no correct peer writes, for people; null if nothing. */
        public @Nullable String violation() {
            return violation;
        }

        /**
         * Goes on to the next posted buffer; the slot of this one can be posted again.
         *
         * @throws IllegalStateException if none is posted
         */
        public void release() {
            if (posted == completed) {
                throw new IllegalStateException(
                        "release without a posted buffer: posted=" + posted);
            }
            completed++;
        }

        /**
         * Asks for a doorbell at the next completion.
         *
         * @return true if one is there already: do not sleep
         */
        public boolean arm() {
            RingLayout.arm(address + OWNER_ARMED_OFFSET);
            return violation != null || stamped();
        }

        /** Takes the wish of {@link #arm()} back. */
        public void disarm() {
            RingLayout.disarm(address + OWNER_ARMED_OFFSET);
        }

        /** Tells the producers to claim no more. */
        public void close() {
            INT.setRelease(EVERYTHING, address + STATUS_OFFSET, 1);
        }

        private int broken(String what, long seen, long greatest) {
            violation = RingLayout.violation(what, seen, 0, greatest);
            return (int) CORRUPT;
        }

        private boolean stamped() {
            return completed != posted
                    && (long) LONG.getAcquire(EVERYTHING, slotAddress()) == completed + 1;
        }

        private long slotAddress() {
            return slotsAddress + (completed & mask) * SLOT_BYTES;
        }
    }

    /** The sending half: any number of threads of one process. */
    public static final class Producer {
        private static final VarHandle CLAIMED;

        static {
            try {
                CLAIMED =
                        MethodHandles.lookup().findVarHandle(Producer.class, "claimed", long.class);
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

        private volatile @Nullable String violation;

        private Producer(MemorySegment memory, Geometry geometry) {
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
         * @return a ticket, 0 or more, to be given to {@link #commit} or {@link #abandon}; or
         *     {@link #NO_BUFFER}, {@link #TOO_LARGE}, {@link #CORRUPT}, {@link #CLOSING}, with
         *     nothing claimed
         */
        public long claim(long lengthBytes) {
            while (violation == null) {
                if ((int) INT.getAcquire(EVERYTHING, address + STATUS_OFFSET) != 0) {
                    return CLOSING;
                }
                long ticket = (long) CLAIMED.getAcquire(this);
                long posted = (long) LONG.getAcquire(EVERYTHING, address + CONSUMED_OFFSET);
                if (posted == ticket) {
                    return NO_BUFFER;
                }
                if (posted < ticket || posted - ticket > slots) {
                    if ((long) CLAIMED.getAcquire(this) != ticket) {
                        continue; // another thread moved the index between the two loads
                    }
                    violation =
                            RingLayout.violation("posted index", posted, ticket, ticket + slots);
                    break;
                }
                long capacity =
                        EVERYTHING.get(
                                ValueLayout.JAVA_LONG, postingAddress(ticket) + CAPACITY_OFFSET);
                if (lengthBytes > capacity) { // so a negative capacity never gets further
                    if ((long) CLAIMED.getAcquire(this) != ticket) {
                        continue;
                    }
                    if (capacity >= 0) {
                        return TOO_LARGE;
                    }
                    violation =
                            RingLayout.violation("posting capacity", capacity, 0, Long.MAX_VALUE);
                    break;
                }
                if (CLAIMED.compareAndSet(this, ticket, ticket + 1)) {
                    return ticket;
                }
            }
            return CORRUPT;
        }

        /**
         * Where the claimed buffer's free room begins in the consumer's region, as the peer says:
         * read it once and check it, with the length, against the region's size.
         */
        public long regionOffset(long ticket) {
            return EVERYTHING.get(ValueLayout.JAVA_LONG, postingAddress(ticket));
        }

        /** Where data of up to {@link #INLINE_BYTES} is written in {@link #segment()}. */
        public long inlineOffset(long ticket) {
            return slotAddress(ticket) - address + DATA_OFFSET;
        }

        /** Where immediate data is written in {@link #segment()}. */
        public long immediateOffset(long ticket) {
            return slotAddress(ticket) - address + IMMEDIATE_OFFSET;
        }

        /** What the peer wrote that no correct peer writes, for people; null if nothing. */
        public @Nullable String violation() {
            return violation;
        }

        /**
         * Publishes a claimed slot after its data has been written.
         *
         * @throws IllegalArgumentException for lengths over which the peer would break the
         *     connection; the ticket is still to be committed or abandoned then
         */
        public void commit(
                long ticket,
                long lengthBytes,
                int producerId,
                int immediateLength,
                boolean inline) {
            if (lengthBytes < 0 || (inline && lengthBytes > INLINE_BYTES)) {
                throw RingLayout.illegal(
                        "data length", lengthBytes, 0, inline ? INLINE_BYTES : Long.MAX_VALUE);
            }
            if (immediateLength < 0 || immediateLength > IMMEDIATE_BYTES) {
                throw RingLayout.illegal("immediate length", immediateLength, 0, IMMEDIATE_BYTES);
            }
            stamp(ticket, lengthBytes, producerId, immediateLength, inline ? FLAG_INLINE : 0);
        }

        /** Gives a claimed slot up: the consumer fails that one buffer and goes on. */
        public void abandon(long ticket, int producerId) {
            stamp(ticket, 0, producerId, 0, FLAG_ABANDONED);
        }

        /**
         * Whether the consumer sleeps and has to be rung; asking disarms it. Call after commits.
         */
        public boolean peerArmed() {
            return RingLayout.takeArmed(address + OWNER_ARMED_OFFSET);
        }

        private void stamp(
                long ticket, long lengthBytes, int producerId, int immediateLength, int flags) {
            long slot = slotAddress(ticket);
            EVERYTHING.set(ValueLayout.JAVA_LONG, slot + LENGTH_OFFSET, lengthBytes);
            EVERYTHING.set(ValueLayout.JAVA_INT, slot + PRODUCER_OFFSET, producerId);
            EVERYTHING.set(
                    ValueLayout.JAVA_BYTE, slot + IMMEDIATE_LENGTH_OFFSET, (byte) immediateLength);
            EVERYTHING.set(ValueLayout.JAVA_BYTE, slot + FLAGS_OFFSET, (byte) flags);
            LONG.setRelease(EVERYTHING, slot, ticket + 1);
        }

        private long postingAddress(long ticket) {
            return address + SLOTS_START + (ticket & mask) * POSTING_BYTES;
        }

        private long slotAddress(long ticket) {
            return slotsAddress + (ticket & mask) * SLOT_BYTES;
        }
    }
}
