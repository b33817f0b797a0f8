package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On tmpfs, whose blocks are pages of memory and are allocated at once. */
final class FileBlocksTest {
    private static final int SIZE = 1 << 18;

    @TempDir(factory = SharedMemoryFolder.class)
    Path folder;

    private final OpenFiles files = new OpenFiles();

    @AfterEach
    void closeFiles() {
        files.close();
    }

    private int file(byte... content) throws IOException {
        Path path = Files.write(folder.resolve("file"), content);
        return files.own(FileDescriptors.open(path.toString(), FileDescriptors.O_RDWR, 0));
    }

    @Test
    void shouldAllocateBlocksAndMakeTheFileLongerUnlessToldOtherwise() throws IOException {
        int fd = file();

        FileBlocks.allocate(fd, FileBlocks.KEEP_SIZE, 0, SIZE);
        assertThat(FileDescriptors.status(fd).sizeBytes()).isZero();
        assertThat(FileDescriptors.status(fd).allocatedBytes()).isEqualTo(SIZE);
        FileBlocks.allocate(fd, 0, 0, 2 * SIZE);
        assertThat(FileDescriptors.status(fd).sizeBytes()).isEqualTo(2 * SIZE);
        assertThat(FileDescriptors.status(fd).allocatedBytes()).isEqualTo(2 * SIZE);
    }

    @Test
    void shouldFindDataAndTheHolesBetween() throws IOException {
        int fd = file(new byte[3 * SIZE]);

        assertThat(FileBlocks.nextHole(fd, 0)).isEqualTo(3 * SIZE);
        FileBlocks.allocate(fd, FileBlocks.PUNCH_HOLE | FileBlocks.KEEP_SIZE, SIZE, SIZE);

        assertThat(FileBlocks.nextData(fd, 0)).isZero();
        assertThat(FileBlocks.nextHole(fd, 0)).isEqualTo(SIZE);
        assertThat(FileBlocks.nextData(fd, SIZE)).isEqualTo(2 * SIZE);
        assertThat(FileBlocks.nextData(fd, SIZE + 1)).isEqualTo(2 * SIZE);
        assertThat(FileBlocks.nextHole(fd, 2 * SIZE)).isEqualTo(3 * SIZE);
        assertThat(FileBlocks.nextHole(fd, 3 * SIZE)).isEqualTo(-1);
        assertThat(FileBlocks.nextData(fd, 3 * SIZE)).isEqualTo(-1);
        assertThat(FileDescriptors.status(fd).sizeBytes()).isEqualTo(3 * SIZE);
    }

    @Test
    void shouldFindNothingInAHoleAtTheEnd() throws IOException {
        int fd = file();
        FileDescriptors.truncate(fd, SIZE);

        assertThat(FileBlocks.nextHole(fd, 0)).isZero();
        assertThat(FileBlocks.nextData(fd, 0)).isEqualTo(-1);
    }

    @Test
    void shouldNameAFailure() throws IOException {
        int fd = file();
        int socket = files.pair()[0];

        assertThatThrownBy(() -> FileBlocks.allocate(fd, 0, 1, 0))
                .hasMessage(
                        "fallocate failed: errno=22 (EINVAL), fd="
                                + fd
                                + ", mode=0, offsetBytes=1, sizeBytes=0");
        assertThatThrownBy(() -> FileBlocks.allocate(fd, FileBlocks.ZERO_RANGE, 0, SIZE))
                .hasMessageContainingAll("EOPNOTSUPP", "mode=16");
        assertThatThrownBy(() -> FileBlocks.nextData(socket, 7))
                .hasMessage(
                        "lseek(SEEK_DATA) failed: errno=29 (ESPIPE), fd="
                                + socket
                                + ", offsetBytes=7");
        assertThatThrownBy(() -> FileBlocks.nextHole(-1, 0))
                .hasMessageStartingWith("lseek(SEEK_HOLE) failed: errno=9 (EBADF)");
    }

    @Test
    void shouldChangeNothingByATryBeyondTheEnd() throws IOException {
        int fd = file((byte) 1);

        FileBlocks.allocate(
                fd,
                FileBlocks.PUNCH_HOLE | FileBlocks.KEEP_SIZE,
                1 << 20,
                MemoryMapping.pageSize());

        assertThat(folder.resolve("file")).hasBinaryContent(new byte[] {1});
    }
}
