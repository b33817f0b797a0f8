package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;

/** Environment with file volumes, on a file system that has all that ext4 has. */
final class FileEnvironment implements BlockTestEnvironment {
    private static final AtomicInteger FILES = new AtomicInteger();
    private final String prefix;
    private final String options;
    private final String method;

    /**
     * Describes the volumes.
     *
     * @param options each after {@code &}
     * @param method how their requests are done; a test is skipped where the machine forbids it
     */
    FileEnvironment(String options, String method) {
        this("", options, method);
    }

    /**
     * Describes the volumes below another device.
     *
     * @param prefix before their URIs, such as {@code fault:seed=1:}
     */
    FileEnvironment(String prefix, String options, String method) {
        this.prefix = prefix;
        this.options = options;
        this.method = method;
    }

    @Override
    public BlockDevice open(Path folder, long sizeBytes, int blockSizeBytes) {
        Path file = folder.resolve("volume-" + FILES.incrementAndGet());
        BlockDevice device =
                BlockDevice.open(
                        prefix + "file:" + file + "?create=" + sizeBytes + options, blockSizeBytes);
        if (device.toString().contains("io_uring is refused")) {
            device.close();
            Assumptions.abort(device.toString());
        }
        assertThat(device.toString()).contains("method=" + method);
        return device;
    }

    @Override
    public Set<BlockFeature> features() {
        return EnumSet.complementOf(EnumSet.of(BlockFeature.READ_ONLY));
    }

    @Override
    public int rounds() {
        return 100;
    }

    @Override
    public boolean hasMemory() {
        return false;
    }
}
