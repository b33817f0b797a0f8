package io.softdpu.core.sync.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.fabric.wire.RegionAddress;
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
 * Content of the export blob of a sync event; version 1, 168 bytes, big-endian.
 *
 * <pre>
 *   0  u32   magic 0x53445345 ("SDSE")
 *   4  u16   version, 1
 *   6  u8    publisher location: 0 CPU, 1 DPU
 *   7  u8    subscriber location: 0 CPU, 1 DPU; one of the two is DPU
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

    private static final int MAGIC = 0x53445345;
    private static final int NAME_BYTES = 32;
    private static final int HASH_BYTES = 32;
    private static final byte HOST = 0;

    private static final long AT_MAGIC = 0;
    private static final long AT_VERSION = 4;
    private static final long AT_PUBLISHER = 6;
    private static final long AT_SUBSCRIBER = 7;
    private static final long AT_BOOT = 8;
    private static final long AT_FABRIC = 24;
    private static final long AT_EVENT = 40;
    private static final long AT_KEY = 56;
    private static final long AT_TOPOLOGY = 72;
    private static final long AT_SIDE = 104;
    private static final long AT_NAME_LENGTH = 105;
    private static final long AT_NAME = 106;
    private static final long AT_PADDING = 138;
    private static final int AT_CHECK = 164;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Locations that an exported event can have. */
    public enum Place {
        /** The CPU of the host. */
        CPU((byte) 0),
        /** The DPU. */
        DPU((byte) 1);

        private final byte code;

        Place(byte code) {
            this.code = code;
        }

        private static Place ofCode(String field, byte code) {
            return switch (code) {
                case 0 -> CPU;
                case 1 -> DPU;
                default -> throw refused(field, code, "0 (CPU) or 1 (DPU)");
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
        if (interfaceName.isEmpty()
                || interfaceName.length() > NAME_BYTES
                || !interfaceName.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw refused("interface name", interfaceName.length(), "1 to 32 printing ASCII");
        }
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
        blob.set(U32, AT_MAGIC, MAGIC);
        blob.set(U16, AT_VERSION, (short) VERSION);
        blob.set(ValueLayout.JAVA_BYTE, AT_PUBLISHER, publisher.code);
        blob.set(ValueLayout.JAVA_BYTE, AT_SUBSCRIBER, subscriber.code);
        put(blob, AT_BOOT, bootId);
        put(blob, AT_FABRIC, fabricId);
        put(blob, AT_EVENT, eventId);
        put(blob, AT_KEY, key);
        MemorySegment.copy(MemorySegment.ofArray(topologySha256), 0, blob, AT_TOPOLOGY, HASH_BYTES);
        blob.set(ValueLayout.JAVA_BYTE, AT_SIDE, HOST);
        byte[] name = interfaceName.getBytes(StandardCharsets.US_ASCII);
        blob.set(ValueLayout.JAVA_BYTE, AT_NAME_LENGTH, (byte) name.length);
        MemorySegment.copy(MemorySegment.ofArray(name), 0, blob, AT_NAME, name.length);
        blob.set(U32, AT_CHECK, checkOf(bytes));
        return bytes;
    }

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
    public static SyncEventBlob decode(byte[] bytes) {
        if (bytes.length != WIRE_BYTES) {
            throw refused("length", bytes.length, "168, the export of a sync event");
        }
        byte[] copy = bytes.clone();
        MemorySegment blob = MemorySegment.ofArray(copy);
        int magic = blob.get(U32, AT_MAGIC);
        if (magic != MAGIC) {
            throw refused("magic", Integer.toHexString(magic), "53445345");
        }
        int version = Short.toUnsignedInt(blob.get(U16, AT_VERSION));
        if (version != VERSION) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    "sync event blob of another version: version="
                            + version
                            + ", expected="
                            + VERSION);
        }
        SyncEventBlob read = read(blob);
        int check = blob.get(U32, AT_CHECK);
        if (check != checkOf(copy)) { // last, so that an illegal field is named
            throw refused(
                    "check",
                    Integer.toHexString(check),
                    Integer.toHexString(checkOf(copy)) + ", the CRC-32C of the blob");
        }
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
                idAt(blob, AT_BOOT),
                idAt(blob, AT_FABRIC),
                idAt(blob, AT_EVENT),
                idAt(blob, AT_KEY),
                blob.asSlice(AT_TOPOLOGY, HASH_BYTES).toArray(ValueLayout.JAVA_BYTE),
                nameAt(blob));
    }

    private static String nameAt(MemorySegment blob) {
        int length = Byte.toUnsignedInt(blob.get(ValueLayout.JAVA_BYTE, AT_NAME_LENGTH));
        if (length < 1 || length > NAME_BYTES) {
            throw refused("length of interface name", length, "1 to 32");
        }
        for (long at = AT_NAME + length; at < AT_CHECK; at++) {
            byte present = blob.get(ValueLayout.JAVA_BYTE, at);
            if (present != 0) {
                throw refused(
                        "%s, offsetBytes=%d"
                                .formatted(
                                        at < AT_PADDING ? "end of interface name" : "padding", at),
                        Byte.toUnsignedInt(present),
                        "0");
            }
        }
        byte[] name = blob.asSlice(AT_NAME, length).toArray(ValueLayout.JAVA_BYTE);
        return new String(name, StandardCharsets.ISO_8859_1);
    }

    static void put(MemorySegment bytes, long offset, RegionAddress.Id id) {
        bytes.set(U64, offset, id.high());
        bytes.set(U64, offset + Long.BYTES, id.low());
    }

    static RegionAddress.Id idAt(MemorySegment bytes, long offset) {
        return new RegionAddress.Id(bytes.get(U64, offset), bytes.get(U64, offset + Long.BYTES));
    }

    private static DpuException refused(String field, Object value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                "sync event blob refused: field=%s, value=%s, expected=%s"
                        .formatted(field, value, expected));
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
        return "event=%s, device=%s/%s, publisher=%s, subscriber=%s, topology=%s"
                .formatted(
                        eventId,
                        side().id(),
                        interfaceName,
                        publisher,
                        subscriber,
                        HexFormat.of().formatHex(topologySha256, 0, 4));
    }
}
