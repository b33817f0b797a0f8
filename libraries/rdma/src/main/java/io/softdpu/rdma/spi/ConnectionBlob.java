package io.softdpu.rdma.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.BlobKind;
import io.softdpu.core.memory.Permissions;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Encoding of the blob of a connection: the permissions that the exporter's instance grants, and
 * for each provider that could serve the connection a section that is opaque to all others.
 *
 * <pre>
 *  0  magic        u32  "SRDC"
 *  4  version      u16  2
 *  6  sections     u16  1 to 8
 *  8  permissions  u32  of peers, granted by the exporter's instance
 * 12  check        u32  CRC-32C of the whole blob with zero here
 * 16  the sections, in sequence:
 *      0  provider id  u16  1 to 65,535, in ascending order
 *      2  reserved     u16  zero
 *      4  length       u32  bytes of details, 0 to 4,096
 *      8  name         16 B ASCII, padded with zero bytes
 *     24  details
 * </pre>
 *
 * All little-endian; the last section ends the blob. Immutable, without I/O; any thread.
 *
 * @param permissions of peers, granted by the exporter's instance
 * @param sections 1 to {@value #MAX_SECTIONS}, in ascending order of their provider ids
 */
public record ConnectionBlob(Permissions permissions, List<Section> sections) {
    static final int HEADER_BYTES = 16;
    static final int SECTION_HEADER_BYTES = 24;
    static final int NAME_BYTES = 16;
    static final int CHECK_OFFSET = 12;
    static final int VERSION = 2;

    /** Limit of sections. */
    public static final int MAX_SECTIONS = 8;

    static final int MAX_DETAILS_BYTES = 4096;

    private static final int MAGIC = 0x43445253; // "SRDC" in memory order

    /**
     * Section of one provider. The array is not shared.
     *
     * @param providerId see {@link RdmaProvider#id()}
     * @param name of the provider, for messages
     * @param details defined by the provider
     */
    @SuppressWarnings("ArrayRecordComponent") // a caller leaves it as it is
    public record Section(int providerId, String name, byte[] details) {
        /** Checks id and length. */
        public Section {
            if (providerId < 1 || providerId > 0xffff) {
                throw malformed("provider id", providerId);
            }
            if (details.length > MAX_DETAILS_BYTES) {
                throw malformed("details length", details.length);
            }
        }
    }

    /** Checks the number of sections. */
    public ConnectionBlob {
        sections = List.copyOf(sections);
        if (sections.isEmpty() || sections.size() > MAX_SECTIONS) {
            throw malformed("section count", sections.size());
        }
    }

    /** The section of a provider, or null. */
    public @Nullable Section sectionOf(int providerId) {
        for (Section section : sections) {
            if (section.providerId() == providerId) {
                return section;
            }
        }
        return null;
    }

    /** Names of the providers, for messages. */
    public List<String> providerNames() {
        return sections.stream().map(Section::name).toList();
    }

    /** The blob. */
    public byte[] encode() {
        int sizeBytes = HEADER_BYTES;
        for (Section section : sections) {
            sizeBytes += SECTION_HEADER_BYTES + section.details().length;
        }
        ByteBuffer bytes = ByteBuffer.allocate(sizeBytes).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(MAGIC).putShort((short) VERSION).putShort((short) sections.size());
        bytes.putInt(permissions.bits()).putInt(0);
        for (Section section : sections) {
            bytes.putShort((short) section.providerId()).putShort((short) 0);
            bytes.putInt(section.details().length);
            bytes.put(
                    Arrays.copyOf(section.name().getBytes(StandardCharsets.US_ASCII), NAME_BYTES));
            bytes.put(section.details());
        }
        return bytes.putInt(CHECK_OFFSET, checkOf(bytes.array())).array();
    }

    /**
     * Permissions and a provider's keys have a meaning for the exporter only: without a checksum
     * their corruption would appear later, as another failure.
     */
    private static int checkOf(byte[] blob) {
        CRC32C check = new CRC32C();
        check.update(blob, 0, CHECK_OFFSET);
        check.update(new byte[Integer.BYTES]);
        check.update(blob, HEADER_BYTES, blob.length - HEADER_BYTES);
        return (int) check.getValue();
    }

    /**
     * Decodes an untrusted blob.
     *
     * @throws DpuException INVALID_VALUE naming the illegal field, UNSUPPORTED_VERSION for another
     *     version
     */
    public static ConnectionBlob decode(byte[] blob) {
        byte[] copy = blob.clone();
        ByteBuffer bytes = ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
        try {
            return decode(bytes, copy);
        } catch (BufferUnderflowException e) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "RDMA connection blob is too short: sizeBytes=" + blob.length,
                    e);
        }
    }

    private static ConnectionBlob decode(ByteBuffer bytes, byte[] blob) {
        int magic = bytes.getInt();
        if (magic != MAGIC) {
            throw malformed(
                    "magic",
                    Integer.toHexString(magic)
                            + BlobKind.inMessage(blob)
                            + ", expected=RdmaConnection.blob() of the peer");
        }
        int version = Short.toUnsignedInt(bytes.getShort());
        if (version != VERSION) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    "RDMA connection blob refused: version=" + version + ", expected=" + VERSION);
        }
        int count = Short.toUnsignedInt(bytes.getShort());
        if (count < 1 || count > MAX_SECTIONS) {
            throw malformed("section count", count);
        }
        Permissions permissions = new Permissions(bytes.getInt());
        int check = bytes.getInt();
        List<Section> sections = new ArrayList<>(count);
        int previousId = 0;
        for (int i = 0; i < count; i++) {
            Section section = decodeSection(bytes);
            if (section.providerId() <= previousId) {
                throw malformed("order of provider ids", section.providerId());
            }
            previousId = section.providerId();
            sections.add(section);
        }
        if (bytes.hasRemaining()) {
            throw malformed("bytes after the last section", bytes.remaining());
        }
        if (check != checkOf(blob)) { // last, so that an illegal field is named
            throw malformed("check", Integer.toHexString(check));
        }
        return new ConnectionBlob(permissions, sections);
    }

    private static Section decodeSection(ByteBuffer bytes) {
        int id = Short.toUnsignedInt(bytes.getShort());
        requireZero("reserved half word", bytes.getShort());
        int length = bytes.getInt();
        if (length < 0 || length > MAX_DETAILS_BYTES) {
            throw malformed("details length", length);
        }
        byte[] name = new byte[NAME_BYTES];
        bytes.get(name);
        byte[] details = new byte[length];
        bytes.get(details);
        return new Section(id, decodeName(name), details);
    }

    private static String decodeName(byte[] name) {
        int length = 0;
        while (length < NAME_BYTES && name[length] > ' ' && name[length] < 0x7f) {
            length++;
        }
        for (int i = length; i < NAME_BYTES; i++) {
            requireZero("provider name", name[i]);
        }
        if (length == 0) {
            throw malformed("provider name", "empty");
        }
        return new String(name, 0, length, StandardCharsets.US_ASCII);
    }

    private static void requireZero(String what, int value) {
        if (value != 0) {
            throw malformed(what, value);
        }
    }

    private static DpuException malformed(String what, Object value) {
        return new DpuException(
                Status.INVALID_VALUE,
                "RDMA connection blob refused: field=" + what + ", value=" + value);
    }
}
