package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import java.nio.file.Path;
import java.util.Set;

/** Environment with devices in memory below options of a fault device. */
record FaultEnvironment(String options) implements BlockTestEnvironment {
    @Override
    public BlockDevice open(Path folder, long sizeBytes, int blockSizeBytes) {
        return BlockDevice.open("fault:" + options + ":memory:" + sizeBytes, blockSizeBytes);
    }

    @Override
    public Set<BlockFeature> features() {
        return MemoryEnvironment.FEATURES;
    }

    @Override
    public boolean hasMemory() {
        return false;
    }
}
