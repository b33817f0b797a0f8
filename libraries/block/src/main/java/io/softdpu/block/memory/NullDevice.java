package io.softdpu.block.memory;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.spi.ContextServices;

/** Device without blocks. */
final class NullDevice implements ProviderDevice {
    private final BlockProperties properties;
    private volatile BlockIdentity identity = BlockIdentity.random();

    NullDevice(long sizeBytes, int blockSizeBytes) {
        this.properties = MemoryDevice.propertiesOf(sizeBytes, blockSizeBytes, "null:" + sizeBytes);
    }

    @Override
    public BlockProperties properties() {
        return properties;
    }

    @Override
    public BlockIdentity identity() {
        return identity;
    }

    @Override
    public void renewIdentity() {
        identity = BlockIdentity.random();
    }

    @Override
    public ProviderChannel openChannel(ContextServices services, int maxRequests) {
        return new NullChannel(maxRequests);
    }

    @Override
    public void close() {}
}
