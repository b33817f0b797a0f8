package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import java.nio.file.Path;
import java.util.Set;

/** Environment of a contract test: the device under test. */
public interface BlockTestEnvironment {
    /**
     * Opens a device; each call another one.
     *
     * @param folder of this test alone, exists
     * @param sizeBytes a multiple of the block size
     */
    BlockDevice open(Path folder, long sizeBytes, int blockSizeBytes);

    /** The features that the device has to have, and no others. */
    Set<BlockFeature> features();

    /** Whether reads deliver what was written; otherwise they deliver zeros. By default they do. */
    default boolean keepsBlocks() {
        return true;
    }

    /** Whether the blocks are memory of this process. */
    boolean hasMemory();

    /** Number of rounds that a measurement takes; less where a flush takes long. */
    default int rounds() {
        return 20_000;
    }

    /** Size of a block in the tests, unless they are about it. */
    default int blockSizeBytes() {
        return 512;
    }
}
