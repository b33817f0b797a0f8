package io.softdpu.rdma.roce.wire;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * View of a packet: the payload of a UDP datagram, from the base transport header to the ICRC. It
 * is checked once, by {@link #wrap}; then the accessors of what its opcode has cannot fail, and
 * those of a header that the packet does not have throw {@link IndexOutOfBoundsException}. Reserved
 * bits are ignored. The ICRC is not checked: {@link Icrc} does that.
 *
 * <p>Refers to memory of the caller, which no peer may write to meanwhile. Belongs to one thread;
 * allocates nothing.
 */
public final class Packet {
    private MemorySegment memory = MemorySegment.NULL;
    private long at;
    private int bytes;
    private Opcode opcode = Opcode.CONGESTION_NOTIFICATION;
    private int paddingBytes;

    /** A view of nothing, until {@link #wrap}. */
    public Packet() {}

    /**
     * Looks at a packet, and checks it. After a fault the view is of the packet before.
     *
     * @param from offset in the memory
     * @param length of the datagram's payload, in bytes
     * @return null if the packet is well-formed
     */
    public @Nullable PacketFault wrap(MemorySegment packets, long from, int length) {
        if (length < Headers.BTH_BYTES + Headers.ICRC_BYTES) {
            return PacketFault.SHORT;
        }
        if (length > Headers.MAX_PACKET_BYTES) {
            return PacketFault.LONG;
        }
        if ((length & 3) != 0) {
            return PacketFault.UNALIGNED;
        }
        int word = packets.get(Headers.U32, from);
        if ((word >>> 16 & Headers.VERSION_MASK) != Headers.VERSION) {
            return PacketFault.VERSION;
        }
        Opcode code = Opcode.of(word >>> 24);
        if (code == null) {
            return PacketFault.OPCODE;
        }
        if ((word & 0xffff) != Headers.PARTITION_KEY) {
            return PacketFault.PARTITION_KEY;
        }
        int behindHeaders = length - Headers.ICRC_BYTES - code.headerBytes();
        if (behindHeaders < 0) {
            return PacketFault.SHORT;
        }
        int padding = word >>> (16 + Headers.PADDING_SHIFT) & Headers.PADDING_MASK;
        if (padding > behindHeaders || (behindHeaders > 0 && !code.hasPayload())) {
            return PacketFault.PAYLOAD;
        }
        if (behindHeaders - padding > Headers.MAX_PAYLOAD_BYTES) {
            return PacketFault.LONG;
        }
        memory = packets;
        at = from;
        bytes = length;
        opcode = code;
        paddingBytes = padding;
        return null;
    }

    /** The memory that has the packet. */
    public MemorySegment memory() {
        return memory;
    }

    /** Offset of the packet in {@link #memory()}. */
    public long at() {
        return at;
    }

    /** Size of the whole packet. */
    public int bytes() {
        return bytes;
    }

    /** The opcode. */
    public Opcode opcode() {
        return opcode;
    }

    /** {@link Headers#SOLICITED} and {@link Headers#MIGRATED}, as far as they are set. */
    public int flags() {
        return memory.get(Headers.U8, at + Headers.FLAGS_OFFSET)
                & (Headers.SOLICITED | Headers.MIGRATED);
    }

    /** {@link Headers#FECN} and {@link Headers#BECN}, as far as they are set. */
    public int congestion() {
        return memory.get(Headers.U8, at + Headers.CONGESTION_OFFSET)
                & (Headers.FECN | Headers.BECN);
    }

    /** Number of the queue pair that the packet is for. */
    public int queuePair() {
        return memory.get(Headers.U32, at + Headers.QUEUE_PAIR_OFFSET) & Headers.LOW_24;
    }

    /** Whether the sender asks for an acknowledgement. */
    public boolean asksAcknowledgement() {
        return (memory.get(Headers.U8, at + Headers.ACK_REQUEST_OFFSET) & Headers.ACK_REQUEST) != 0;
    }

    /** The packet sequence number. */
    public int psn() {
        return memory.get(Headers.U32, at + Headers.PSN_OFFSET) & Headers.LOW_24;
    }

    /** Offset of the payload in {@link #memory()}. */
    public long payloadAt() {
        return at + opcode.headerBytes();
    }

    /** Size of the payload without padding. */
    public int payloadBytes() {
        return bytes - Headers.ICRC_BYTES - paddingBytes - opcode.headerBytes();
    }

    /** Number of bytes between payload and ICRC. */
    public int paddingBytes() {
        return paddingBytes;
    }

    /** The ICRC that the sender has written. */
    public int icrc() {
        return memory.get(Headers.LITTLE_U32, at + bytes - Headers.ICRC_BYTES);
    }

    // ---- fields of headers that the opcode has ----

    /** Queue key of a datagram. */
    public int queueKey() {
        return memory.get(Headers.U32, offset(ExtensionHeader.DETH));
    }

    /** Number of the queue pair that has sent a datagram. */
    public int sourceQueuePair() {
        return memory.get(Headers.U32, offset(ExtensionHeader.DETH) + Headers.DETH_SOURCE_OFFSET)
                & Headers.LOW_24;
    }

    /** Address of a write, read or atomic operation. */
    public long address() {
        return memory.get(Headers.U64, remoteOffset());
    }

    /** Key of the memory of a write, read or atomic operation. */
    public int key() {
        return memory.get(Headers.U32, remoteOffset() + Headers.KEY_OFFSET);
    }

    /**
     * Length of the whole write or read.
     *
     * @return 0 to 2^32 - 1
     */
    public long lengthBytes() {
        return Integer.toUnsignedLong(
                memory.get(Headers.U32, offset(ExtensionHeader.RETH) + Headers.RETH_LENGTH_OFFSET));
    }

    /** New value of a compare and swap, or the number that is added. */
    public long swapOrAdd() {
        return memory.get(
                Headers.U64, offset(ExtensionHeader.ATOMIC_ETH) + Headers.SWAP_OR_ADD_OFFSET);
    }

    /** Value that a compare and swap compares with. */
    public long compare() {
        return memory.get(Headers.U64, offset(ExtensionHeader.ATOMIC_ETH) + Headers.COMPARE_OFFSET);
    }

    /**
     * Syndrome of an acknowledgement or of data of a read; see {@link Syndrome}.
     *
     * @return 0 to 255
     */
    public int syndrome() {
        return Byte.toUnsignedInt(memory.get(Headers.U8, offset(ExtensionHeader.AETH)));
    }

    /** Message sequence number of an acknowledgement or of data of a read. */
    public int msn() {
        return memory.get(Headers.U32, offset(ExtensionHeader.AETH)) & Headers.LOW_24;
    }

    /** Value before an atomic operation. */
    public long valueBefore() {
        return memory.get(Headers.U64, offset(ExtensionHeader.ATOMIC_ACK_ETH));
    }

    /** Immediate: its high byte is the first one of the wire. */
    public int immediate() {
        return memory.get(Headers.U32, offset(ExtensionHeader.IMMEDIATE));
    }

    /** Key that the receiver is to invalidate. */
    public int invalidatedKey() {
        return memory.get(Headers.U32, offset(ExtensionHeader.INVALIDATE));
    }

    private long offset(ExtensionHeader header) {
        return at + opcode.offset(header);
    }

    /** Address and key are at the same places of a RETH and of an AtomicETH. */
    private long remoteOffset() {
        return offset(
                opcode.has(ExtensionHeader.RETH)
                        ? ExtensionHeader.RETH
                        : ExtensionHeader.ATOMIC_ETH);
    }
}
