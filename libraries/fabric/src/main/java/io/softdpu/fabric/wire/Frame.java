package io.softdpu.fabric.wire;

import io.softdpu.fabric.error.FabricException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The frames of the handshake, one datagram each on a SOCK_SEQPACKET socket, little-endian.
 *
 * <pre>
 *  0  magic    u32  "SDPU"
 *  4  version  u16  1
 *  6  type     u16  1 HELLO, 2 WELCOME, 3 REFUSE, 4 LEASE, 5 GRANT
 *  8  length   u32  of the whole frame
 * 12  reserved u32  0
 * 16  body
 *
 * HELLO, WELCOME   0 memory size u64   8 payload length u32  12 reserved u32  16 payload
 *                  with one descriptor: the sender's inbound memory
 * REFUSE           0 code u32          4 text length u32      8 text, UTF-8
 * LEASE            0 region id u64     8 key 16 B            24 writable u8, 7 reserved
 * GRANT            0 size u64          8 writable u8          9 generations u8  10 reserved 6 B
 *                 16 generation u64, one or two
 *                  with descriptors: the memory, then a generation page for each generation
 * </pre>
 *
 * <p>Pure: bytes in, values out. {@link #decode} copies and checks everything at once, so that a
 * decoded frame holds legal values only.
 */
@SuppressWarnings("ArrayRecordComponent") // frames are built, sent and taken apart, never compared
public sealed interface Frame {
    int HEADER_BYTES = 16;
    int MAX_BYTES = 8192;
    int MAX_PAYLOAD_BYTES = 4096;
    int MAX_TEXT_BYTES = 1024;
    int MAX_GENERATIONS = 2;
    int MAGIC = 0x55504453; // "SDPU" in memory order
    int VERSION = 1;

    /** Request of a client to connect to a named endpoint. */
    record Hello(long memoryBytes, byte[] payload) implements Frame {}

    /** The endpoint accepts the client. */
    record Welcome(long memoryBytes, byte[] payload) implements Frame {}

    /** The endpoint or the exporter refuses. */
    record Refuse(int code, String text) implements Frame {}

    /** Request of an importer for the descriptor of a region. */
    record Lease(long regionId, RegionAddress.Id key, boolean writable) implements Frame {}

    /** The exporter sends the descriptor. */
    record Grant(long sizeBytes, boolean writable, long[] generations) implements Frame {}

    /** Encodes a frame. */
    static byte[] encode(Frame frame) {
        return switch (frame) {
            case Hello(long memoryBytes, byte[] payload) -> joining(1, memoryBytes, payload);
            case Welcome(long memoryBytes, byte[] payload) -> joining(2, memoryBytes, payload);
            case Refuse(int code, String text) -> refuse(code, text);
            case Lease lease -> lease(lease);
            case Grant grant -> grant(grant);
        };
    }

    /** Decodes a received frame, or throws MALFORMED saying which field was wrong. */
    static Frame decode(MemorySegment received, int lengthBytes) {
        if (lengthBytes < HEADER_BYTES || lengthBytes > MAX_BYTES) {
            throw malformed("length", lengthBytes, HEADER_BYTES + " to " + MAX_BYTES);
        }
        Reader reader = new Reader(received.asSlice(0, lengthBytes).toArray(ValueLayout.JAVA_BYTE));
        reader.expect("magic", reader.u32(0), MAGIC);
        reader.expect("version", reader.u16(4), VERSION);
        reader.expect("frame length", reader.u32(8), lengthBytes);
        reader.expect("reserved", reader.u32(12), 0);
        int type = reader.u16(6);
        return switch (type) {
            case 1 -> new Hello(reader.size(0), reader.payload());
            case 2 -> new Welcome(reader.size(0), reader.payload());
            case 3 ->
                    new Refuse(
                            reader.body32(0),
                            new String(reader.block(4, 8, MAX_TEXT_BYTES), StandardCharsets.UTF_8));
            case 4 -> decodeLease(reader);
            case 5 -> decodeGrant(reader);
            default -> throw malformed("type", type, "1 to 5");
        };
    }

    private static Lease decodeLease(Reader reader) {
        reader.exactBody(32);
        reader.zero(25, 32);
        return new Lease(
                reader.body64(0),
                RegionAddress.Id.decode(reader.segment, HEADER_BYTES + 8L),
                reader.flag(24));
    }

    private static Grant decodeGrant(Reader reader) {
        reader.atLeastBody(16);
        int count = reader.body8(9);
        if (count < 1 || count > MAX_GENERATIONS) {
            throw malformed("generations", count, "1 to " + MAX_GENERATIONS);
        }
        reader.exactBody(16 + 8 * count);
        reader.zero(10, 16);
        long[] generations = new long[count];
        for (int i = 0; i < count; i++) {
            generations[i] = reader.body64(16 + 8 * i);
        }
        return new Grant(reader.size(0), reader.flag(8), generations);
    }

    private static byte[] joining(int type, long memoryBytes, byte[] payload) {
        Writer writer = new Writer(type, 16 + payload.length);
        writer.u64(0, memoryBytes);
        writer.u32(8, payload.length);
        return writer.bytes(16, payload);
    }

    private static byte[] refuse(int code, String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(encoded.length, MAX_TEXT_BYTES);
        Writer writer = new Writer(3, 8 + length);
        writer.u32(0, code);
        writer.u32(4, length);
        return writer.bytes(8, java.util.Arrays.copyOf(encoded, length));
    }

    private static byte[] lease(Lease lease) {
        Writer writer = new Writer(4, 32);
        writer.u64(0, lease.regionId());
        lease.key().encode(writer.segment, HEADER_BYTES + 8L);
        writer.u8(24, lease.writable() ? 1 : 0);
        return writer.frame;
    }

    private static byte[] grant(Grant grant) {
        int count = grant.generations().length;
        Writer writer = new Writer(5, 16 + 8 * count);
        writer.u64(0, grant.sizeBytes());
        writer.u8(8, grant.writable() ? 1 : 0);
        writer.u8(9, count);
        for (int i = 0; i < count; i++) {
            writer.u64(16 + 8 * i, grant.generations()[i]);
        }
        return writer.frame;
    }

    private static FabricException malformed(String field, Object got, Object expected) {
        return new FabricException(
                FabricException.Kind.MALFORMED,
                "frame refused: field=" + field + ", got=" + got + ", expected=" + expected);
    }

    /**
     * Little-endian access to a private copy of the received frame; offsets count from the body.
     */
    final class Reader {
        private static final ValueLayout.OfShort U16 =
                ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final ValueLayout.OfInt U32 =
                ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final ValueLayout.OfLong U64 =
                ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

        private final MemorySegment segment;

        private Reader(byte[] frame) {
            this.segment = MemorySegment.ofArray(frame);
        }

        private int u16(long offset) {
            return segment.get(U16, offset) & 0xffff;
        }

        private int u32(long offset) {
            return segment.get(U32, offset);
        }

        private void atLeastBody(int bytes) {
            if (segment.byteSize() - HEADER_BYTES < bytes) {
                throw malformed("body", segment.byteSize() - HEADER_BYTES, "at least " + bytes);
            }
        }

        private void exactBody(int bytes) {
            if (segment.byteSize() - HEADER_BYTES != bytes) {
                throw malformed("body", segment.byteSize() - HEADER_BYTES, bytes);
            }
        }

        private int body8(int offset) {
            atLeastBody(offset + 1);
            return segment.get(ValueLayout.JAVA_BYTE, HEADER_BYTES + (long) offset) & 0xff;
        }

        private int body32(int offset) {
            atLeastBody(offset + 4);
            return u32(HEADER_BYTES + (long) offset);
        }

        private long body64(int offset) {
            atLeastBody(offset + 8);
            return segment.get(U64, HEADER_BYTES + (long) offset);
        }

        private boolean flag(int offset) {
            int value = body8(offset);
            if (value > 1) {
                throw malformed("flag", value, "0 or 1");
            }
            return value == 1;
        }

        private void zero(int from, int to) {
            for (int offset = from; offset < to; offset++) {
                int value = body8(offset);
                if (value != 0) {
                    throw malformed("reserved", value, 0);
                }
            }
        }

        private long size(int offset) {
            long value = body64(offset);
            if (value < 1) {
                throw malformed("size", value, "at least 1");
            }
            return value;
        }

        private byte[] payload() {
            zero(12, 16);
            return block(8, 16, MAX_PAYLOAD_BYTES);
        }

        private byte[] block(int lengthOffset, int start, int limit) {
            int length = body32(lengthOffset);
            if (length < 0 || length > limit) {
                throw malformed("block length", length, "0 to " + limit);
            }
            exactBody(start + length);
            return segment.asSlice(HEADER_BYTES + (long) start, length)
                    .toArray(ValueLayout.JAVA_BYTE);
        }

        private void expect(String field, int got, int expected) {
            if (got != expected) {
                throw malformed(
                        field,
                        "0x" + Integer.toHexString(got),
                        "0x" + Integer.toHexString(expected));
            }
        }
    }

    /** Builds a frame; offsets count from the body. */
    final class Writer {
        private final byte[] frame;
        private final MemorySegment segment;

        private Writer(int type, int bodyBytes) {
            this.frame = new byte[HEADER_BYTES + bodyBytes];
            this.segment = MemorySegment.ofArray(frame);
            segment.set(Reader.U32, 0, MAGIC);
            segment.set(Reader.U16, 4, (short) VERSION);
            segment.set(Reader.U16, 6, (short) type);
            segment.set(Reader.U32, 8, frame.length);
        }

        private void u8(int offset, int value) {
            segment.set(ValueLayout.JAVA_BYTE, HEADER_BYTES + (long) offset, (byte) value);
        }

        private void u32(int offset, int value) {
            segment.set(Reader.U32, HEADER_BYTES + (long) offset, value);
        }

        private void u64(int offset, long value) {
            segment.set(Reader.U64, HEADER_BYTES + (long) offset, value);
        }

        private byte[] bytes(int offset, byte[] value) {
            System.arraycopy(value, 0, frame, HEADER_BYTES + offset, value.length);
            return frame;
        }
    }

    /** Copies an encoded frame to native memory for a send. */
    static MemorySegment toNative(byte[] frame, Arena arena) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, frame);
    }
}
