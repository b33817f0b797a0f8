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
 * Fields that the export blobs of sync events have in common: a magic number and a version at the
 * begin, numbers of 128 bits, an interface name with nothing but zeros behind it, and a check of
 * all bytes in the last four. Big-endian.
 */
final class BlobFields {
    private static final int NAME_BYTES = 32;
    private static final long AT_VERSION = 4;
    private static final int CHECK_BYTES = 4;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private BlobFields() {}

    /** Writes magic number and version. */
    static void putBegin(MemorySegment blob, int magic, int version) {
        blob.set(U32, 0, magic);
        blob.set(U16, AT_VERSION, (short) version);
    }

    /**
     * Validates magic number and version.
     *
     * @param what the kind of blob, for messages
     * @throws DpuException INVALID_VALUE, UNSUPPORTED_VERSION
     */
    static void requireBegin(String what, MemorySegment blob, int magic, int version) {
        if (blob.get(U32, 0) != magic) {
            throw refused(
                    what,
                    "magic",
                    Integer.toHexString(blob.get(U32, 0))
                            + BlobKind.inMessage(blob.toArray(ValueLayout.JAVA_BYTE)),
                    Integer.toHexString(magic));
        }
        int found = Short.toUnsignedInt(blob.get(U16, AT_VERSION));
        if (found != version) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    Text.format(
                            "%s of another version: version=%d, expected=%d",
                            what, found, version));
        }
    }

    static void put(MemorySegment bytes, long offset, RegionAddress.Id id) {
        bytes.set(U64, offset, id.high());
        bytes.set(U64, offset + Long.BYTES, id.low());
    }

    static RegionAddress.Id idAt(MemorySegment bytes, long offset) {
        return new RegionAddress.Id(bytes.get(U64, offset), bytes.get(U64, offset + Long.BYTES));
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

    /** Writes the length of a name, and the name behind it. */
    static void putName(MemorySegment blob, long atLength, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        blob.set(ValueLayout.JAVA_BYTE, atLength, (byte) bytes.length);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, blob, atLength + 1, bytes.length);
    }

    /**
     * Reads a name, and validates that there are zeros between it and the check.
     *
     * @throws DpuException INVALID_VALUE
     */
    static String nameAt(String what, MemorySegment blob, long atLength) {
        int length = Byte.toUnsignedInt(blob.get(ValueLayout.JAVA_BYTE, atLength));
        if (length < 1 || length > NAME_BYTES) {
            throw refused(what, "length of interface name", length, "1 to 32");
        }
        long atName = atLength + 1;
        for (long at = atName + length; at < blob.byteSize() - CHECK_BYTES; at++) {
            byte present = blob.get(ValueLayout.JAVA_BYTE, at);
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
        byte[] name = blob.asSlice(atName, length).toArray(ValueLayout.JAVA_BYTE);
        return new String(name, StandardCharsets.ISO_8859_1);
    }

    /** Writes the check into the last four bytes. */
    static void putCheck(byte[] blob) {
        MemorySegment.ofArray(blob).set(U32, blob.length - CHECK_BYTES, checkOf(blob));
    }

    /**
     * Validates the check.
     *
     * @throws DpuException INVALID_VALUE
     */
    static void requireCheck(String what, byte[] blob) {
        int check = MemorySegment.ofArray(blob).get(U32, blob.length - CHECK_BYTES);
        if (check != checkOf(blob)) {
            throw refused(
                    what,
                    "check",
                    Integer.toHexString(check),
                    Integer.toHexString(checkOf(blob)) + ", the CRC-32C of the blob");
        }
    }

    private static int checkOf(byte[] blob) {
        CRC32C check = new CRC32C();
        check.update(blob, 0, blob.length - CHECK_BYTES);
        return (int) check.getValue();
    }

    static DpuException refused(String what, String field, Object value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "%s refused: field=%s, value=%s, expected=%s",
                        what, field, value, expected));
    }
}
