package io.softdpu.storage.server;

import io.softdpu.block.spi.BlockProvider;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.block.spi.ProviderDevice;

/** Provider of {@link HandVolume}s, by their name and their size. */
public final class HandProvider implements BlockProvider {
    @Override
    public String scheme() {
        return "hand";
    }

    @Override
    public String form() {
        return "hand:NAME:SIZE";
    }

    @Override
    public ProviderDevice open(DeviceUri uri) {
        String[] parts = uri.rest().split(":", 2);
        return HandVolume.named(parts[0], uri.size(parts[1]), uri.blockSizeBytes());
    }
}
