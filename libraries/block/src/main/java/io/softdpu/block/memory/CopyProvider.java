package io.softdpu.block.memory;

import io.softdpu.block.spi.BlockProvider;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.linux.text.GivenText;
import java.nio.file.Path;

/** Provider of blocks in memory that are a copy of a file. */
public final class CopyProvider implements BlockProvider {
    /** For ServiceLoader. */
    public CopyProvider() {}

    @Override
    public String scheme() {
        return "copy";
    }

    @Override
    public String form() {
        return "copy:PATH";
    }

    @Override
    public ProviderDevice open(DeviceUri uri) {
        if (uri.rest().isEmpty()) {
            throw uri.refused("path is empty");
        }
        Path file = GivenText.path("", uri.rest(), uri::refused);
        return VolumeFile.copy(file, uri.blockSizeBytes());
    }
}
