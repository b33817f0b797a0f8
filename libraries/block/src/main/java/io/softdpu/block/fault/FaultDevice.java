package io.softdpu.block.fault;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.MemoryUser;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.spi.ContextServices;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Device that injects faults into single requests, and passes all others to another device. Its
 * blocks are no memory of this process, whose use would bypass the faults.
 */
final class FaultDevice implements ProviderDevice {
    private final ProviderDevice wrapped;
    private final FaultOptions options;
    private final Dice dice;
    private final BlockProperties properties;

    /** Number of the next request of all channels, on which its faults depend. */
    private final AtomicLong nextNumber = new AtomicLong();

    /**
     * Creates a device.
     *
     * @param wrapped the device below, which this closes
     */
    FaultDevice(ProviderDevice wrapped, FaultOptions options, String description) {
        this.wrapped = wrapped;
        this.options = options;
        dice = new Dice(options.seed());
        BlockProperties below = wrapped.properties();
        properties =
                new BlockProperties(
                        below.sizeBytes(),
                        below.blockSizeBytes(),
                        below.preferredRequestBytes(),
                        below.maxRequestBytes(),
                        below.memoryAlignmentBytes(),
                        below.features(),
                        description);
    }

    @Override
    public BlockProperties properties() {
        return properties;
    }

    @Override
    public BlockIdentity identity() {
        return wrapped.identity();
    }

    @Override
    public void renewIdentity() {
        wrapped.renewIdentity();
    }

    @Override
    public MemoryUser memoryUser() {
        return wrapped.memoryUser();
    }

    @Override
    public String method() {
        return wrapped.method();
    }

    @Override
    public boolean isWriteThrough() {
        return wrapped.isWriteThrough();
    }

    @Override
    public ProviderChannel openChannel(ContextServices services, int maxRequests) {
        ProviderChannel below = wrapped.openChannel(services, maxRequests);
        boolean opened = false;
        try {
            FaultChannel channel = new FaultChannel(below, this, services, maxRequests);
            opened = true;
            return channel;
        } finally {
            if (!opened) { // no descriptor left for the timer of the engine
                below.close();
            }
        }
    }

    @Override
    public void close() {
        wrapped.close();
    }

    // ---- for its channels ----

    FaultOptions options() {
        return options;
    }

    Dice dice() {
        return dice;
    }

    /** The number of a further request. */
    long takeNumber() {
        return nextNumber.getAndIncrement();
    }
}
