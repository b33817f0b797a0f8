package io.softdpu.fabric.ring;

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
 * Ring of messages from one producer to one consumer; the consumer's process owns the memory.
 *
 * <pre>
 * slot:   0  length   u32   bytes of payload
 *         4  type     u32   of the protocol above
 *         8  word     u64   of the protocol above
 *        16  stamp    u64   number of the message, from 1 on: stored last, with release
 *        24  payload
 * </pre>
 *
 * <p>The consumer recognizes the next message by its stamp, so there is no producer index, whose
 * cache line would move between the processors too: a short message is one cache line.
 *
 * <p>A slot's stride is an odd number of cache lines, so that the heads of the slots spread over
 * the sets of the first-level cache instead of falling into one.
 */
public final class MessageRing {
    /** Bytes of a slot before its payload. */
    public static final int HEADER_BYTES = 24;

    /** {@link Producer#claim()}: every slot holds a message that was not released yet. */
    public static final long FULL = -1;

    /** {@link Consumer#poll()}: no message. */
    public static final long EMPTY = -1;

    /** The peer violated the protocol; the connection must be broken. */
    public static final long CORRUPT = -2;

    private static final int SLOTS_LIMIT = 1 << 16;
    private static final int PAYLOAD_LIMIT_BYTES = 1 << 20;
    private static final int LINE_BYTES = 64;

    private static final long LENGTH_OFFSET = 0;
    private static final long TYPE_OFFSET = 4;
    private static final long WORD_OFFSET = 8;
    private static final long STAMP_OFFSET = 16;

    private MessageRing() {}

    /**
     * Geometry of a ring, agreed in the handshake above and then kept privately by each side.
     *
     * @param slots a power of two up to 65,536
     * @param maxPayloadBytes payload of a slot, 1 byte to 1 MiB
     */
    public record Geometry(int slots, int maxPayloadBytes) {
        /** Refuses anything but legal values with {@link IllegalArgumentException}. */
        public Geometry {
            RingLayout.requirePowerOfTwo(slots, SLOTS_LIMIT);
            if (maxPayloadBytes < 1 || maxPayloadBytes > PAYLOAD_LIMIT_BYTES) {
                throw new IllegalArgumentException(
                        "ring payload out of range: maxPayloadBytes="
                                + maxPayloadBytes
                                + ", limit="
                                + PAYLOAD_LIMIT_BYTES);
            }
        }

        /** Bytes from one slot to the next: an odd number of cache lines. */
        public long strideBytes() {
            long lines = (HEADER_BYTES + (long) maxPayloadBytes + LINE_BYTES - 1) / LINE_BYTES;
            return (lines | 1) * LINE_BYTES;
        }

        /** Bytes of memory that the ring needs. */
        public long sizeBytes() {
            return SLOTS_START + slots * strideBytes();
        }
    }

    /** Formats memory that this process owns and returns the receiving side. */
    public static Consumer consumer(MemorySegment owned, Geometry geometry) {
        RingLayout.requireNative(owned, geometry.sizeBytes());
        RingLayout.format(
                owned, RingLayout.KIND_MESSAGE, geometry.slots(), geometry.maxPayloadBytes());
        for (int slot = 0; slot < geometry.slots(); slot++) { // what the memory held is no message
            LONG.set(owned, SLOTS_START + slot * geometry.strideBytes() + STAMP_OFFSET, 0L);
        }
        return new Consumer(owned, geometry);
    }

    /** Returns the sending side over memory that the peer owns and has formatted. */
    public static Producer producer(MemorySegment remote, Geometry geometry) {
        RingLayout.requireNative(remote, geometry.sizeBytes());
        return new Producer(remote, geometry);
    }

    /** Sending side. One thread. */
    public static final class Producer {
        private final MemorySegment memory;
        private final long address;
        private final long mask;
        private final int slots;
        private final int maxPayloadBytes;
        private final long strideBytes;
        private long produced;
        private long consumed;
        private long consumedWhenArmed;
        private @Nullable String violation;

        private Producer(MemorySegment memory, Geometry geometry) {
            this.memory = memory;
            this.address = memory.address();
            this.slots = geometry.slots();
            this.mask = slots - 1L;
            this.maxPayloadBytes = geometry.maxPayloadBytes();
            this.strideBytes = geometry.strideBytes();
        }

        /** The ring's memory; offsets of this class count from its start. */
        public MemorySegment segment() {
            return memory;
        }

        /** Offset of the payload of the next free slot, or {@link #FULL}, or {@link #CORRUPT}. */
        public long claim() {
            if (produced - consumed >= slots && free() <= 0) {
                return violation != null ? CORRUPT : FULL;
            }
            return slotAddress() - address + HEADER_BYTES;
        }

        /**
         * Publishes the slot of the last {@link #claim()}.
         *
         * @param lengthBytes payload bytes that were written, 0 to the ring's maximum
         * @throws IllegalArgumentException if the length is not in that range; the peer would break
         *     the connection
         * @throws IllegalStateException without a successful claim: the peer may still read the
         *     slot
         */
        public void commit(int type, int lengthBytes, long word) {
            if (lengthBytes < 0 || lengthBytes > maxPayloadBytes) {
                throw RingLayout.illegal("message length", lengthBytes, 0, maxPayloadBytes);
            }
            if (produced - consumed >= slots) {
                throw new IllegalStateException("commit without claim: slots=" + slots);
            }
            long slot = slotAddress();
            ALL_MEMORY.set(ValueLayout.JAVA_INT, slot + LENGTH_OFFSET, lengthBytes);
            ALL_MEMORY.set(ValueLayout.JAVA_INT, slot + TYPE_OFFSET, type);
            ALL_MEMORY.set(ValueLayout.JAVA_LONG, slot + WORD_OFFSET, word);
            produced++;
            LONG.setRelease(ALL_MEMORY, slot + STAMP_OFFSET, produced);
        }

        /** Messages committed so far. */
        public long produced() {
            return produced;
        }

        /**
         * Messages that the consumer has released so far, read from shared memory now; {@link
         * #CORRUPT} if the peer's index is out of range.
         */
        public long consumed() {
            long seen = (long) LONG.getAcquire(ALL_MEMORY, address + CONSUMED_OFFSET);
            if (violation != null || seen < consumed || seen > produced) {
                broken(seen);
                return CORRUPT;
            }
            consumed = seen;
            return seen;
        }

        /** Messages that the consumer had released when {@link #consumed()} last read it. */
        public long knownConsumed() {
            return consumed;
        }

        /** Slots that can be claimed now; 0 also if the peer's index is corrupt. */
        public long free() {
            return consumed() == CORRUPT ? 0 : slots - (produced - consumed);
        }

        /** Whether the peer's index was out of range once; it stays so. */
        public boolean corrupt() {
            return violation != null;
        }

        /** Description of the peer's protocol violation, for messages; null if there was none. */
        public @Nullable String violation() {
            return violation;
        }

        /** The word that the consumer set last; any value, since the peer may write any. */
        public int status() {
            return (int) INT.getAcquire(ALL_MEMORY, address + STATUS_OFFSET);
        }

        /** Whether the consumer sleeps and must be rung; disarms it. Call after commits. */
        public boolean peerArmed() {
            return RingLayout.takeArmed(address + OWNER_ARMED_OFFSET);
        }

        /**
         * Requests a doorbell when the consumer releases messages.
         *
         * @return true if it has released some since the last poll: do not sleep
         */
        public boolean arm() {
            consumedWhenArmed = consumed;
            RingLayout.arm(address + PEER_ARMED_OFFSET);
            return consumed() != consumedWhenArmed;
        }

        /** Cancels the request of {@link #arm()}. */
        public void disarm() {
            RingLayout.disarm(address + PEER_ARMED_OFFSET);
        }

        private void broken(long seen) {
            if (violation == null) {
                violation = RingLayout.violation("consumed index", seen, consumed, produced);
            }
        }

        private long slotAddress() {
            return address + SLOTS_START + (produced & mask) * strideBytes;
        }
    }

    /** Receiving side. One thread. */
    public static final class Consumer {
        private final MemorySegment memory;
        private final long address;
        private final long mask;
        private final int slots;
        private final int maxPayloadBytes;
        private final long strideBytes;
        private long consumed;

        /** Value of {@link #consumed} when the producer was last asked whether it waits. */
        private long consumedWhenAsked;

        private @Nullable String violation;
        private boolean held;
        private int type;
        private int lengthBytes;
        private long word;

        private Consumer(MemorySegment memory, Geometry geometry) {
            this.memory = memory;
            this.address = memory.address();
            this.slots = geometry.slots();
            this.mask = slots - 1L;
            this.maxPayloadBytes = geometry.maxPayloadBytes();
            this.strideBytes = geometry.strideBytes();
        }

        /** The ring's memory; offsets of this class count from its start. */
        public MemorySegment segment() {
            return memory;
        }

        /**
         * Offset of the payload of the next message, or {@link #EMPTY}, or {@link #CORRUPT}. Its
         * header is copied once; another call before {@link #release()} returns the same message
         * and header. The peer may still change the payload: copy it before reading it.
         */
        public long poll() {
            if (held) {
                return slotAddress() - address + HEADER_BYTES;
            }
            long slot = slotAddress();
            if (violation != null || !isStamped(slot)) {
                return violation != null ? CORRUPT : EMPTY;
            }
            int claimedLength = ALL_MEMORY.get(ValueLayout.JAVA_INT, slot + LENGTH_OFFSET);
            if (claimedLength < 0 || claimedLength > maxPayloadBytes) {
                violation = RingLayout.violation("slot length", claimedLength, 0, maxPayloadBytes);
                return CORRUPT;
            }
            lengthBytes = claimedLength;
            type = ALL_MEMORY.get(ValueLayout.JAVA_INT, slot + TYPE_OFFSET);
            word = ALL_MEMORY.get(ValueLayout.JAVA_LONG, slot + WORD_OFFSET);
            held = true;
            return slot - address + HEADER_BYTES;
        }

        /** Type of the message of the last {@link #poll()}. */
        public int type() {
            return type;
        }

        /** Payload bytes of the message of the last {@link #poll()}, within the ring's maximum. */
        public int length() {
            return lengthBytes;
        }

        /** Word of the message of the last {@link #poll()}. */
        public long word() {
            return word;
        }

        /**
         * Releases the slot of the last {@link #poll()} to the producer.
         *
         * @throws IllegalStateException without a message that was polled: the producer would find
         *     an index that is ahead of its own
         */
        public void release() {
            if (!held) {
                throw new IllegalStateException("release without poll: consumed=" + consumed);
            }
            held = false;
            consumed++;
            LONG.setRelease(ALL_MEMORY, address + CONSUMED_OFFSET, consumed);
        }

        /** Messages released so far. */
        public long consumed() {
            return consumed;
        }

        /** Whether the peer wrote an impossible length once; it stays so. */
        public boolean corrupt() {
            return violation != null;
        }

        /** Description of the peer's protocol violation, for messages; null if there was none. */
        public @Nullable String violation() {
            return violation;
        }

        /** Sets the word that the producer reads as {@link Producer#status()}. */
        public void setStatus(int status) {
            INT.setRelease(ALL_MEMORY, address + STATUS_OFFSET, status);
        }

        /**
         * Whether to ask for a producer that waits ({@link #peerArmed}): half of the ring was
         * released since it was last asked, or anything was and there is nothing else to do. So
         * neither side wakes the other for each message.
         *
         * @param idle whether there is nothing else to do
         */
        public boolean isPeerToBeAsked(boolean idle) {
            long unknown = consumed - consumedWhenAsked;
            return unknown >= (slots + 1L) / 2 || (idle && unknown > 0);
        }

        /** Whether the producer sleeps and waits for releases; disarms it. */
        public boolean peerArmed() {
            consumedWhenAsked = consumed;
            return RingLayout.takeArmed(address + PEER_ARMED_OFFSET);
        }

        /**
         * Requests a doorbell when a message arrives.
         *
         * @return true if there is a message already: do not sleep
         */
        public boolean arm() {
            RingLayout.arm(address + OWNER_ARMED_OFFSET);
            return held || violation != null || isStamped(slotAddress());
        }

        /** Cancels the request of {@link #arm()}. */
        public void disarm() {
            RingLayout.disarm(address + OWNER_ARMED_OFFSET);
        }

        /** Whether the next message is there. A stamp of any other value means that it is not. */
        private boolean isStamped(long slot) {
            return (long) LONG.getAcquire(ALL_MEMORY, slot + STAMP_OFFSET) == consumed + 1;
        }

        private long slotAddress() {
            return address + SLOTS_START + (consumed & mask) * strideBytes;
        }
    }
}
