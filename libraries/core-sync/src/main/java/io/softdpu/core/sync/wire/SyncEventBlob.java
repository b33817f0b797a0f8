package io.softdpu.core.sync.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.check.BlobKind;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Content of the export blob of a sync event; version 1, 168 bytes, big-endian.
 *
 * <pre>
 *   0  u32   magic 0x53445345 ("SDSE")
 *   4  u16   version, 1
 *   6  u8    publisher location: 0 CPU, 1 DPU, 2 remote
 *   7  u8    subscriber location: 0 CPU, 1 DPU, 2 remote; one of the two is DPU
 *   8  16 B  kernel boot id
 *  24  16 B  fabric folder
 *  40  16 B  event, random
 *  56  16 B  key, random
 *  72  32 B  SHA-256 of the exporter's topology
 * 104  u8    side of the exporting device: 0 host
 * 105  u8    length of its interface name, 1 to 32
 * 106  32 B  its interface name, ASCII, filled up with 0
 * 138  26 B  0
 * 164  u32   CRC-32C of the bytes before it
 * </pre>
 *
 * @param publisher the publisher location
 * @param subscriber the subscriber location
 * @param bootId of the exporter's kernel
 * @param fabricId of the exporter's fabric folder
 * @param eventId number of the event among all of the folder
 * @param key shows that the importer was given the blob
 * @param topologySha256 32 bytes
 * @param interfaceName of the exporting device, which is one of the host
 */
@SuppressWarnings("ArrayRecordComponent") // equals, hashCode and the accessor see to the array
public record SyncEventBlob(
        Place publisher,
        Place subscriber,
        RegionAddress.Id bootId,
        RegionAddress.Id fabricId,
        RegionAddress.Id eventId,
        RegionAddress.Id key,
        byte[] topologySha256,
        String interfaceName) {

    /** Size of the encoded form. */
    public static final int WIRE_BYTES = 168;

    /** The version that is encoded, and the only one that is decoded. */
    public static final int VERSION = 1;

    private static final String BLOB = "sync event blob";
    private static final int MAGIC = 0x53445345;
    private static final int HASH_BYTES = 32;
    private static final byte HOST = 0;

    private static final long AT_PUBLISHER = 6;
    private static final long AT_SUBSCRIBER = 7;
    private static final long AT_BOOT = 8;
    private static final long AT_FABRIC = 24;
    private static final long AT_EVENT = 40;
    private static final long AT_KEY = 56;
    private static final long AT_TOPOLOGY = 72;
    private static final long AT_SIDE = 104;
    private static final long AT_NAME_LENGTH = 105;

    /** Locations that an exported event can have. */
    public enum Place {
        /** The CPU of the host. */
        CPU((byte) 0),
        /** The DPU. */
        DPU((byte) 1),
        /** A machine on the network. */
        REMOTE((byte) 2);

        private final byte code;

        Place(byte code) {
            this.code = code;
        }

        private static Place ofCode(String field, byte code) {
            return switch (code) {
                case 0 -> CPU;
                case 1 -> DPU;
                case 2 -> REMOTE;
                default -> throw refused(field, code, "0 (CPU), 1 (DPU) or 2 (remote)");
            };
        }
    }

    /**
     * Refuses illegal values.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong
     */
    public SyncEventBlob {
        topologySha256 = topologySha256.clone();
        if (topologySha256.length != HASH_BYTES) {
            throw refused("topology", topologySha256.length, "32 bytes");
        }
        if (publisher != Place.DPU && subscriber != Place.DPU) {
            throw refused("locations", publisher + " and " + subscriber, "DPU among them");
        }
        BlobFields.requireName(BLOB, interfaceName);
    }

    /** The topology's hash, a copy. */
    @Override
    public byte[] topologySha256() {
        return topologySha256.clone();
    }

    /** The side of the exporting device. */
    public Side side() {
        return Side.HOST;
    }

    /** The blob: {@link #WIRE_BYTES} bytes. */
    public byte[] encode() {
        byte[] bytes = new byte[WIRE_BYTES];
        MemorySegment blob = MemorySegment.ofArray(bytes);
        BlobFields.putBegin(blob, MAGIC, VERSION);
        blob.set(ValueLayout.JAVA_BYTE, AT_PUBLISHER, publisher.code);
        blob.set(ValueLayout.JAVA_BYTE, AT_SUBSCRIBER, subscriber.code);
        BlobFields.put(blob, AT_BOOT, bootId);
        BlobFields.put(blob, AT_FABRIC, fabricId);
        BlobFields.put(blob, AT_EVENT, eventId);
        BlobFields.put(blob, AT_KEY, key);
        MemorySegment.copy(MemorySegment.ofArray(topologySha256), 0, blob, AT_TOPOLOGY, HASH_BYTES);
        blob.set(ValueLayout.JAVA_BYTE, AT_SIDE, HOST);
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
    public static SyncEventBlob decode(byte[] bytes) {
        if (bytes.length != WIRE_BYTES) {
            throw refused(
                    "length",
                    bytes.length + BlobKind.inMessage(bytes),
                    "168, the export of a sync event");
        }
        byte[] copy = bytes.clone();
        MemorySegment blob = MemorySegment.ofArray(copy);
        BlobFields.requireBegin(BLOB, blob, MAGIC, VERSION);
        SyncEventBlob read = read(blob);
        BlobFields.requireCheck(BLOB, copy); // last, so that an illegal field is named
        return read;
    }

    private static SyncEventBlob read(MemorySegment blob) {
        byte side = blob.get(ValueLayout.JAVA_BYTE, AT_SIDE);
        if (side != HOST) {
            throw refused("side", side, "0 (host)");
        }
        return new SyncEventBlob(
                Place.ofCode("publisher", blob.get(ValueLayout.JAVA_BYTE, AT_PUBLISHER)),
                Place.ofCode("subscriber", blob.get(ValueLayout.JAVA_BYTE, AT_SUBSCRIBER)),
                BlobFields.idAt(blob, AT_BOOT),
                BlobFields.idAt(blob, AT_FABRIC),
                BlobFields.idAt(blob, AT_EVENT),
                BlobFields.idAt(blob, AT_KEY),
                blob.asSlice(AT_TOPOLOGY, HASH_BYTES).toArray(ValueLayout.JAVA_BYTE),
                BlobFields.nameAt(BLOB, blob, AT_NAME_LENGTH));
    }

    private static DpuException refused(String field, Object value, String expected) {
        return BlobFields.refused(BLOB, field, value, expected);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SyncEventBlob b && Arrays.equals(encode(), b.encode());
    }

    @Override
    public int hashCode() {
        return Objects.hash(eventId, key);
    }

    /** Omits the key: a reader of a log must not be able to import. */
    @Override
    public String toString() {
        return Text.format(
                "event=%s, device=%s/%s, publisher=%s, subscriber=%s, topology=%s",
                eventId,
                side().id(),
                interfaceName,
                publisher,
                subscriber,
                HexFormat.of().formatHex(topologySha256, 0, 4));
    }
}
