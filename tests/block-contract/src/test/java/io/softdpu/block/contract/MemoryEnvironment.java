package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/** Environment with devices in memory. */
final class MemoryEnvironment implements BlockTestEnvironment {
    /** All features of a device that has nothing to lose. */
    static final Set<BlockFeature> FEATURES =
            EnumSet.of(
                    BlockFeature.FLUSH,
                    BlockFeature.FUA,
                    BlockFeature.DISCARD,
                    BlockFeature.WRITE_ZEROES);

    @Override
    public BlockDevice open(Path folder, long sizeBytes, int blockSizeBytes) {
        return BlockDevice.open("memory:" + sizeBytes, blockSizeBytes);
    }

    @Override
    public Set<BlockFeature> features() {
        return FEATURES;
    }

    @Override
    public boolean hasMemory() {
        return true;
    }
}
