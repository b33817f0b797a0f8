package io.softdpu.core.sync.wire;

import io.softdpu.core.DpuException;
import io.softdpu.fabric.wire.RegionAddress;

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

    private static final String REQUEST = "join request";
    private static final String REPLY = "join reply";
    private static final int MAGIC = 0x5344534a;
    private static final int VERSION = 1;

    /** The request. */
    public byte[] encode() {
        return begin(REQUEST, WIRE_BYTES).put(key).bytes();
    }

    /**
     * Decodes a request; each field is validated.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong; UNSUPPORTED_VERSION
     */
    public static JoinRequest decode(byte[] bytes) {
        return new JoinRequest(requireBegin(REQUEST, bytes, WIRE_BYTES).nextId());
    }

    /** The reply. */
    public static byte[] encodeReply() {
        return begin(REPLY, REPLY_BYTES).bytes();
    }

    /**
     * Validates a reply.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong; UNSUPPORTED_VERSION
     */
    public static void requireReply(byte[] bytes) {
        WireFields _ = requireBegin(REPLY, bytes, REPLY_BYTES);
    }

    private static WireFields begin(String what, int length) {
        return WireFields.write(what, length, MAGIC, VERSION).put((byte) 0).put((byte) 0);
    }

    private static WireFields requireBegin(String what, byte[] bytes, int length) {
        return WireFields.read(what, bytes, length, MAGIC, VERSION)
                .requireZero("reserved", "0")
                .requireZero("reserved", "0");
    }

    /** Omits the key. */
    @Override
    public String toString() {
        return REQUEST;
    }
}
