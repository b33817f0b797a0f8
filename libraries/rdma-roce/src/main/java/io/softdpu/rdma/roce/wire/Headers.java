package io.softdpu.rdma.roce.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Writers of the headers of a packet in place, and the offsets of their fields. All fields are
 * big-endian but the ICRC, which is little-endian.
 *
 * <pre>
 * BTH          0 opcode   1 SE M PP VVVV   2 partition key
 *              4 F B and 6 reserved bits   5 destination queue pair
 *              8 A and 7 reserved bits     9 PSN
 * DETH         0 queue key                 4 reserved     5 source queue pair
 * RETH         0 address (8)               8 key         12 length
 * AtomicETH    0 address (8)               8 key         12 swap or add (8)  20 compare (8)
 * AETH         0 syndrome                  1 MSN (3)
 * AtomicAckETH 0 value before (8)
 * ImmDt, IETH  0 immediate, key
 * </pre>
 *
 * <p>SE is a solicited event, M the migration state, PP the number of bytes of padding, VVVV the
 * version, F and B the congestion bits FECN and BECN, A a request for an acknowledgement.
 * (InfiniBand Architecture Specification, volume 1, sections 9.2 and 9.3.)
 *
 * <p>For the data path: static methods without allocation and without checks beyond the bounds of
 * the segment; of a value that is too large the low bits are written. Reserved bits become 0.
 */
public final class Headers {
    /** The UDP port of RoCE v2. */
    public static final int UDP_PORT = 4791;

    /** Size of the base transport header. */
    public static final int BTH_BYTES = 12;

    /** Size of the invariant CRC, behind payload and padding. */
    public static final int ICRC_BYTES = 4;

    /** Reserved bytes of a congestion notification. */
    public static final int NOTIFICATION_BYTES = 16;

    /** The largest path MTU: limit of the payload of a packet. */
    public static final int MAX_PAYLOAD_BYTES = 4096;

    /** Limit of all headers of a packet, those of {@link Opcode} with the most. */
    public static final int MAX_HEADER_BYTES = BTH_BYTES + 28;

    /** Limit of a packet: the payload of its UDP datagram. */
    public static final int MAX_PACKET_BYTES = MAX_HEADER_BYTES + MAX_PAYLOAD_BYTES + ICRC_BYTES;

    /** The version of the base transport header. */
    public static final int VERSION = 0;

    /** The partition key that every packet has. */
    public static final int PARTITION_KEY = 0xffff;

    /** Flag of a packet: the receiver's program is to be woken up. */
    public static final int SOLICITED = 0x80;

    /** Flag of a packet: the path has migrated, as cards always send. */
    public static final int MIGRATED = 0x40;

    /** Congestion bit of a packet: its network was congested (FECN). */
    public static final int FECN = 0x80;

    /** Congestion bit of a packet: that in the other direction was (BECN). */
    public static final int BECN = 0x40;

    /** Bits by which a packet asks for an acknowledgement. */
    static final int ACK_REQUEST = 0x80;

    static final long FLAGS_OFFSET = 1;
    static final long CONGESTION_OFFSET = 4;
    static final long QUEUE_PAIR_OFFSET = 4;
    static final long ACK_REQUEST_OFFSET = 8;
    static final long PSN_OFFSET = 8;

    static final long DETH_SOURCE_OFFSET = 4;
    static final long KEY_OFFSET = 8;
    static final long RETH_LENGTH_OFFSET = 12;
    static final long SWAP_OR_ADD_OFFSET = 12;
    static final long COMPARE_OFFSET = 20;

    static final int PADDING_SHIFT = 4;
    static final int PADDING_MASK = 3;
    static final int VERSION_MASK = 0xf;
    static final int LOW_24 = 0xff_ffff;

    static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Four bytes in the order of the network. */
    public static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfInt LITTLE_U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Headers() {}

    /**
     * Number of bytes behind a payload that make its length a multiple of four.
     *
     * @return 0 to 3
     */
    public static int paddingBytes(int payloadBytes) {
        return -payloadBytes & PADDING_MASK;
    }

    /**
     * Writes a base transport header, with {@link #VERSION}, {@link #PARTITION_KEY} and no
     * congestion.
     *
     * @param flags {@link #SOLICITED} and {@link #MIGRATED}, or 0
     * @param paddingBytes 0 to 3
     * @param queuePair 24 bits, of the receiver
     * @param psn 24 bits
     */
    public static void writeBth(
            MemorySegment memory,
            long at,
            Opcode opcode,
            int flags,
            int paddingBytes,
            int queuePair,
            boolean acknowledge,
            int psn) {
        int first =
                opcode.code() << 24
                        | (flags & (SOLICITED | MIGRATED)) << 16
                        | (paddingBytes & PADDING_MASK) << (16 + PADDING_SHIFT)
                        | VERSION << 16
                        | PARTITION_KEY;
        memory.set(U32, at, first);
        memory.set(U32, at + QUEUE_PAIR_OFFSET, queuePair & LOW_24);
        memory.set(U32, at + PSN_OFFSET, (acknowledge ? ACK_REQUEST << 24 : 0) | (psn & LOW_24));
    }

    /**
     * Writes a DETH.
     *
     * @param sourceQueuePair 24 bits
     */
    public static void writeDeth(MemorySegment memory, long at, int queueKey, int sourceQueuePair) {
        memory.set(U32, at, queueKey);
        memory.set(U32, at + DETH_SOURCE_OFFSET, sourceQueuePair & LOW_24);
    }

    /**
     * Writes a RETH.
     *
     * @param lengthBytes 32 bits
     */
    public static void writeReth(
            MemorySegment memory, long at, long address, int key, long lengthBytes) {
        memory.set(U64, at, address);
        memory.set(U32, at + KEY_OFFSET, key);
        memory.set(U32, at + RETH_LENGTH_OFFSET, (int) lengthBytes);
    }

    /**
     * Writes an AtomicETH.
     *
     * @param swapOrAdd the new value of a compare and swap, or what is added
     * @param compare the value that is compared; 0 of an addition
     */
    public static void writeAtomicEth(
            MemorySegment memory, long at, long address, int key, long swapOrAdd, long compare) {
        memory.set(U64, at, address);
        memory.set(U32, at + KEY_OFFSET, key);
        memory.set(U64, at + SWAP_OR_ADD_OFFSET, swapOrAdd);
        memory.set(U64, at + COMPARE_OFFSET, compare);
    }

    /**
     * Writes an AETH.
     *
     * @param syndrome as {@link Syndrome} makes it
     * @param msn 24 bits
     */
    public static void writeAeth(MemorySegment memory, long at, int syndrome, int msn) {
        memory.set(U32, at, syndrome << 24 | (msn & LOW_24));
    }

    /** Writes an AtomicAckETH. */
    public static void writeAtomicAckEth(MemorySegment memory, long at, long before) {
        memory.set(U64, at, before);
    }

    /** Writes an immediate, or the key of an IETH: the number's high byte first. */
    public static void writeWord(MemorySegment memory, long at, int word) {
        memory.set(U32, at, word);
    }

    /** Writes the ICRC behind payload and padding. */
    public static void writeIcrc(MemorySegment memory, long at, int icrc) {
        memory.set(LITTLE_U32, at, icrc);
    }
}
