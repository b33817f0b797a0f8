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
    private static final int TOPOLOGY_BYTES = 32;
    private static final byte HOST = 0;

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
        if (publisher != Place.DPU && subscriber != Place.DPU) {
            throw refused("locations", publisher + " and " + subscriber, "DPU among them");
        }
        WireFields.requireLength(BLOB, "topology", topologySha256, TOPOLOGY_BYTES);
        WireFields.requireName(BLOB, interfaceName);
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
        return WireFields.write(BLOB, WIRE_BYTES, MAGIC, VERSION)
                .put(publisher.code)
                .put(subscriber.code)
                .put(bootId)
                .put(fabricId)
                .put(eventId)
                .put(key)
                .put(topologySha256)
                .put(HOST)
                .end(interfaceName);
    }

    /**
     * Decodes a blob; each field is validated.
     *
     * @throws DpuException INVALID_VALUE naming the field that is wrong; UNSUPPORTED_VERSION for a
     *     blob of another version
     */
    public static SyncEventBlob decode(byte[] bytes) {
        WireFields blob = WireFields.read(BLOB, bytes, WIRE_BYTES, MAGIC, VERSION);
        SyncEventBlob read = // field after field, as they are in the blob
                new SyncEventBlob(
                        Place.ofCode("publisher", blob.nextByte()),
                        Place.ofCode("subscriber", blob.nextByte()),
                        blob.nextId(),
                        blob.nextId(),
                        blob.nextId(),
                        blob.nextId(),
                        blob.nextBytes(TOPOLOGY_BYTES),
                        blob.requireZero("side", "0 (host)").lastName());
        blob.requireCheck();
        return read;
    }

    private static DpuException refused(String field, Object value, String expected) {
        return WireFields.refused(BLOB, field, value, expected);
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
