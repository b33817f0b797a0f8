package io.softdpu.block.contract;

import io.softdpu.block.spi.BlockProvider;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.block.spi.ProviderDevice;

/** Provider of devices whose requests are executed by threads of the device. */
public final class ThreadsProvider implements BlockProvider {
    /** For ServiceLoader. */
    public ThreadsProvider() {}

    @Override
    public String scheme() {
        return "threads";
    }

    @Override
    public String form() {
        return "threads:SIZE";
    }

    @Override
    public ProviderDevice open(DeviceUri uri) {
        return new ThreadsDevice(uri.size(), uri.blockSizeBytes());
    }
}
