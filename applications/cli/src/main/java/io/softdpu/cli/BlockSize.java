package io.softdpu.cli;

import io.softdpu.block.property.BlockProperties;
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
        if (!BlockProperties.isBlockSize(sizeBytes)) {
            throw new ParameterException(
                    command,
                    "block size is illegal: option=--block-size, sizeBytes="
                            + sizeBytes
                            + ", expected="
                            + BlockProperties.LEGAL_BLOCK_SIZES);
        }
        return (int) sizeBytes;
    }
}
