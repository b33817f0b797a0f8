package io.softdpu.comch.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.ring.MessageRing;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Common first 24 bytes of both handshake payloads.
 *
 * <pre>
 *   0  magic             u32  "CMCH"
 *   4  version           u16  2
 *   6  kind              u16  1 hello, 2 welcome
 *   8  max message size  u32  bytes
 *  12  receive queue     u32  messages
 *  16  ring slots        u32
 *  20  ring max payload  u32  bytes
 * </pre>
 */
final class Preamble {
    static final int WIRE_BYTES = 24;
    static final int KIND_HELLO = 1;
    static final int KIND_WELCOME = 2;

    static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MAGIC = 0x48434d43; // "CMCH" in memory order
    private static final int VERSION = 2;
    private static final int VERSION_OFFSET = 4;
    private static final int KIND_OFFSET = 6;
    private static final int MAX_MESSAGE_OFFSET = 8;
    private static final int QUEUE_OFFSET = 12;
    private static final int SLOTS_OFFSET = 16;
    private static final int PAYLOAD_OFFSET = 20;

    private Preamble() {}

    static void encode(MemorySegment bytes, int kind, ChannelTerms terms) {
        bytes.set(U32, 0, MAGIC);
        bytes.set(U16, VERSION_OFFSET, (short) VERSION);
        bytes.set(U16, KIND_OFFSET, (short) kind);
        bytes.set(U32, MAX_MESSAGE_OFFSET, terms.maxMessageBytes());
        bytes.set(U32, QUEUE_OFFSET, terms.receiveQueue());
        bytes.set(U32, SLOTS_OFFSET, terms.ring().slots());
        bytes.set(U32, PAYLOAD_OFFSET, terms.ring().maxPayloadBytes());
    }

    static ChannelTerms decode(MemorySegment bytes, int kind) {
        if (bytes.byteSize() < WIRE_BYTES) {
            throw refused("lengthBytes", bytes.byteSize(), "at least " + WIRE_BYTES);
        }
        int magic = bytes.get(U32, 0);
        if (magic != MAGIC) {
            throw refused("magic", Integer.toUnsignedLong(magic), Long.toString(MAGIC));
        }
        int version = Short.toUnsignedInt(bytes.get(U16, VERSION_OFFSET));
        if (version != VERSION) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    "handshake refused: version=" + version + ", supported=" + VERSION);
        }
        int foundKind = Short.toUnsignedInt(bytes.get(U16, KIND_OFFSET));
        if (foundKind != kind) {
            throw refused("kind", foundKind, Integer.toString(kind));
        }
        return new ChannelTerms(
                bytes.get(U32, MAX_MESSAGE_OFFSET),
                bytes.get(U32, QUEUE_OFFSET),
                geometry(bytes.get(U32, SLOTS_OFFSET), bytes.get(U32, PAYLOAD_OFFSET)));
    }

    static DpuException refused(String field, long found, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                "handshake refused: " + field + "=" + found + ", expected=" + expected);
    }

    private static MessageRing.Geometry geometry(int slots, int maxPayloadBytes) {
        try {
            return new MessageRing.Geometry(slots, maxPayloadBytes);
        } catch (IllegalArgumentException e) {
            throw new DpuException(Status.INVALID_VALUE, "handshake refused: " + e.getMessage(), e);
        }
    }
}
