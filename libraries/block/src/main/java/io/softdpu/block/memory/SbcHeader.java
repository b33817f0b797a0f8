package io.softdpu.block.memory;

import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Header of a file with the content of a volume ({@code .sbc}), as DOCA's storage target reads it.
 *
 * <pre>
 *   0        8            12            16
 *   +--------+------------+-------------+-------------
 *   | magic  | block_size | block_count | content ...
 *   +--------+------------+-------------+-------------
 * </pre>
 *
 * All integers are big-endian and unsigned. The content has {@code block_size x block_count} bytes,
 * and the file ends with it.
 *
 * @param blockSizeBytes bytes of a block: a power of two from 512 to 1 MiB
 * @param blockCount number of blocks, 1 to 2^32 - 1
 */
public record SbcHeader(int blockSizeBytes, long blockCount) {
    /** First 8 bytes of such a file. */
    public static final long MAGIC = 0xDEAD_F00D_1337_FADEL;

    /** Bytes before the content. */
    public static final int SIZE_BYTES = 16;

    private static final int BLOCK_SIZE_OFFSET = 8;
    private static final int BLOCK_COUNT_OFFSET = 12;

    /**
     * Reads a header and checks it.
     *
     * @param file for messages
     * @param first the first {@link #SIZE_BYTES} bytes of the file, or all if it is shorter
     * @param fileSizeBytes bytes of the file
     * @return null for a file without the magic
     * @throws DpuException INVALID_VALUE, naming field and offset: the file is cut or too long, or
     *     its header has a value that no volume can have
     */
    public static @Nullable SbcHeader parse(Path file, byte[] first, long fileSizeBytes) {
        ByteBuffer bytes = ByteBuffer.wrap(first);
        if (bytes.remaining() < Long.BYTES || bytes.getLong(0) != MAGIC) {
            return null;
        }
        long blockSize =
                Integer.toUnsignedLong(
                        field(file, bytes, "block_size", BLOCK_SIZE_OFFSET, fileSizeBytes));
        long blockCount =
                Integer.toUnsignedLong(
                        field(file, bytes, "block_count", BLOCK_COUNT_OFFSET, fileSizeBytes));
        if (!BlockProperties.isBlockSize(blockSize)) {
            throw refused(
                    file,
                    "block_size",
                    BLOCK_SIZE_OFFSET,
                    "blockSizeBytes=" + blockSize,
                    BlockProperties.LEGAL_BLOCK_SIZES);
        }
        if (blockCount == 0) {
            throw refused(
                    file, "block_count", BLOCK_COUNT_OFFSET, "blockCount=0", "at least one block");
        }
        // Below 2^52, because of the limit of a block.
        long contentBytes = blockSize * blockCount;
        if (fileSizeBytes - SIZE_BYTES != contentBytes) {
            throw refused(
                    file,
                    "content",
                    SIZE_BYTES,
                    "sizeBytes=" + (fileSizeBytes - SIZE_BYTES),
                    contentBytes + " (" + blockCount + " blocks of " + blockSize + ")");
        }
        return new SbcHeader((int) blockSize, blockCount);
    }

    private static int field(
            Path file, ByteBuffer bytes, String name, int offset, long fileSizeBytes) {
        if (bytes.limit() < offset + Integer.BYTES) {
            throw refused(
                    file,
                    name,
                    offset,
                    "fileSizeBytes=" + fileSizeBytes,
                    "at least " + (offset + Integer.BYTES));
        }
        return bytes.getInt(offset);
    }

    private static DpuException refused(
            Path file, String field, int offset, String actual, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                "binary content is refused: file="
                        + file
                        + ", field="
                        + field
                        + ", offsetBytes="
                        + offset
                        + ", "
                        + actual
                        + ", expected="
                        + expected);
    }
}
