package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Environment with devices that are copies of a file. */
final class CopyEnvironment implements BlockTestEnvironment {
    @Override
    public BlockDevice open(Path folder, long sizeBytes, int blockSizeBytes) {
        Path file = folder.resolve("content");
        byte[] content = new byte[(int) sizeBytes];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i * 31 + (i >>> 9));
        }
        try {
            Files.write(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return BlockDevice.open("copy:" + file, blockSizeBytes);
    }

    @Override
    public Set<BlockFeature> features() {
        return MemoryEnvironment.FEATURES;
    }

    @Override
    public boolean hasMemory() {
        return true;
    }
}
