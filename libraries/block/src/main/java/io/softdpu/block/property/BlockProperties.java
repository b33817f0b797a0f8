package io.softdpu.block.property;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * Sizes, limits and features of a block device, which do not change while it is open. Immutable;
 * any thread.
 *
 * @param sizeBytes size of the device: a positive multiple of the block size
 * @param blockSizeBytes unit of all offsets and lengths: a power of two, 512 to 1 MiB
 * @param preferredRequestBytes length of a read or write at which the device is at its best; a
 *     multiple of the block size
 * @param maxRequestBytes limit of the length of a read or write, a multiple of the block size; a
 *     larger one is refused with TOO_BIG, since a device never splits. Requests without data have
 *     no other limit than the size of the device
 * @param memoryAlignmentBytes alignment in memory of the bytes that a task reads or writes, a power
 *     of two; 1 if there is none
 * @param features an unmodifiable set
 * @param description what it is, for messages and logs
 */
public record BlockProperties(
        long sizeBytes,
        int blockSizeBytes,
        long preferredRequestBytes,
        long maxRequestBytes,
        int memoryAlignmentBytes,
        Set<BlockFeature> features,
        String description) {
    /** The smallest block in bytes. */
    public static final int MIN_BLOCK_SIZE_BYTES = 512;

    /** The largest block in bytes. */
    public static final int MAX_BLOCK_SIZE_BYTES = 1 << 20;

    /** Sizes of a block, for messages. */
    public static final String LEGAL_BLOCK_SIZES =
            "a power of two from " + MIN_BLOCK_SIZE_BYTES + " to " + MAX_BLOCK_SIZE_BYTES;

    /**
     * Checks the values.
     *
     * @throws DpuException INVALID_VALUE naming the value that is wrong
     */
    public BlockProperties {
        Arguments.notNull(description, "description");
        requireBlockSize(blockSizeBytes);
        requireBlocks("sizeBytes", sizeBytes, blockSizeBytes);
        requireBlocks("preferredRequestBytes", preferredRequestBytes, blockSizeBytes);
        requireBlocks("maxRequestBytes", maxRequestBytes, blockSizeBytes);
        if (preferredRequestBytes > maxRequestBytes) {
            throw wrong(
                    "preferredRequestBytes", preferredRequestBytes, "at most " + maxRequestBytes);
        }
        if (Integer.bitCount(memoryAlignmentBytes) != 1 || memoryAlignmentBytes < 0) {
            throw wrong("memoryAlignmentBytes", memoryAlignmentBytes, "a power of two");
        }
        Set<BlockFeature> copy = EnumSet.noneOf(BlockFeature.class);
        copy.addAll(Arguments.notNull(features, "features"));
        features = Collections.unmodifiableSet(copy);
    }

    /**
     * Checks the size of a block.
     *
     * @return the size
     * @throws DpuException INVALID_VALUE unless it is a power of two from 512 to 1 MiB
     */
    public static int requireBlockSize(int blockSizeBytes) {
        if (!isBlockSize(blockSizeBytes)) {
            throw wrong("blockSizeBytes", blockSizeBytes, LEGAL_BLOCK_SIZES);
        }
        return blockSizeBytes;
    }

    /** Whether a block may have this size: a power of two from 512 to 1 MiB. */
    public static boolean isBlockSize(long bytes) {
        return bytes >= MIN_BLOCK_SIZE_BYTES
                && bytes <= MAX_BLOCK_SIZE_BYTES
                && Long.bitCount(bytes) == 1;
    }

    /** Whether the device has a feature. */
    public boolean has(BlockFeature feature) {
        return features.contains(Arguments.notNull(feature, "feature"));
    }

    private static void requireBlocks(String name, long bytes, int blockSizeBytes) {
        if (bytes <= 0 || bytes % blockSizeBytes != 0) {
            throw wrong(name, bytes, "a positive multiple of blockSizeBytes=" + blockSizeBytes);
        }
    }

    private static DpuException wrong(String name, long value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "block device is not possible: %s=%d, expected=%s", name, value, expected));
    }
}
