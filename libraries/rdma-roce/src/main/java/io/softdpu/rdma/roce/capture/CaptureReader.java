package io.softdpu.rdma.roce.capture;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reader of the records of a pcap file, in either byte order, with times in microseconds or
 * nanoseconds.
 *
 * <pre>
 *  0 magic     4 version (2 + 2)   8 zone   12 accuracy   16 limit of a record   20 link type
 * per record:
 *  0 seconds   4 fraction          8 captured bytes       12 bytes on the wire   16 frame
 * </pre>
 *
 * <p>Holds one record at a time.
 */
final class CaptureReader {
    /** Limit of the captured bytes of a record, as of the programs that write such files. */
    static final int MAX_FRAME_BYTES = 256 << 10;

    /** Size of the header of a file. */
    static final int HEADER_BYTES = 24;

    /** Size of the header of a record. */
    static final int RECORD_HEADER_BYTES = 16;

    /** Magic number of files with times in nanoseconds. */
    static final int NANOSECONDS = 0xa1b23c4d;

    static final int VERSION = 2;
    static final int MINOR_VERSION = 4;
    static final long SECOND_NANOS = 1_000_000_000;

    private static final int MICROSECONDS = 0xa1b2c3d4;
    private static final int PCAPNG = 0x0a0d0d0a; // the same in both byte orders
    private static final long MICRO_NANOS = 1_000;

    private final InputStream input;
    private final byte[] bytes = new byte[MAX_FRAME_BYTES];
    private final MemorySegment frame = MemorySegment.ofArray(bytes);
    private final ValueLayout.OfInt u32;
    private final ValueLayout.OfShort u16;
    private final boolean nanoseconds;
    private final LinkType linkType;
    private long offset;
    private long number;
    private long timeNanos;
    private int frameBytes;

    /**
     * Reads the header of a file.
     *
     * @param input read from its position on, in small pieces; the caller's to close
     * @throws IOException if it cannot be read
     * @throws DpuException INVALID_VALUE if it is no capture; NOT_SUPPORTED for pcapng and another
     *     link type
     */
    CaptureReader(InputStream input) throws IOException {
        this.input = input;
        int found = input.readNBytes(bytes, 0, HEADER_BYTES);
        requireAll(found, Integer.BYTES, 0);
        int magic = frame.get(ofInt(ByteOrder.BIG_ENDIAN), 0);
        if (magic == PCAPNG) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "format of the capture is not supported: format=pcapng, expected=pcap, as"
                            + " `editcap -F pcap FROM TO` converts it");
        }
        ByteOrder order = isMagic(magic) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        int ordered = order == ByteOrder.BIG_ENDIAN ? magic : Integer.reverseBytes(magic);
        if (!isMagic(ordered)) {
            throw refused("magic", "0x" + Integer.toHexString(magic), "that of pcap", 0);
        }
        requireAll(found, HEADER_BYTES, 0);
        u32 = ofInt(order);
        u16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(order);
        nanoseconds = ordered == NANOSECONDS;
        int version = Short.toUnsignedInt(frame.get(u16, 4));
        if (version != VERSION) {
            throw refused("version", version, VERSION, 4);
        }
        linkType = LinkType.of(frame.get(u32, 20) & 0xffff);
        offset = HEADER_BYTES;
    }

    private static ValueLayout.OfInt ofInt(ByteOrder order) {
        return ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
    }

    private static boolean isMagic(int magic) {
        return magic == MICROSECONDS || magic == NANOSECONDS;
    }

    /**
     * Reads the next record.
     *
     * @return false at the end of the file
     * @throws IOException if it cannot be read
     * @throws DpuException INVALID_VALUE for a record that is cut or too large, with its offset
     */
    boolean next() throws IOException {
        int found = input.readNBytes(bytes, 0, RECORD_HEADER_BYTES);
        if (found == 0) {
            return false;
        }
        requireAll(found, RECORD_HEADER_BYTES, offset);
        long seconds = Integer.toUnsignedLong(frame.get(u32, 0));
        long fraction = Integer.toUnsignedLong(frame.get(u32, 4));
        timeNanos = seconds * SECOND_NANOS + fraction * (nanoseconds ? 1 : MICRO_NANOS);
        long captured = Integer.toUnsignedLong(frame.get(u32, 8));
        if (captured > MAX_FRAME_BYTES) {
            throw refused("record size", captured, "0 to " + MAX_FRAME_BYTES, offset);
        }
        frameBytes = (int) captured;
        requireAll(input.readNBytes(bytes, 0, frameBytes), frameBytes, offset);
        offset += RECORD_HEADER_BYTES + captured;
        number++;
        return true;
    }

    private static void requireAll(int found, int expected, long at) {
        if (found < expected) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "capture is cut: offsetBytes="
                            + at
                            + ", foundBytes="
                            + found
                            + ", expectedBytes="
                            + expected);
        }
    }

    private static DpuException refused(String field, Object found, Object expected, long at) {
        return new DpuException(
                Status.INVALID_VALUE,
                "capture refused: offsetBytes="
                        + at
                        + ", field="
                        + field
                        + ", value="
                        + found
                        + ", expected="
                        + expected);
    }

    /** What a frame begins with. */
    LinkType linkType() {
        return linkType;
    }

    /** Whether times have nanoseconds. */
    boolean isNanoseconds() {
        return nanoseconds;
    }

    /** Number of the record, from 1 on. */
    long number() {
        return number;
    }

    /** Time of the record since 1970. */
    long timeNanos() {
        return timeNanos;
    }

    /** The frame, from 0 on; overwritten by the next record. */
    byte[] bytes() {
        return bytes;
    }

    /** Number of bytes of the frame that were captured. */
    int frameBytes() {
        return frameBytes;
    }
}
