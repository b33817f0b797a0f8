package io.softdpu.block.memory;

import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.linux.text.Reason;
import java.util.EnumSet;
import java.util.Set;

/** Blocks in memory. */
final class MemoryDevice implements ProviderDevice {
    /** Features of a device that has nothing to lose. */
    static final Set<BlockFeature> FEATURES =
            EnumSet.of(
                    BlockFeature.FLUSH,
                    BlockFeature.FUA,
                    BlockFeature.DISCARD,
                    BlockFeature.WRITE_ZEROES);

    /** Length of a request in bytes beyond which a longer one is no faster. */
    private static final long PREFERRED_REQUEST_BYTES = 1 << 20;

    /** Longest request in bytes: that of the usual block devices of Linux, and of NBD. */
    private static final long MAX_REQUEST_BYTES = 32 << 20;

    private final LocalMemory memory;
    private final BlockProperties properties;
    private volatile BlockIdentity identity;

    /**
     * Creates a device.
     *
     * @param memory the blocks, which the device closes
     */
    MemoryDevice(
            LocalMemory memory, int blockSizeBytes, String description, BlockIdentity identity) {
        this.memory = memory;
        this.properties = propertiesOf(memory.sizeBytes(), blockSizeBytes, description);
        this.identity = identity;
    }

    /** The properties of a device whose requests end in the engine's own passes. */
    static BlockProperties propertiesOf(long sizeBytes, int blockSizeBytes, String description) {
        return new BlockProperties(
                sizeBytes,
                blockSizeBytes,
                PREFERRED_REQUEST_BYTES,
                MAX_REQUEST_BYTES,
                1,
                FEATURES,
                description);
    }

    /**
     * Allocates memory, or names the device that has no room.
     *
     * @throws DpuException NO_MEMORY
     */
    static LocalMemory allocate(long sizeBytes, String description) {
        try {
            return LocalMemory.allocate(sizeBytes);
        } catch (DpuException e) {
            throw new DpuException(
                    e.status(),
                    "volume cannot be loaded: volume=" + description + ", reason=" + Reason.of(e),
                    e);
        }
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
    public LocalMemory memory() {
        return memory;
    }

    @Override
    public ProviderChannel openChannel(ContextServices services, int maxRequests) {
        return new MemoryChannel(memory.segment(), services.copier(), maxRequests);
    }

    @Override
    public void close() {
        memory.close();
    }
}
