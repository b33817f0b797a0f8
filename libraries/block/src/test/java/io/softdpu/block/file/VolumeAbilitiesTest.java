package io.softdpu.block.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.FileStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VolumeAbilitiesTest {
    private static final int SIZE_BYTES = 64 << 10;

    @TempDir Path folder;

    /** A file of which a try allocates a block has one, though it is empty. */
    @Test
    void shouldChangeNoBlock() throws IOException {
        Path file = folder.resolve("volume");
        Files.write(file, new byte[0]);
        int fd = FileDescriptors.open(file.toString(), FileDescriptors.O_RDWR, 0);
        try {
            FileDescriptors.truncate(fd, SIZE_BYTES);
            FileIo.sync(fd);
            FileStatus before = FileDescriptors.status(fd);
            VolumeAbilities found = VolumeAbilities.of(fd, false, true, SIZE_BYTES);
            FileIo.sync(fd);

            assertThat(FileDescriptors.status(fd)).isEqualTo(before);
            assertThat(before.allocatedBytes()).isZero();
            assertThat(VolumeAbilities.of(fd, false, false, SIZE_BYTES).punchesHoles()).isFalse();
            assertThat(VolumeAbilities.of(fd, false, false, SIZE_BYTES).findsHoles())
                    .isEqualTo(found.findsHoles());
        } finally {
            FileDescriptors.close(fd);
        }
    }
}
