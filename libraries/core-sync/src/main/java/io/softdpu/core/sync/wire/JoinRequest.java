package io.softdpu.core.sync.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Payload of the handshake by which a handle joins a sync event; version 1, 24 bytes, big-endian:
 * u32 magic 0x5344534a ("SDSJ"), u16 version, u16 0, 16 B key. The reply, {@link #REPLY_BYTES}, has
 * the first 8 of these bytes.
 *
 * @param key the key of the export blob
 */
public record JoinRequest(RegionAddress.Id key) {
    /** Size of the encoded request. */
    public static final int WIRE_BYTES = 24;

    /** Size of the encoded reply. */
    public static final int REPLY_BYTES = 8;

    private static final int MAGIC = 0x5344534a;
    private static final int VERSION = 1;
    private static final long AT_VERSION = 4;
    private static final long AT_RESERVED = 6;
    private static final long AT_KEY = 8;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** The request. */
    public byte[] encode() {
        byte[] bytes = new byte[WIRE_BYTES];
        begin(bytes);
        BlobFields.put(MemorySegment.ofArray(bytes), AT_KEY, key);
        return bytes;
    }

    /**
     * Decodes a request; each field is validated.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong; UNSUPPORTED_VERSION
     */
    public static JoinRequest decode(byte[] bytes) {
        requireBegin("request", bytes, WIRE_BYTES);
        return new JoinRequest(BlobFields.idAt(MemorySegment.ofArray(bytes), AT_KEY));
    }

    /** The reply. */
    public static byte[] encodeReply() {
        byte[] bytes = new byte[REPLY_BYTES];
        begin(bytes);
        return bytes;
    }

    /**
     * Validates a reply.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong; UNSUPPORTED_VERSION
     */
    public static void requireReply(byte[] bytes) {
        requireBegin("reply", bytes, REPLY_BYTES);
    }

    private static void begin(byte[] bytes) {
        MemorySegment payload = MemorySegment.ofArray(bytes);
        payload.set(U32, 0, MAGIC);
        payload.set(U16, AT_VERSION, (short) VERSION);
    }

    private static void requireBegin(String what, byte[] bytes, int length) {
        if (bytes.length != length) {
            throw refused(what, "length", bytes.length, length);
        }
        MemorySegment payload = MemorySegment.ofArray(bytes);
        if (payload.get(U32, 0) != MAGIC) {
            throw refused(
                    what,
                    "magic",
                    Integer.toHexString(payload.get(U32, 0)),
                    Integer.toHexString(MAGIC));
        }
        int version = Short.toUnsignedInt(payload.get(U16, AT_VERSION));
        if (version != VERSION) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    Text.format(
                            "join %s of another version: version=%d, expected=%d",
                            what, version, VERSION));
        }
        if (payload.get(U16, AT_RESERVED) != 0) {
            throw refused(what, "reserved", payload.get(U16, AT_RESERVED), 0);
        }
    }

    private static DpuException refused(String what, String field, Object value, Object expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "join %s refused: field=%s, value=%s, expected=%s",
                        what, field, value, expected));
    }

    /** Omits the key. */
    @Override
    public String toString() {
        return "join request";
    }
}
