package io.softdpu.core.sync.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.BlobKind;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Fields of the export blobs and handshakes of sync events, written or read one after the other: a
 * magic number and a version at the start, then numbers of 8 to 128 bits, and arrays. A blob ends
 * with an interface name with nothing but zeros behind it, and a check of all bytes in the last
 * four. Big-endian.
 */
final class WireFields {
    private static final int NAME_BYTES = 32;
    private static final long AT_VERSION = 4;
    private static final long BEGIN_BYTES = 6;
    private static final int CHECK_BYTES = 4;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final String what;
    private final byte[] bytes;
    private final MemorySegment memory;
    private long at = BEGIN_BYTES;

    private WireFields(String what, byte[] bytes) {
        this.what = what;
        this.bytes = bytes;
        this.memory = MemorySegment.ofArray(bytes);
    }

    // ---- writing ----

    /**
     * Begins with magic number and version.
     *
     * @param what the kind of blob or handshake, for messages
     */
    static WireFields write(String what, int sizeBytes, int magic, int version) {
        WireFields fields = new WireFields(what, new byte[sizeBytes]);
        fields.memory.set(U32, 0, magic);
        fields.memory.set(U16, AT_VERSION, (short) version);
        return fields;
    }

    WireFields put(byte value) {
        memory.set(ValueLayout.JAVA_BYTE, at, value);
        at++;
        return this;
    }

    WireFields put(int value) {
        memory.set(U32, at, value);
        at += Integer.BYTES;
        return this;
    }

    WireFields put(long value) {
        memory.set(U64, at, value);
        at += Long.BYTES;
        return this;
    }

    WireFields put(RegionAddress.Id id) {
        return put(id.high()).put(id.low());
    }

    WireFields put(byte[] array) {
        MemorySegment.copy(MemorySegment.ofArray(array), 0, memory, at, array.length);
        at += array.length;
        return this;
    }

    /** All bytes, without a check. */
    byte[] bytes() {
        return bytes;
    }

    /** Writes the length of a name, the name behind it, and the check; the whole blob. */
    byte[] end(String name) {
        byte[] ascii = name.getBytes(StandardCharsets.US_ASCII);
        WireFields _ = put((byte) ascii.length).put(ascii);
        memory.set(U32, bytes.length - CHECK_BYTES, check());
        return bytes;
    }

    // ---- reading ----

    /**
     * Begins to read a copy; validates length, magic number and version.
     *
     * @throws DpuException INVALID_VALUE, UNSUPPORTED_VERSION
     */
    static WireFields read(String what, byte[] bytes, int sizeBytes, int magic, int version) {
        if (bytes.length != sizeBytes) {
            throw refused(
                    what,
                    "length",
                    bytes.length + BlobKind.inMessage(bytes),
                    sizeBytes + ", the length of a " + what);
        }
        WireFields fields = new WireFields(what, bytes.clone());
        int foundMagic = fields.memory.get(U32, 0);
        if (foundMagic != magic) {
            throw refused(
                    what,
                    "magic",
                    Integer.toHexString(foundMagic) + BlobKind.inMessage(bytes),
                    Integer.toHexString(magic));
        }
        int found = Short.toUnsignedInt(fields.memory.get(U16, AT_VERSION));
        if (found != version) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    Text.format(
                            "%s of another version: version=%d, expected=%d",
                            what, found, version));
        }
        return fields;
    }

    byte nextByte() {
        byte next = memory.get(ValueLayout.JAVA_BYTE, at);
        at++;
        return next;
    }

    /**
     * Reads a byte that has one legal value, 0.
     *
     * @throws DpuException INVALID_VALUE
     */
    WireFields requireZero(String field, String expected) {
        byte found = nextByte();
        if (found != 0) {
            throw refused(what, field, found, expected);
        }
        return this;
    }

    int nextInt() {
        int next = memory.get(U32, at);
        at += Integer.BYTES;
        return next;
    }

    long nextLong() {
        long next = memory.get(U64, at);
        at += Long.BYTES;
        return next;
    }

    RegionAddress.Id nextId() {
        return new RegionAddress.Id(nextLong(), nextLong());
    }

    byte[] nextBytes(int length) {
        byte[] next = memory.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
        at += length;
        return next;
    }

    /**
     * Reads a name, and validates that there are zeros between it and the check.
     *
     * @throws DpuException INVALID_VALUE
     */
    String lastName() {
        int length = Byte.toUnsignedInt(nextByte());
        if (length < 1 || length > NAME_BYTES) {
            throw refused(what, "length of interface name", length, "1 to 32");
        }
        long atName = at;
        for (at = atName + length; at < bytes.length - CHECK_BYTES; at++) {
            byte present = memory.get(ValueLayout.JAVA_BYTE, at);
            if (present != 0) {
                boolean inName = at < atName + NAME_BYTES;
                throw refused(
                        what,
                        Text.format(
                                "%s, offsetBytes=%d",
                                inName ? "end of interface name" : "padding", at),
                        Byte.toUnsignedInt(present),
                        "0");
            }
        }
        byte[] name = memory.asSlice(atName, length).toArray(ValueLayout.JAVA_BYTE);
        return new String(name, StandardCharsets.ISO_8859_1);
    }

    /**
     * Validates the check; after all fields, so that an illegal one is named.
     *
     * @throws DpuException INVALID_VALUE
     */
    void requireCheck() {
        int found = memory.get(U32, bytes.length - CHECK_BYTES);
        if (found != check()) {
            throw refused(
                    what,
                    "check",
                    Integer.toHexString(found),
                    Integer.toHexString(check()) + ", the CRC-32C of the blob");
        }
    }

    private int check() {
        CRC32C check = new CRC32C();
        check.update(bytes, 0, bytes.length - CHECK_BYTES);
        return (int) check.getValue();
    }

    // ---- values ----

    /**
     * Validates the length of an array.
     *
     * @throws DpuException INVALID_VALUE
     */
    static void requireLength(String what, String field, byte[] array, int length) {
        if (array.length != length) {
            throw refused(what, field, array.length, length + " bytes");
        }
    }

    /**
     * Validates an interface name.
     *
     * @throws DpuException INVALID_VALUE
     */
    static void requireName(String what, String name) {
        if (name.isEmpty()
                || name.length() > NAME_BYTES
                || !name.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw refused(what, "interface name", name.length(), "1 to 32 printing ASCII");
        }
    }

    static DpuException refused(String what, String field, Object value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "%s refused: field=%s, value=%s, expected=%s",
                        what, field, value, expected));
    }
}
