package io.softdpu.core.memory.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Content of an export blob; version 2, 200 bytes, big-endian except for the region's address,
 * which has its own format.
 *
 * <pre>
 *   0  u32   magic 0x53444d58 ("SDMX")
 *   4  u16   version, 2
 *   6  u16   kind: 1 PCI, 2 RDMA
 *   8  u32   permissions
 *  12  u32   RDMA: key of the export, not 0;         PCI: 0
 *  16  u64   size of the range in bytes, at least 1
 *  24  u64   address of the first byte, unsigned
 *  32  16 B  RDMA: GID of the exporting device;      PCI: 0
 *  48  32 B  SHA-256 of the exporter's topology
 *  80  80 B  region: kernel boot id, fabric, exporter, region, 128-bit key, size ({@link RegionAddress})
 * 160  u8    side of the exporting device: 0 host, 1 dpu, 2 target
 * 161  u8    length of its interface name, 1 to 32
 * 162  32 B  its interface name, ASCII, filled up with 0
 * 194  u16   0
 * 196  u32   CRC-32C of the bytes before it
 * </pre>
 *
 * @param kind importer of the export
 * @param permissions {@link AccessBits}: all of the mmap for PCI; only the {@code RDMA_*} ones for
 *     RDMA
 * @param remoteKey the RDMA key; 0 for PCI
 * @param sizeBytes the size of the range
 * @param address the first byte's address
 * @param gid 16 bytes
 * @param topologySha256 32 bytes
 * @param region address of the memory on the bus
 * @param side the side of the exporting device
 * @param interfaceName the interface name of the exporting device
 */
@SuppressWarnings("ArrayRecordComponent") // equals, hashCode and the accessors see to the arrays
public record ExportDescriptor(
        Kind kind,
        int permissions,
        int remoteKey,
        long sizeBytes,
        long address,
        byte[] gid,
        byte[] topologySha256,
        RegionAddress region,
        Side side,
        String interfaceName) {

    /** Size of the encoded form. */
    public static final int WIRE_BYTES = 200;

    /** The version that is encoded, and the only one that is decoded. */
    public static final int VERSION = 2;

    private static final int MAGIC = 0x53444d58;
    private static final int NAME_BYTES = 32;
    private static final int GID_BYTES = 16;
    private static final int HASH_BYTES = 32;

    private static final long AT_MAGIC = 0;
    private static final long AT_VERSION = 4;
    private static final long AT_KIND = 6;
    private static final long AT_PERMISSIONS = 8;
    private static final long AT_REMOTE_KEY = 12;
    private static final long AT_SIZE = 16;
    private static final long AT_ADDRESS = 24;
    private static final long AT_GID = 32;
    private static final long AT_TOPOLOGY = 48;
    private static final long AT_REGION = 80;
    private static final long AT_SIDE = 160;
    private static final long AT_NAME_LENGTH = 161;
    private static final long AT_NAME = 162;
    private static final long AT_PADDING = 194;
    private static final int AT_CHECK = 196;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Importers of an export. */
    public enum Kind {
        /** The other side of the PCIe bus. */
        PCI(1),
        /** An RDMA peer. */
        RDMA(2);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        static Kind ofCode(int code) {
            return switch (code) {
                case 1 -> PCI;
                case 2 -> RDMA;
                default -> throw refused("kind", code, "1 (PCI) or 2 (RDMA)");
            };
        }
    }

    /**
     * Refuses illegal values.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong
     */
    public ExportDescriptor {
        AccessBits.requireLegal(permissions);
        gid = gid.clone();
        topologySha256 = topologySha256.clone();
        if (gid.length != GID_BYTES || topologySha256.length != HASH_BYTES) {
            throw refused("array length", gid.length + "+" + topologySha256.length, "16+32");
        }
        if (sizeBytes < 1 || sizeBytes != region.sizeBytes()) {
            throw refused("size", sizeBytes, "that of the region, " + region.sizeBytes());
        }
        if (Long.compareUnsigned(address + sizeBytes - 1, address) < 0) {
            throw refused("address", Long.toHexString(address), "a range that does not wrap");
        }
        switch (kind) {
            case PCI -> {
                if ((permissions & AccessBits.PCI) == 0) {
                    throw refused("permissions", AccessBits.describe(permissions), "one of PCI_*");
                }
                if (remoteKey != 0 || !Arrays.equals(gid, new byte[GID_BYTES])) {
                    throw refused("key and GID", remoteKey, "0 in a PCI export");
                }
            }
            case RDMA -> {
                if ((permissions & AccessBits.RDMA) == 0) {
                    throw refused("permissions", AccessBits.describe(permissions), "one of RDMA_*");
                }
                if ((permissions & (AccessBits.PCI | AccessBits.LOCAL_READ_WRITE)) != 0) {
                    throw refused("permissions", AccessBits.describe(permissions), "RDMA_* alone");
                }
                if (remoteKey == 0) {
                    throw refused("key", remoteKey, "not 0 in an RDMA export");
                }
            }
        }
        if (interfaceName.isEmpty()
                || interfaceName.length() > NAME_BYTES
                || !interfaceName.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw refused("interface name", interfaceName.length(), "1 to 32 printing ASCII");
        }
    }

    /** The GID, a copy. */
    @Override
    public byte[] gid() {
        return gid.clone();
    }

    /** The topology's hash, a copy. */
    @Override
    public byte[] topologySha256() {
        return topologySha256.clone();
    }

    /** The blob: {@link #WIRE_BYTES} bytes. */
    public byte[] encode() {
        byte[] bytes = new byte[WIRE_BYTES];
        MemorySegment blob = MemorySegment.ofArray(bytes);
        blob.set(U32, AT_MAGIC, MAGIC);
        blob.set(U16, AT_VERSION, (short) VERSION);
        blob.set(U16, AT_KIND, (short) kind.code);
        blob.set(U32, AT_PERMISSIONS, permissions);
        blob.set(U32, AT_REMOTE_KEY, remoteKey);
        blob.set(U64, AT_SIZE, sizeBytes);
        blob.set(U64, AT_ADDRESS, address);
        MemorySegment.copy(MemorySegment.ofArray(gid), 0, blob, AT_GID, GID_BYTES);
        MemorySegment.copy(MemorySegment.ofArray(topologySha256), 0, blob, AT_TOPOLOGY, HASH_BYTES);
        region.encode(blob, AT_REGION);
        blob.set(ValueLayout.JAVA_BYTE, AT_SIDE, (byte) codeOf(side));
        byte[] name = interfaceName.getBytes(StandardCharsets.US_ASCII);
        blob.set(ValueLayout.JAVA_BYTE, AT_NAME_LENGTH, (byte) name.length);
        MemorySegment.copy(MemorySegment.ofArray(name), 0, blob, AT_NAME, name.length);
        blob.set(U32, AT_CHECK, checkOf(bytes));
        return bytes;
    }

    /**
     * CRC-32C of the blob. The exporter does not check address, keys, GID and permissions again: a
     * change of them in transit would only show as wrong data later.
     */
    private static int checkOf(byte[] bytes) {
        CRC32C check = new CRC32C();
        check.update(bytes, 0, AT_CHECK);
        return (int) check.getValue();
    }

    /**
     * Decodes a blob; each field is validated.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong; UNSUPPORTED_VERSION for a
     *     blob of another version
     */
    public static ExportDescriptor decode(byte[] bytes) {
        if (bytes.length != WIRE_BYTES) {
            throw refused("length", bytes.length, "200");
        }
        byte[] copy = bytes.clone();
        MemorySegment blob = MemorySegment.ofArray(copy);
        int magic = blob.get(U32, AT_MAGIC);
        if (magic != MAGIC) {
            throw refused("magic", Integer.toHexString(magic), "53444d58");
        }
        int version = Short.toUnsignedInt(blob.get(U16, AT_VERSION));
        if (version != VERSION) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    "export blob of another version: version=" + version + ", expected=" + VERSION);
        }
        ExportDescriptor read = read(blob);
        int check = blob.get(U32, AT_CHECK);
        if (check != checkOf(copy)) { // last, so that an illegal field is named
            throw refused(
                    "check",
                    Integer.toHexString(check),
                    Integer.toHexString(checkOf(copy)) + ", the CRC-32C of the blob");
        }
        return read;
    }

    private static ExportDescriptor read(MemorySegment blob) {
        return new ExportDescriptor(
                Kind.ofCode(Short.toUnsignedInt(blob.get(U16, AT_KIND))),
                AccessBits.requireLegal(blob.get(U32, AT_PERMISSIONS)),
                blob.get(U32, AT_REMOTE_KEY),
                blob.get(U64, AT_SIZE),
                blob.get(U64, AT_ADDRESS),
                bytesAt(blob, AT_GID, GID_BYTES),
                bytesAt(blob, AT_TOPOLOGY, HASH_BYTES),
                regionAt(blob),
                sideOfCode(blob.get(ValueLayout.JAVA_BYTE, AT_SIDE)),
                nameAt(blob));
    }

    private static RegionAddress regionAt(MemorySegment blob) {
        try {
            return RegionAddress.decode(blob, AT_REGION);
        } catch (FabricException e) {
            throw new DpuException(
                    Status.INVALID_VALUE, "export blob refused: " + e.getMessage(), e);
        }
    }

    private static String nameAt(MemorySegment blob) {
        int length = Byte.toUnsignedInt(blob.get(ValueLayout.JAVA_BYTE, AT_NAME_LENGTH));
        if (length < 1 || length > NAME_BYTES) {
            throw refused("length of interface name", length, "1 to 32");
        }
        for (long at = AT_NAME + length; at < AT_CHECK; at++) {
            if (blob.get(ValueLayout.JAVA_BYTE, at) != 0) {
                throw refused(at < AT_PADDING ? "end of interface name" : "padding", at, "0");
            }
        }
        return new String(bytesAt(blob, AT_NAME, length), StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytesAt(MemorySegment blob, long offset, int length) {
        return blob.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private static int codeOf(Side side) {
        return switch (side) {
            case HOST -> 0;
            case DPU -> 1;
            case TARGET -> 2;
        };
    }

    private static Side sideOfCode(byte code) {
        return switch (code) {
            case 0 -> Side.HOST;
            case 1 -> Side.DPU;
            case 2 -> Side.TARGET;
            default -> throw refused("side", code, "0 (host), 1 (dpu) or 2 (target)");
        };
    }

    private static DpuException refused(String field, Object value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "export blob refused: field=%s, value=%s, expected=%s",
                        field, value, expected));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ExportDescriptor d && Arrays.equals(encode(), d.encode());
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, region, remoteKey);
    }

    /** Omits the keys: a reader of a log must not be able to import. */
    @Override
    public String toString() {
        return Text.format(
                "kind=%s, device=%s/%s, permissions=%s, sizeBytes=%d, topology=%s",
                kind,
                side.id(),
                interfaceName,
                AccessBits.describe(permissions),
                sizeBytes,
                HexFormat.of().formatHex(topologySha256, 0, 4));
    }
}
