package io.softdpu.block;

import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.spi.ProviderDevice;

/** Devices of a provider for tests of other packages. */
public final class ProvidedDevices {
    private ProvidedDevices() {}

    /** The device of users over that of a provider, which it closes. */
    public static BlockDevice open(ProviderDevice provider) {
        return new BlockDevice(provider);
    }

    /** A device with these features alone, without blocks. */
    public static ProviderDevice with(BlockFeature... features) {
        return new HandDevice(features);
    }
}
