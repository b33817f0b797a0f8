package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/** Environment with devices of the {@link ThreadsProvider}. */
final class ThreadsEnvironment implements BlockTestEnvironment {
    @Override
    public BlockDevice open(Path folder, long sizeBytes, int blockSizeBytes) {
        return BlockDevice.open("threads:" + sizeBytes, blockSizeBytes);
    }

    @Override
    public Set<BlockFeature> features() {
        return EnumSet.of(
                BlockFeature.FLUSH,
                BlockFeature.FUA,
                BlockFeature.DISCARD,
                BlockFeature.WRITE_ZEROES,
                BlockFeature.EXTENTS);
    }

    @Override
    public boolean hasMemory() {
        return false;
    }
}
