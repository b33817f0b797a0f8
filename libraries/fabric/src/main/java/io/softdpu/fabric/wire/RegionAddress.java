package io.softdpu.fabric.wire;

import io.softdpu.fabric.error.FabricException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * Address of an exported region for the processes of one kernel: the exporter's bus, the region id,
 * and the key that shows that the importer was given this address.
 *
 * <pre>
 *   0  boot id    16 B   of the kernel
 *  16  fabric id  16 B   device and inode of the fabric folder
 *  32  bus id     16 B   random, one per bus
 *  48  region id  u64
 *  56  key        16 B   random, one per export
 *  72  size       u64    bytes
 * </pre>
 *
 * All little-endian. An immutable value.
 */
public record RegionAddress(
        Id bootId, Id fabricId, Id busId, long regionId, Id key, long sizeBytes) {
    /** Size of the encoded form. */
    public static final int WIRE_BYTES = 80;

    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Number of 128 bits. */
    public record Id(long high, long low) {
        static final int WIRE_BYTES = 16;

        void encode(MemorySegment bytes, long offset) {
            bytes.set(U64, offset, high);
            bytes.set(U64, offset + 8, low);
        }

        static Id decode(MemorySegment bytes, long offset) {
            return new Id(bytes.get(U64, offset), bytes.get(U64, offset + 8));
        }

        @Override
        public String toString() {
            HexFormat hex = HexFormat.of();
            return hex.toHexDigits(high) + hex.toHexDigits(low);
        }
    }

    /** Refuses a size that is not positive. */
    public RegionAddress {
        if (sizeBytes < 1) {
            throw new FabricException(
                    FabricException.Kind.MALFORMED,
                    "region address refused: sizeBytes=" + sizeBytes + ", expected=at least 1");
        }
    }

    /** Writes {@link #WIRE_BYTES} bytes. */
    public void encode(MemorySegment bytes, long offset) {
        bootId.encode(bytes, offset);
        fabricId.encode(bytes, offset + 16);
        busId.encode(bytes, offset + 32);
        bytes.set(U64, offset + 48, regionId);
        key.encode(bytes, offset + 56);
        bytes.set(U64, offset + 72, sizeBytes);
    }

    /**
     * Reads {@link #WIRE_BYTES} bytes from private memory; MALFORMED if they cannot be an address.
     */
    public static RegionAddress decode(MemorySegment bytes, long offset) {
        if (offset < 0 || bytes.byteSize() - offset < WIRE_BYTES) {
            throw new FabricException(
                    FabricException.Kind.MALFORMED,
                    "region address refused: bytes="
                            + (bytes.byteSize() - offset)
                            + ", expected="
                            + WIRE_BYTES);
        }
        return new RegionAddress(
                Id.decode(bytes, offset),
                Id.decode(bytes, offset + 16),
                Id.decode(bytes, offset + 32),
                bytes.get(U64, offset + 48),
                Id.decode(bytes, offset + 56),
                bytes.get(U64, offset + 72));
    }

    /** Omits the key: a reader of a log must not be able to import. */
    @Override
    public String toString() {
        return "region=" + regionId + ", bus=" + busId + ", sizeBytes=" + sizeBytes;
    }
}
