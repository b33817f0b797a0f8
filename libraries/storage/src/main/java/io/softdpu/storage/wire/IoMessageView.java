package io.softdpu.storage.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Accessors for an io_message in place: 64 bytes, one cache line, big-endian.
 *
 * <pre>
 *      0         4         8                   16        24                  32
 *   0  +---------+---------+-------------------+---------+---------+---------+
 *      |  type   |  (gap)  |     user_data     | result  | io_size |
 *  24  +---------+---------+-------------------+---------+---------+
 *      | requester_offset  |  storage_offset   |
 *  40  +-------------------+-------------------+
 *      | padding, 24 bytes                     |
 *  64  +---------------------------------------+
 * </pre>
 *
 * <p>For the data path: static methods without allocation and without checks beyond the bounds of
 * the segment. If a peer can still write to the memory, the caller has to read each field once into
 * a local variable, and check and use that.
 */
public final class IoMessageView {
    /** The size of each io_message in bytes. */
    public static final int WIRE_BYTES = 64;

    /** u32, one of the codes of {@link IoType}. */
    public static final long TYPE_OFFSET = 0;

    /** 4 unused bytes, written as 0, ignored when read. */
    public static final long GAP_OFFSET = 4;

    /** u64, the index of the transaction, chosen by the requester and echoed. */
    public static final long USER_DATA_OFFSET = 8;

    /** u32, a status code; 0 in a request. */
    public static final long RESULT_OFFSET = 16;

    /** u32, bytes to transfer. */
    public static final long IO_SIZE_OFFSET = 20;

    /** u64, offset in the requester's exported memory. */
    public static final long REQUESTER_OFFSET_OFFSET = 24;

    /** u64, offset in the storage. */
    public static final long STORAGE_OFFSET_OFFSET = 32;

    /** 24 unused bytes, written as 0, ignored when read. */
    public static final long PADDING_OFFSET = 40;

    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private IoMessageView() {}

    /** The raw type number, which may be unknown to {@link IoType}. */
    public static int type(MemorySegment memory, long at) {
        return memory.get(U32, at + TYPE_OFFSET);
    }

    /** The user data as 64 raw bits. */
    public static long userData(MemorySegment memory, long at) {
        return memory.get(U64, at + USER_DATA_OFFSET);
    }

    /** The raw status code. */
    public static int result(MemorySegment memory, long at) {
        return memory.get(U32, at + RESULT_OFFSET);
    }

    /** The bytes to transfer, as an unsigned number: 0 to 2^32 - 1. */
    public static long ioSizeBytes(MemorySegment memory, long at) {
        return Integer.toUnsignedLong(memory.get(U32, at + IO_SIZE_OFFSET));
    }

    /** The offset in the requester's memory as 64 raw bits; a negative long is 2^63 or more. */
    public static long requesterOffset(MemorySegment memory, long at) {
        return memory.get(U64, at + REQUESTER_OFFSET_OFFSET);
    }

    /** The offset in the storage as 64 raw bits; a negative long is 2^63 or more. */
    public static long storageOffset(MemorySegment memory, long at) {
        return memory.get(U64, at + STORAGE_OFFSET_OFFSET);
    }

    /** Writes all 64 bytes; gap and padding become 0. */
    public static void write(
            MemorySegment memory,
            long at,
            int type,
            long userData,
            int result,
            int ioSize,
            long requesterOffset,
            long storageOffset) {
        memory.set(U32, at + TYPE_OFFSET, type);
        memory.set(U32, at + GAP_OFFSET, 0);
        memory.set(U64, at + USER_DATA_OFFSET, userData);
        memory.set(U32, at + RESULT_OFFSET, result);
        memory.set(U32, at + IO_SIZE_OFFSET, ioSize);
        memory.set(U64, at + REQUESTER_OFFSET_OFFSET, requesterOffset);
        memory.set(U64, at + STORAGE_OFFSET_OFFSET, storageOffset);
        memory.set(U64, at + PADDING_OFFSET, 0);
        memory.set(U64, at + PADDING_OFFSET + 8, 0);
        memory.set(U64, at + PADDING_OFFSET + 16, 0);
    }

    /**
     * Changes a request to its response in place: sets the type and the result, and leaves all
     * other fields as they are.
     */
    public static void writeResult(MemorySegment memory, long at, int result) {
        memory.set(U32, at + TYPE_OFFSET, 0);
        memory.set(U32, at + RESULT_OFFSET, result);
    }
}
