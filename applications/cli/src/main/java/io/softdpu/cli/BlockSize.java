package io.softdpu.cli;

import io.softdpu.storage.backend.MemoryVolume;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Checks the option {@code --block-size} before anything is opened for it. */
final class BlockSize {
    private BlockSize() {}

    /**
     * The block size as the storage library takes it.
     *
     * @throws ParameterException if it is no power of two within the limits
     */
    static int check(CommandLine command, long sizeBytes) {
        if (Long.bitCount(sizeBytes) != 1
                || sizeBytes < MemoryVolume.MIN_BLOCK_SIZE_BYTES
                || sizeBytes > MemoryVolume.MAX_BLOCK_SIZE_BYTES) {
            throw new ParameterException(
                    command,
                    "block size is illegal: option=--block-size, sizeBytes="
                            + sizeBytes
                            + ", expected=a power of two from "
                            + MemoryVolume.MIN_BLOCK_SIZE_BYTES
                            + " to "
                            + MemoryVolume.MAX_BLOCK_SIZE_BYTES);
        }
        return (int) sizeBytes;
    }
}
