package io.softdpu.fabric.ring;

import static io.softdpu.linux.NativeMemory.ALL_MEMORY;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Layout common to both rings: the header of the memory and access to its words.
 *
 * <pre>
 *    0  magic        u64  "SDPURING"            written once by the owner
 *    8  version      u32  2
 *   12  kind         u32  1 message, 2 fast path
 *   16  slots        u32  a power of two
 *   20  max payload  u32  bytes per slot
 *  256  consumed     u64  message ring: messages released; fast path: buffers posted
 *  384  owner armed  u32  1: the owner (receiver) sleeps and wants a doorbell
 *  512  peer armed   u32  1: the producer sleeps and wants a doorbell
 *  640  status       u32  message ring: word of the owner to the producer; fast path: 1 closing
 * 1024  first slot, or the table of postings
 * </pre>
 *
 * <p>Words that different sides write stand 128 bytes apart: two cache lines, because the
 * adjacent-line prefetcher pulls lines in pairs.
 */
final class RingLayout {
    static final long MAGIC = 0x474E49525550_4453L; // "SDPURING" in memory order
    static final int VERSION = 2;
    static final int KIND_MESSAGE = 1;
    static final int KIND_FAST_PATH = 2;

    static final long MAGIC_OFFSET = 0;
    static final long VERSION_OFFSET = 8;
    static final long KIND_OFFSET = 12;
    static final long SLOTS_OFFSET = 16;
    static final long MAX_PAYLOAD_OFFSET = 20;
    static final long CONSUMED_OFFSET = 256;
    static final long OWNER_ARMED_OFFSET = 384;
    static final long PEER_ARMED_OFFSET = 512;
    static final long STATUS_OFFSET = 640;
    static final long SLOTS_START = 1024;

    static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private RingLayout() {}

    static void format(MemorySegment memory, int kind, int slots, int maxPayloadBytes) {
        memory.asSlice(0, SLOTS_START).fill((byte) 0);
        memory.set(ValueLayout.JAVA_INT, VERSION_OFFSET, VERSION);
        memory.set(ValueLayout.JAVA_INT, KIND_OFFSET, kind);
        memory.set(ValueLayout.JAVA_INT, SLOTS_OFFSET, slots);
        memory.set(ValueLayout.JAVA_INT, MAX_PAYLOAD_OFFSET, maxPayloadBytes);
        LONG.setRelease(memory, MAGIC_OFFSET, MAGIC);
    }

    /**
     * Checks the memory of a ring, whose words are accessed by address, without bounds checks of a
     * segment.
     */
    static void requireNative(MemorySegment memory, long sizeBytes) {
        if (!memory.isNative() || memory.isReadOnly()) {
            throw new IllegalArgumentException(
                    "ring memory cannot be reached by address: memory="
                            + memory
                            + ", expected=native, writable");
        }
        if (memory.byteSize() < sizeBytes) {
            throw new IllegalArgumentException(
                    "ring memory too small: sizeBytes="
                            + memory.byteSize()
                            + ", needed="
                            + sizeBytes);
        }
    }

    static void requirePowerOfTwo(int slots, int limit) {
        if (slots < 1 || slots > limit || Integer.bitCount(slots) != 1) {
            throw new IllegalArgumentException(
                    "ring slots must be a power of two: slots=" + slots + ", limit=" + limit);
        }
    }

    /** Describes a protocol violation; called once per ring, when it breaks. */
    static String violation(String what, long seen, long least, long greatest) {
        return what + " out of range: seen=" + seen + ", expected=" + least + " to " + greatest;
    }

    /** The same for a value that this process was about to write. */
    static IllegalArgumentException illegal(String what, long given, long least, long greatest) {
        return new IllegalArgumentException(
                what + " out of range: given=" + given + ", expected=" + least + " to " + greatest);
    }

    /**
     * Whether the owner of an armed word sleeps and needs a doorbell; disarms it. The fence orders
     * the store that published work before the load of the word: without it both sides can miss
     * each other (the sleeper has the matching fence in {@link #arm}).
     */
    static boolean takeArmed(long armedAddress) {
        VarHandle.fullFence();
        if ((int) INT.getOpaque(ALL_MEMORY, armedAddress) == 0) {
            return false;
        }
        INT.setOpaque(ALL_MEMORY, armedAddress, 0);
        return true;
    }

    static void arm(long armedAddress) {
        INT.setOpaque(ALL_MEMORY, armedAddress, 1);
        VarHandle.fullFence();
    }

    static void disarm(long armedAddress) {
        INT.setOpaque(ALL_MEMORY, armedAddress, 0);
    }
}
