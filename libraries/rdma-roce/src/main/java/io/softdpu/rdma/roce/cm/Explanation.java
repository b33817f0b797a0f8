package io.softdpu.rdma.roce.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Statement in the additional information of a REJ, or at the beginning of the private data of a
 * DREQ: whose message it is, and how many bytes of private data follow. That of a library is the
 * reason as text.
 *
 * <pre>
 * 0 CA GUID of the sender's end (8)   8 origin: 1 program, 2 library   9 bytes of private data
 * </pre>
 *
 * <p>The GUID is at the place where the specification has it in a REJ for a timeout, by which the
 * receiver finds the request (InfiniBand Architecture Specification, volume 1, table 108).
 * Immutable.
 *
 * @param byLibrary whether the library has ended it, and not the program
 * @param dataBytes 0 to 255
 */
record Explanation(long guid, boolean byLibrary, int dataBytes) {
    static final int WIRE_BYTES = 10;

    private static final long ORIGIN_OFFSET = 8;
    private static final long DATA_BYTES_OFFSET = 9;
    private static final byte PROGRAM = 1;
    private static final byte LIBRARY = 2;
    private static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    byte[] encode() {
        byte[] array = new byte[WIRE_BYTES];
        MemorySegment bytes = MemorySegment.ofArray(array);
        bytes.set(U64, 0, guid);
        bytes.set(U8, ORIGIN_OFFSET, byLibrary ? LIBRARY : PROGRAM);
        bytes.set(U8, DATA_BYTES_OFFSET, (byte) dataBytes);
        return array;
    }

    /** The GUID at the beginning of untrusted bytes; 0 if they are too short. */
    static long guid(byte[] bytes) {
        return bytes.length < Long.BYTES ? 0 : MemorySegment.ofArray(bytes).get(U64, 0);
    }

    /**
     * Decodes untrusted bytes.
     *
     * @param dataLimit of the bytes that can follow
     * @return null if they are none of softdpu, or no legal ones
     */
    static @Nullable Explanation decode(byte[] bytes, int dataLimit) {
        if (bytes.length < WIRE_BYTES || !EndGuid.isOne(guid(bytes))) {
            return null;
        }
        int origin = bytes[(int) ORIGIN_OFFSET];
        int data = Byte.toUnsignedInt(bytes[(int) DATA_BYTES_OFFSET]);
        return (origin != PROGRAM && origin != LIBRARY) || data > dataLimit
                ? null
                : new Explanation(guid(bytes), origin == LIBRARY, data);
    }

    /** A reason as bytes, cut to a limit. */
    static byte[] text(String reason, int limit) {
        byte[] bytes = reason.getBytes(StandardCharsets.US_ASCII);
        return bytes.length > limit ? Arrays.copyOf(bytes, limit) : bytes;
    }

    /** A reason of a peer: printable characters of ASCII, each other byte as a question mark. */
    static String foreignText(byte[] bytes, int from, int length) {
        StringBuilder text = new StringBuilder(length);
        for (int at = from; at < from + length; at++) {
            text.append(bytes[at] >= ' ' && bytes[at] < 0x7f ? (char) bytes[at] : '?');
        }
        return text.toString();
    }
}
