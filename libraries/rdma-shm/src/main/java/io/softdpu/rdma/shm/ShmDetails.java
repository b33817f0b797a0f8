package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.RnrTimer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Section of this provider in a connection blob: the address of the exporter's receive ring, and
 * the key by which a peer proves in its hello that it was given this blob.
 *
 * <pre>
 *  0  version      u32  3
 *  4  slots        u32  a power of two, up to 1,024
 *  8  max payload  u32  bytes of a slot, 256 to 16,384
 * 12  path MTU     u16  bytes, a power of two, 256 to 4,096
 * 14  RNR timer    u16  0 to 31, a code of the InfiniBand specification
 * 16  key          16 B random, one per connection
 * 32  region       80 B address of the exported region
 * </pre>
 *
 * All little-endian. Immutable, without I/O; any thread.
 */
record ShmDetails(
        MessageRing.Geometry geometry,
        Key key,
        RegionAddress region,
        int pathMtuBytes,
        RnrTimer rnrTimer) {
    static final int VERSION = 3;
    static final int WIRE_BYTES = 32 + RegionAddress.WIRE_BYTES;
    static final int MAX_SLOTS = 1024;
    static final int MIN_PAYLOAD_BYTES = 256;
    static final int MAX_PAYLOAD_BYTES = 16 << 10;

    static final int MIN_PATH_MTU_BYTES = 256;
    static final int MAX_PATH_MTU_BYTES = 4096;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** 128 random bits. */
    record Key(long first, long second) {
        void encode(MemorySegment bytes, long offset) {
            bytes.set(U64, offset, first);
            bytes.set(U64, offset + 8, second);
        }

        static Key decode(MemorySegment bytes, long offset) {
            return new Key(bytes.get(U64, offset), bytes.get(U64, offset + 8));
        }

        /** Without the key, which must not appear in logs. */
        @Override
        public String toString() {
            return "key";
        }
    }

    ShmDetails {
        if (geometry.slots() > MAX_SLOTS) {
            throw malformed("slots", geometry.slots(), "a power of two up to " + MAX_SLOTS);
        }
        if (geometry.maxPayloadBytes() < MIN_PAYLOAD_BYTES
                || geometry.maxPayloadBytes() > MAX_PAYLOAD_BYTES) {
            throw malformed(
                    "maxPayloadBytes",
                    geometry.maxPayloadBytes(),
                    MIN_PAYLOAD_BYTES + " to " + MAX_PAYLOAD_BYTES);
        }
        if (region.sizeBytes() != regionBytes(geometry)) {
            throw malformed("regionBytes", region.sizeBytes(), "" + regionBytes(geometry));
        }
        if (pathMtuBytes < MIN_PATH_MTU_BYTES
                || pathMtuBytes > MAX_PATH_MTU_BYTES
                || Integer.bitCount(pathMtuBytes) != 1) {
            throw malformed(
                    "pathMtuBytes",
                    pathMtuBytes,
                    "a power of two, " + MIN_PATH_MTU_BYTES + " to " + MAX_PATH_MTU_BYTES);
        }
    }

    /** Size of the region that holds a ring of this geometry. */
    static long regionBytes(MessageRing.Geometry geometry) {
        return ShmWire.RING_OFFSET + geometry.sizeBytes();
    }

    byte[] encode() {
        byte[] array = new byte[WIRE_BYTES];
        MemorySegment bytes = MemorySegment.ofArray(array);
        bytes.set(U32, 0, VERSION);
        bytes.set(U32, 4, geometry.slots());
        bytes.set(U32, 8, geometry.maxPayloadBytes());
        bytes.set(U16, 12, (short) pathMtuBytes);
        bytes.set(U16, 14, (short) rnrTimer.code());
        key.encode(bytes, 16);
        region.encode(bytes, 32);
        return array;
    }

    /**
     * Decodes an untrusted section.
     *
     * @throws DpuException INVALID_VALUE naming the illegal field, UNSUPPORTED_VERSION for another
     *     version
     */
    static ShmDetails decode(byte[] section) {
        MemorySegment bytes = MemorySegment.ofArray(section.clone());
        if (bytes.byteSize() < 4) {
            throw wrongSize(bytes);
        }
        int version = bytes.get(U32, 0);
        if (version != VERSION) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    "shm connection details refused: version=" + version + ", expected=" + VERSION);
        }
        if (bytes.byteSize() != WIRE_BYTES) {
            throw wrongSize(bytes);
        }
        int rnrTimer = Short.toUnsignedInt(bytes.get(U16, 14));
        if (!RnrTimer.isCode(rnrTimer)) {
            throw malformed("rnrTimerCode", rnrTimer, "0 to 31");
        }
        try {
            return new ShmDetails(
                    new MessageRing.Geometry(bytes.get(U32, 4), bytes.get(U32, 8)),
                    Key.decode(bytes, 16),
                    RegionAddress.decode(bytes, 32),
                    Short.toUnsignedInt(bytes.get(U16, 12)),
                    new RnrTimer(rnrTimer));
        } catch (IllegalArgumentException | FabricException e) {
            throw new DpuException(
                    Status.INVALID_VALUE, "shm connection details refused: " + e.getMessage(), e);
        }
    }

    private static DpuException wrongSize(MemorySegment bytes) {
        return malformed("sizeBytes", bytes.byteSize(), "" + WIRE_BYTES);
    }

    private static DpuException malformed(String key, long value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "shm connection details refused: %s=%d, expected=%s",
                        key, value, expected));
    }
}
