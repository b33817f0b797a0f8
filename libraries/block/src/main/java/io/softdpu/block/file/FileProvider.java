package io.softdpu.block.file;

import io.softdpu.block.spi.BlockProvider;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.block.spi.ProviderDevice;

/** Provider of blocks in a regular file, or in a block device of the machine. */
public final class FileProvider implements BlockProvider {
    /** For ServiceLoader. */
    public FileProvider() {}

    @Override
    public String scheme() {
        return "file";
    }

    @Override
    public String form() {
        return FileOptions.FORM;
    }

    @Override
    public ProviderDevice open(DeviceUri uri) {
        return FileDevice.open(FileOptions.of(uri), uri.blockSizeBytes());
    }
}
