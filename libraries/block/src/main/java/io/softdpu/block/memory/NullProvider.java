package io.softdpu.block.memory;

import io.softdpu.block.spi.BlockProvider;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.block.spi.ProviderDevice;

/** Provider of devices without blocks: writes go nowhere, and reads deliver zeros. */
public final class NullProvider implements BlockProvider {
    /** For ServiceLoader. */
    public NullProvider() {}

    @Override
    public String scheme() {
        return "null";
    }

    @Override
    public String form() {
        return "null:SIZE";
    }

    @Override
    public ProviderDevice open(DeviceUri uri) {
        return new NullDevice(uri.size(), uri.blockSizeBytes());
    }
}
