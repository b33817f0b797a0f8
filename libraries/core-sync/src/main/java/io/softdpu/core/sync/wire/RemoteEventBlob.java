package io.softdpu.core.sync.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.check.BlobKind;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Content of the blob of a sync event that is exported for RDMA; version 2, 184 bytes, big-endian.
 *
 * <pre>
 *   0  u32   magic 0x53445352 ("SDSR")
 *   4  u16   version, 2
 *   6  u8    side of the exporting device: 0 host, 1 dpu, 2 target
 *   7  u8    0
 *   8  16 B  kernel boot id
 *  24  16 B  fabric folder
 *  40  16 B  bus of the exporter
 *  56  16 B  event, random
 *  72  16 B  key, random
 *  88  16 B  SHA-256 of the exporter's topology, its first half
 * 104  u64   address of the counter, a multiple of 8
 * 112  u32   RDMA key of the counter, not 0
 * 116  16 B  GID of the exporting device
 * 132  u8    length of the exporting device's interface name, 1 to 32
 * 133  32 B  its interface name, ASCII, filled up with 0
 * 165  15 B  0
 * 180  u32   CRC-32C of the bytes before it
 * </pre>
 *
 * @param side the side of the exporting device
 * @param bootId of the exporter's kernel
 * @param fabricId of the exporter's fabric folder
 * @param busId of the exporter: the peer of a connection over which the event is used
 * @param eventId number of the event among all of the folder
 * @param key shows that the importer was given this blob; not the key of the blob for the DPU
 * @param topologyDigest 16 bytes, the first ones of the topology's SHA-256
 * @param address of the counter, as packets name it
 * @param remoteKey by which packets name the counter
 * @param gid of the exporting device: 16 bytes
 * @param interfaceName of the exporting device
 */
@SuppressWarnings("ArrayRecordComponent") // equals, hashCode and the accessors see to the arrays
public record RemoteEventBlob(
        Side side,
        RegionAddress.Id bootId,
        RegionAddress.Id fabricId,
        RegionAddress.Id busId,
        RegionAddress.Id eventId,
        RegionAddress.Id key,
        byte[] topologyDigest,
        long address,
        int remoteKey,
        byte[] gid,
        String interfaceName) {

    /** Size of the encoded form. */
    public static final int WIRE_BYTES = 184;

    /** The version that is encoded, and the only one that is decoded. */
    public static final int VERSION = 2;

    /** Bytes of the topology's SHA-256 in a blob. */
    public static final int DIGEST_BYTES = 16;

    private static final String BLOB = "remote sync event blob";
    private static final int MAGIC = 0x53445352;
    private static final int GID_BYTES = 16;

    private static final long AT_SIDE = 6;
    private static final long AT_RESERVED = 7;
    private static final long AT_BOOT = 8;
    private static final long AT_FABRIC = 24;
    private static final long AT_BUS = 40;
    private static final long AT_EVENT = 56;
    private static final long AT_KEY = 72;
    private static final long AT_TOPOLOGY = 88;
    private static final long AT_ADDRESS = 104;
    private static final long AT_REMOTE_KEY = 112;
    private static final long AT_GID = 116;
    private static final long AT_NAME_LENGTH = 132;

    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /**
     * Refuses illegal values.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong
     */
    public RemoteEventBlob {
        topologyDigest = topologyDigest.clone();
        gid = gid.clone();
        if (topologyDigest.length != DIGEST_BYTES || gid.length != GID_BYTES) {
            throw refused("array length", topologyDigest.length + "+" + gid.length, "16+16");
        }
        if ((address & (Long.BYTES - 1)) != 0) {
            throw refused("address", Long.toHexString(address), "a multiple of 8");
        }
        if (remoteKey == 0) {
            throw refused("RDMA key", remoteKey, "not 0");
        }
        BlobFields.requireName(BLOB, interfaceName);
    }

    /** The begin of the topology's hash, a copy. */
    @Override
    public byte[] topologyDigest() {
        return topologyDigest.clone();
    }

    /** The GID, a copy. */
    @Override
    public byte[] gid() {
        return gid.clone();
    }

    /** Whether this is the GID; allocates nothing. */
    public boolean hasGid(byte[] other) {
        return Arrays.equals(gid, other);
    }

    /** The blob: {@link #WIRE_BYTES} bytes. */
    public byte[] encode() {
        byte[] bytes = new byte[WIRE_BYTES];
        MemorySegment blob = MemorySegment.ofArray(bytes);
        BlobFields.putBegin(blob, MAGIC, VERSION);
        blob.set(ValueLayout.JAVA_BYTE, AT_SIDE, codeOf(side));
        BlobFields.put(blob, AT_BOOT, bootId);
        BlobFields.put(blob, AT_FABRIC, fabricId);
        BlobFields.put(blob, AT_BUS, busId);
        BlobFields.put(blob, AT_EVENT, eventId);
        BlobFields.put(blob, AT_KEY, key);
        MemorySegment.copy(
                MemorySegment.ofArray(topologyDigest), 0, blob, AT_TOPOLOGY, DIGEST_BYTES);
        blob.set(U64, AT_ADDRESS, address);
        blob.set(U32, AT_REMOTE_KEY, remoteKey);
        MemorySegment.copy(MemorySegment.ofArray(gid), 0, blob, AT_GID, GID_BYTES);
        BlobFields.putName(blob, AT_NAME_LENGTH, interfaceName);
        BlobFields.putCheck(bytes);
        return bytes;
    }

    /**
     * Decodes a blob; each field is validated.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong; UNSUPPORTED_VERSION for a
     *     blob of another version
     */
    public static RemoteEventBlob decode(byte[] bytes) {
        if (bytes.length != WIRE_BYTES) {
            throw refused("length", bytes.length + BlobKind.inMessage(bytes), "184");
        }
        byte[] copy = bytes.clone();
        MemorySegment blob = MemorySegment.ofArray(copy);
        BlobFields.requireBegin(BLOB, blob, MAGIC, VERSION);
        byte reserved = blob.get(ValueLayout.JAVA_BYTE, AT_RESERVED);
        if (reserved != 0) {
            throw refused("reserved", reserved, "0");
        }
        RemoteEventBlob read =
                new RemoteEventBlob(
                        sideOf(blob.get(ValueLayout.JAVA_BYTE, AT_SIDE)),
                        BlobFields.idAt(blob, AT_BOOT),
                        BlobFields.idAt(blob, AT_FABRIC),
                        BlobFields.idAt(blob, AT_BUS),
                        BlobFields.idAt(blob, AT_EVENT),
                        BlobFields.idAt(blob, AT_KEY),
                        blob.asSlice(AT_TOPOLOGY, DIGEST_BYTES).toArray(ValueLayout.JAVA_BYTE),
                        blob.get(U64, AT_ADDRESS),
                        blob.get(U32, AT_REMOTE_KEY),
                        blob.asSlice(AT_GID, GID_BYTES).toArray(ValueLayout.JAVA_BYTE),
                        BlobFields.nameAt(BLOB, blob, AT_NAME_LENGTH));
        BlobFields.requireCheck(BLOB, copy); // last, so that an illegal field is named
        return read;
    }

    private static byte codeOf(Side side) {
        return switch (side) {
            case HOST -> 0;
            case DPU -> 1;
            case TARGET -> 2;
        };
    }

    private static Side sideOf(byte code) {
        return switch (code) {
            case 0 -> Side.HOST;
            case 1 -> Side.DPU;
            case 2 -> Side.TARGET;
            default -> throw refused("side", code, "0 (host), 1 (dpu) or 2 (target)");
        };
    }

    private static DpuException refused(String field, Object value, String expected) {
        return BlobFields.refused(BLOB, field, value, expected);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RemoteEventBlob b && Arrays.equals(encode(), b.encode());
    }

    @Override
    public int hashCode() {
        return Objects.hash(eventId, key);
    }

    /** Omits the keys: a reader of a log must not be able to import. */
    @Override
    public String toString() {
        return Text.format(
                "event=%s, bus=%s, device=%s/%s, topology=%s",
                eventId,
                busId,
                side.id(),
                interfaceName,
                HexFormat.of().formatHex(topologyDigest, 0, 4));
    }
}
