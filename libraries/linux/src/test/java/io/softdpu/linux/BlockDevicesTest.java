package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BlockDevicesTest {
    private static final Path ALL = Path.of("/sys/class/block");

    private final OpenFiles files = new OpenFiles();

    @AfterEach
    void closeFiles() {
        files.close();
    }

    /** The first block device with content that may be read, which only root may. */
    private static Optional<Path> readable() throws IOException {
        if (!Files.isDirectory(ALL)) {
            return Optional.empty();
        }
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(ALL)) {
            for (Path device : devices) {
                Path node = Path.of("/dev").resolve(device.getFileName());
                if (Files.isReadable(node) && sectors(node) > 0) {
                    return Optional.of(node);
                }
            }
        }
        return Optional.empty();
    }

    private static long sectors(Path node) throws IOException {
        return Long.parseLong(
                Files.readString(ALL.resolve(node.getFileName()).resolve("size")).strip());
    }

    @Test
    void shouldTellTheSizesOfADevice() throws IOException {
        Optional<Path> device = readable();
        assumeTrue(device.isPresent(), "no block device may be read here");
        Path node = device.get();
        int fd;
        try {
            fd = files.own(FileDescriptors.open(node.toString(), FileDescriptors.O_RDONLY, 0));
        } catch (LinuxException e) { // as by the cgroup of a container
            abort(e.getMessage());
            return;
        }

        assertThat(FileDescriptors.status(fd).isBlockDevice()).isTrue();
        assertThat(FileDescriptors.status(fd).typeName()).isEqualTo("block device");
        assertThat(BlockDevices.sizeBytes(fd)).isEqualTo(sectors(node) * 512);
        int blockBytes = BlockDevices.blockBytes(fd);
        assertThat(blockBytes).isGreaterThanOrEqualTo(512);
        assertThat(Integer.bitCount(blockBytes)).isOne();
    }

    @Test
    void shouldRefuseWhatIsNoDevice(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        int fd = files.own(FileDescriptors.open(file.toString(), FileDescriptors.O_RDONLY, 0));

        assertThat(FileDescriptors.status(fd).isBlockDevice()).isFalse();
        assertThatThrownBy(() -> BlockDevices.sizeBytes(fd))
                .hasMessage("ioctl(BLKGETSIZE64) failed: errno=25 (ENOTTY), fd=" + fd);
        assertThatThrownBy(() -> BlockDevices.blockBytes(fd))
                .hasMessage("ioctl(BLKSSZGET) failed: errno=25 (ENOTTY), fd=" + fd);
    }
}
