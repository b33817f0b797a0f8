package io.softdpu.rdma.roce.rc;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.spi.LocalList;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Packet for a {@link PacketSink}: the bytes of its headers, and references to the pieces of memory
 * that have its payload. Padding and ICRC are left to the sink.
 *
 * <p>One object per adapter, used again for each packet. Allocates nothing after its construction.
 */
public final class OutgoingPacket {
    private static final Gid NOWHERE = new Gid(0, 0);

    private final MemorySegment headers = MemorySegment.ofArray(new byte[Headers.MAX_HEADER_BYTES]);
    private final MemorySegment word = MemorySegment.ofArray(new long[1]);
    private final @Nullable MemorySegment[] memories;
    private final long[] offsets;
    private final int[] lengths;
    private Gid destination = NOWHERE;
    private int sourcePort;
    private Opcode opcode = Opcode.ACKNOWLEDGE;
    private int payloadBytes;
    private int pieces;

    /**
     * A packet without content.
     *
     * @param maxPieces limit of the pieces of its payload
     */
    public OutgoingPacket(int maxPieces) {
        memories = new @Nullable MemorySegment[maxPieces];
        offsets = new long[maxPieces];
        lengths = new int[maxPieces];
    }

    /**
     * Begins a packet with its base transport header. The extension headers are written into {@link
     * #headers} at the offsets of the opcode, the payload is added piece by piece.
     *
     * @param to address of the peer
     * @param fromPort UDP port of the sender
     * @param queuePair of the peer
     * @param bytes size of the payload
     */
    public void begin(
            Gid to,
            int fromPort,
            Opcode code,
            int queuePair,
            boolean acknowledge,
            int psn,
            int bytes) {
        destination = to;
        sourcePort = fromPort;
        opcode = code;
        payloadBytes = bytes;
        pieces = 0;
        Headers.writeBth(
                headers,
                0,
                code,
                Headers.MIGRATED,
                Headers.paddingBytes(bytes),
                queuePair,
                acknowledge,
                psn);
    }

    /** Adds a piece of memory to the payload. */
    public void add(MemorySegment memory, long offset, int bytes) {
        memories[pieces] = memory;
        offsets[pieces] = offset;
        lengths[pieces] = bytes;
        pieces++;
    }

    /** Adds the bytes of the payload from the position of a list, which moves behind them. */
    void gather(LocalList from) {
        int left = payloadBytes;
        while (left > 0) {
            int piece = (int) Math.min(left, from.pieceBytes());
            add(from.piece(), from.pieceOffset(), piece);
            from.advance(piece);
            left -= piece;
        }
    }

    /** Adds eight bytes, as they are in the memory of a long. */
    void addWord(long value) {
        word.set(ValueLayout.JAVA_LONG, 0, value);
        add(word, 0, Long.BYTES);
    }

    /** Address of the peer's adapter. */
    public Gid destination() {
        return destination;
    }

    /** UDP port of the sender: one per queue pair, so that the network may spread them. */
    public int sourcePort() {
        return sourcePort;
    }

    /** The opcode. */
    public Opcode opcode() {
        return opcode;
    }

    /** Memory whose first {@link #headerBytes()} are the headers. */
    public MemorySegment headers() {
        return headers;
    }

    /** Size of all headers. */
    public int headerBytes() {
        return opcode.headerBytes();
    }

    /** Size of the payload. */
    public int payloadBytes() {
        return payloadBytes;
    }

    /** Number of bytes between payload and ICRC, which are zero. */
    public int paddingBytes() {
        return Headers.paddingBytes(payloadBytes);
    }

    /** Size of the whole packet with its ICRC. */
    public int bytes() {
        return headerBytes() + payloadBytes + paddingBytes() + Headers.ICRC_BYTES;
    }

    /** Number of pieces of the payload. */
    public int pieces() {
        return pieces;
    }

    /** Memory of a piece. */
    public MemorySegment memory(int piece) {
        MemorySegment memory = memories[piece];
        return memory == null ? MemorySegment.NULL : memory;
    }

    /** Offset of a piece in its memory. */
    public long offset(int piece) {
        return offsets[piece];
    }

    /** Size of a piece. */
    public int length(int piece) {
        return lengths[piece];
    }
}
