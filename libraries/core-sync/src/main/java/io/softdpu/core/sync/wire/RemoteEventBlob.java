package io.softdpu.core.sync.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
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

    /**
     * Refuses illegal values.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong
     */
    public RemoteEventBlob {
        topologyDigest = topologyDigest.clone();
        gid = gid.clone();
        WireFields.requireLength(BLOB, "topology", topologyDigest, DIGEST_BYTES);
        WireFields.requireLength(BLOB, "GID", gid, GID_BYTES);
        if ((address & (Long.BYTES - 1)) != 0) {
            throw WireFields.refused(BLOB, "address", Long.toHexString(address), "a multiple of 8");
        }
        if (remoteKey == 0) {
            throw WireFields.refused(BLOB, "RDMA key", remoteKey, "not 0");
        }
        WireFields.requireName(BLOB, interfaceName);
    }

    /** The first half of the topology's hash, a copy. */
    @Override
    public byte[] topologyDigest() {
        return topologyDigest.clone();
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

    /** The blob: {@link #WIRE_BYTES} bytes. */
    public byte[] encode() {
        return WireFields.write(BLOB, WIRE_BYTES, MAGIC, VERSION)
                .put(codeOf(side))
                .put((byte) 0)
                .put(bootId)
                .put(fabricId)
                .put(busId)
                .put(eventId)
                .put(key)
                .put(topologyDigest)
                .put(address)
                .put(remoteKey)
                .put(gid)
                .end(interfaceName);
    }

    /**
     * Decodes a blob; each field is validated.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong; UNSUPPORTED_VERSION for a
     *     blob of another version
     */
    public static RemoteEventBlob decode(byte[] bytes) {
        WireFields blob = WireFields.read(BLOB, bytes, WIRE_BYTES, MAGIC, VERSION);
        RemoteEventBlob read = // field after field, as they are in the blob
                new RemoteEventBlob(
                        sideOf(blob.nextByte()),
                        blob.requireZero("reserved", "0").nextId(),
                        blob.nextId(),
                        blob.nextId(),
                        blob.nextId(),
                        blob.nextId(),
                        blob.nextBytes(DIGEST_BYTES),
                        blob.nextLong(),
                        blob.nextInt(),
                        blob.nextBytes(GID_BYTES),
                        blob.lastName());
        blob.requireCheck();
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
            default ->
                    throw WireFields.refused(BLOB, "side", code, "0 (host), 1 (dpu) or 2 (target)");
        };
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
