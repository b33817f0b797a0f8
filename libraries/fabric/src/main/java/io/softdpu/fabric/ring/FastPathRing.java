package io.softdpu.fabric.ring;

import static io.softdpu.fabric.ring.RingLayout.SLOTS_START;

import java.lang.foreign.MemorySegment;

/**
 * Ring of one Comm Channel consumer: slot i is for the i-th posted buffer. The consumer owns the
 * memory and posts buffers; the producers of the peer process claim postings in order, write, and
 * stamp.
 *
 * <pre>
 * posting, 16 bytes, written by the consumer
 *         0  offset       u64   of the buffer's free space in the consumer's region
 *         8  capacity     u64   bytes of that space
 *
 * slot, 128 bytes, written by the producer
 *         0  stamp        u64   ticket + 1: stored last, with release
 *         8  length       u64   bytes of data
 *        16  producer id  u32
 *        20  immediate    u8    bytes of immediate data, 0 to 32
 *        21  flags        u8    1 data is in the slot, 2 abandoned (the producer failed)
 *        22  reserved     u16
 *        24  data         64 B  the first 40 bytes share the cache line of the header
 *        88  immediate    32 B
 *       120  reserved     u64
 * </pre>
 *
 * <p>The claim index is a private atomic of the producing process: all producers of a connection
 * are in one process, so it need not be shared or trusted.
 */
public final class FastPathRing {
    /** Limit of data that is sent in the slot. */
    public static final int INLINE_BYTES = 64;

    /** Largest immediate data. */
    public static final int IMMEDIATE_BYTES = 32;

    /** {@link FastPathProducer#claim}: no buffer is posted. */
    public static final long NO_BUFFER = -1;

    /** {@link FastPathProducer#claim}: the next posted buffer is smaller than the data. */
    public static final long TOO_LARGE = -2;

    /** The peer violated the protocol; the connection must be broken. */
    public static final long CORRUPT = -3;

    /** {@link FastPathProducer#claim}: the consumer is stopping. */
    public static final long CLOSING = -4;

    /** {@link FastPathProducer#check}: another thread has claimed the buffer. */
    public static final long TAKEN = -5;

    private static final int SLOTS_LIMIT = 1 << 16;
    static final long POSTING_BYTES = 16;
    static final long SLOT_BYTES = 128;
    static final long CAPACITY_OFFSET = 8;
    static final long LENGTH_OFFSET = 8;
    static final long PRODUCER_OFFSET = 16;
    static final long IMMEDIATE_LENGTH_OFFSET = 20;
    static final long FLAGS_OFFSET = 21;
    static final long DATA_OFFSET = 24;
    static final long IMMEDIATE_OFFSET = 88;
    static final byte FLAG_INLINE = 1;
    static final byte FLAG_ABANDONED = 2;
    static final int LEGAL_FLAGS = FLAG_INLINE | FLAG_ABANDONED;

    private FastPathRing() {}

    /**
     * Geometry of a ring: the number of buffers that can be posted at a time.
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
         * Offset of a posting in that memory.
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

    /** Formats memory that this process owns and returns the receiving side. */
    public static FastPathConsumer consumer(MemorySegment owned, Geometry geometry) {
        RingLayout.requireNative(owned, geometry.sizeBytes());
        RingLayout.format(owned, RingLayout.KIND_FAST_PATH, geometry.slots(), INLINE_BYTES);
        owned.asSlice(SLOTS_START, geometry.sizeBytes() - SLOTS_START).fill((byte) 0);
        return new FastPathConsumer(owned, geometry);
    }

    /** Returns the sending side over memory that the peer owns and has formatted. */
    public static FastPathProducer producer(MemorySegment remote, Geometry geometry) {
        RingLayout.requireNative(remote, geometry.sizeBytes());
        return new FastPathProducer(remote, geometry);
    }
}
