package io.softdpu.block.memory;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.spi.BlockProvider;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.memory.LocalMemory;

/** Provider of blocks in memory, filled with the {@link Pattern}. */
public final class MemoryProvider implements BlockProvider {
    /** For ServiceLoader. */
    public MemoryProvider() {}

    @Override
    public String scheme() {
        return "memory";
    }

    @Override
    public String form() {
        return "memory:SIZE";
    }

    @Override
    public ProviderDevice open(DeviceUri uri) {
        long sizeBytes = uri.size();
        String description = "memory:" + sizeBytes;
        LocalMemory memory = MemoryDevice.allocate(sizeBytes, description);
        boolean opened = false;
        try {
            new Pattern(Pattern.DEVICE_SEED).fill(memory.segment(), 0);
            ProviderDevice device =
                    new MemoryDevice(
                            memory, uri.blockSizeBytes(), description, BlockIdentity.random());
            opened = true;
            return device;
        } finally {
            if (!opened) {
                memory.close();
            }
        }
    }
}
