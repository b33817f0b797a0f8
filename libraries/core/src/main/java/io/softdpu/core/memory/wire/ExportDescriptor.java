package io.softdpu.core.memory.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.BlobKind;
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
 * Content of an export blob; version 3, 142 to 173 bytes, big-endian except for the region's
 * address, which has its own format. It fits into the private data of an RDMA connection that is
 * accepted, 196 bytes, so it has nothing twice and no padding.
 *
 * <pre>
 *   0  u32   magic 0x53444d58 ("SDMX")
 *   4  u16   version, 3
 *   6  u8    kind: 1 PCI, 2 RDMA
 *   7  u8    side of the exporting device: 0 host, 1 dpu, 2 target
 *   8  u32   permissions
 *  12  u32   RDMA: key of the export, not 0;         PCI: 0
 *  16  u64   address of the first byte, unsigned
 *  24  16 B  RDMA: GID of the exporting device;      PCI: 0
 *  40  16 B  SHA-256 of the exporter's topology, its first half
 *  56  80 B  region: kernel boot id, fabric, exporter, region, 128-bit key, size ({@link RegionAddress})
 * 136  u8    length n of the exporting device's interface name, 1 to 32
 * 137  n B   its interface name, ASCII
 * then u32   CRC-32C of the bytes before it
 * </pre>
 *
 * @param kind importer of the export
 * @param permissions {@link AccessBits}: all of the mmap for PCI; only the {@code RDMA_*} ones for
 *     RDMA
 * @param remoteKey the RDMA key; 0 for PCI
 * @param address the first byte's address
 * @param gid 16 bytes
 * @param topologyDigest 16 bytes, the first ones of the topology's SHA-256
 * @param region address of the memory on the bus, with its size
 * @param side the side of the exporting device
 * @param interfaceName the interface name of the exporting device
 */
@SuppressWarnings("ArrayRecordComponent") // equals, hashCode and the accessors see to the arrays
public record ExportDescriptor(
        Kind kind,
        int permissions,
        int remoteKey,
        long address,
        byte[] gid,
        byte[] topologyDigest,
        RegionAddress region,
        Side side,
        String interfaceName) {

    /** Size of the digest of a topology. */
    public static final int DIGEST_BYTES = 16;

    /** The version that is encoded, and the only one that is decoded. */
    public static final int VERSION = 3;

    private static final int MAGIC = 0x53444d58;
    private static final int NAME_BYTES = 32;
    private static final int GID_BYTES = 16;
    private static final int CHECK_BYTES = 4;

    private static final long AT_MAGIC = 0;
    private static final long AT_VERSION = 4;
    private static final int VERSION_END = 6;
    private static final long AT_KIND = 6;
    private static final long AT_SIDE = 7;
    private static final long AT_PERMISSIONS = 8;
    private static final long AT_REMOTE_KEY = 12;
    private static final long AT_ADDRESS = 16;
    private static final long AT_GID = 24;
    private static final long AT_TOPOLOGY = 40;
    private static final long AT_REGION = 56;
    private static final long AT_NAME_LENGTH = 136;
    private static final int AT_NAME = 137;

    private static final int MIN_BYTES = AT_NAME + 1 + CHECK_BYTES;

    /** Limit of the size of the encoded form. */
    public static final int MAX_BYTES = AT_NAME + NAME_BYTES + CHECK_BYTES;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Importers of an export. */
    public enum Kind {
        /** The other side of the PCIe bus. */
        PCI((byte) 1),
        /** An RDMA peer. */
        RDMA((byte) 2);

        private final byte code;

        Kind(byte code) {
            this.code = code;
        }

        static Kind ofCode(byte code) {
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
        topologyDigest = topologyDigest.clone();
        if (gid.length != GID_BYTES || topologyDigest.length != DIGEST_BYTES) {
            throw refused("array length", gid.length + "+" + topologyDigest.length, "16+16");
        }
        if (Long.compareUnsigned(address + region.sizeBytes() - 1, address) < 0) {
            throw refused("address", Long.toHexString(address), "a range that does not wrap");
        }
        if ((address & (Long.BYTES - 1)) != 0) { // peers find words by their address
            throw refused("address", Long.toHexString(address), "a multiple of 8");
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

    /** Compares the GID; allocates nothing. */
    public boolean hasGid(byte[] other) {
        return Arrays.equals(gid, other);
    }

    /** The begin of the topology's hash, a copy. */
    @Override
    public byte[] topologyDigest() {
        return topologyDigest.clone();
    }

    /** The size of the range, that of the region. */
    public long sizeBytes() {
        return region.sizeBytes();
    }

    /** The blob: at most {@link #MAX_BYTES} bytes. */
    public byte[] encode() {
        byte[] name = interfaceName.getBytes(StandardCharsets.US_ASCII);
        byte[] bytes = new byte[AT_NAME + name.length + CHECK_BYTES];
        MemorySegment blob = MemorySegment.ofArray(bytes);
        blob.set(U32, AT_MAGIC, MAGIC);
        blob.set(U16, AT_VERSION, (short) VERSION);
        blob.set(ValueLayout.JAVA_BYTE, AT_KIND, kind.code);
        blob.set(ValueLayout.JAVA_BYTE, AT_SIDE, codeOf(side));
        blob.set(U32, AT_PERMISSIONS, permissions);
        blob.set(U32, AT_REMOTE_KEY, remoteKey);
        blob.set(U64, AT_ADDRESS, address);
        MemorySegment.copy(MemorySegment.ofArray(gid), 0, blob, AT_GID, GID_BYTES);
        MemorySegment.copy(
                MemorySegment.ofArray(topologyDigest), 0, blob, AT_TOPOLOGY, DIGEST_BYTES);
        region.encode(blob, AT_REGION);
        blob.set(ValueLayout.JAVA_BYTE, AT_NAME_LENGTH, (byte) name.length);
        MemorySegment.copy(MemorySegment.ofArray(name), 0, blob, AT_NAME, name.length);
        blob.set(U32, bytes.length - CHECK_BYTES, checkOf(bytes));
        return bytes;
    }

    /**
     * CRC-32C of the blob. The exporter does not check address, keys, GID and permissions again: a
     * change of them in transit would only show as wrong data later.
     */
    private static int checkOf(byte[] bytes) {
        CRC32C check = new CRC32C();
        check.update(bytes, 0, bytes.length - CHECK_BYTES);
        return (int) check.getValue();
    }

    /**
     * Decodes a blob; each field is validated.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong; UNSUPPORTED_VERSION for a
     *     blob of another version
     */
    public static ExportDescriptor decode(byte[] bytes) {
        if (bytes.length < VERSION_END) {
            throw refused(
                    "length",
                    bytes.length + BlobKind.inMessage(bytes),
                    MIN_BYTES + " to " + MAX_BYTES);
        }
        byte[] copy = Arrays.copyOf(bytes, Math.min(bytes.length, MAX_BYTES));
        MemorySegment blob = MemorySegment.ofArray(copy);
        int magic = blob.get(U32, AT_MAGIC);
        if (magic != MAGIC) {
            throw refused(
                    "magic", Integer.toHexString(magic) + BlobKind.inMessage(copy), "53444d58");
        }
        int version = Short.toUnsignedInt(blob.get(U16, AT_VERSION));
        if (version != VERSION) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    "export blob of another version: version=" + version + ", expected=" + VERSION);
        }
        if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) {
            throw refused("length", bytes.length, MIN_BYTES + " to " + MAX_BYTES);
        }
        ExportDescriptor read = read(blob);
        int check = blob.get(U32, copy.length - CHECK_BYTES);
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
                Kind.ofCode(blob.get(ValueLayout.JAVA_BYTE, AT_KIND)),
                AccessBits.requireLegal(blob.get(U32, AT_PERMISSIONS)),
                blob.get(U32, AT_REMOTE_KEY),
                blob.get(U64, AT_ADDRESS),
                bytesAt(blob, AT_GID, GID_BYTES),
                bytesAt(blob, AT_TOPOLOGY, DIGEST_BYTES),
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
        long rest = blob.byteSize() - AT_NAME - CHECK_BYTES;
        if (length != rest) {
            throw refused("length of interface name", length, rest + ", by the size of the blob");
        }
        return new String(bytesAt(blob, AT_NAME, length), StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytesAt(MemorySegment blob, long offset, int length) {
        return blob.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private static byte codeOf(Side side) {
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
                sizeBytes(),
                HexFormat.of().formatHex(topologyDigest, 0, 4));
    }
}
