package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileIoTest {
    @TempDir Path folder;

    private final OpenFiles files = new OpenFiles();
    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void closeFiles() {
        arena.close();
        files.close();
    }

    private int file(String content) throws IOException {
        Path path = Files.writeString(folder.resolve("file"), content);
        return files.own(FileDescriptors.open(path.toString(), FileDescriptors.O_RDWR, 0));
    }

    private String content() throws IOException {
        return Files.readString(folder.resolve("file"));
    }

    private MemorySegment text(String text) {
        MemorySegment segment = arena.allocate(text.length());
        MemorySegment.copy(
                text.getBytes(java.nio.charset.StandardCharsets.US_ASCII),
                0,
                segment,
                ValueLayout.JAVA_BYTE,
                0,
                text.length());
        return segment;
    }

    private static String text(MemorySegment segment) {
        return new String(
                segment.toArray(ValueLayout.JAVA_BYTE), java.nio.charset.StandardCharsets.US_ASCII);
    }

    @Test
    void shouldReadAtAnOffset() throws IOException {
        int fd = file("0123456789");
        MemorySegment room = arena.allocate(4);

        assertThat(FileIo.read(fd, room, 3)).isEqualTo(4);

        assertThat(text(room)).isEqualTo("3456");
    }

    @Test
    void shouldReadLessAtTheEndAndNothingBeyond() throws IOException {
        int fd = file("0123456789");
        MemorySegment room = text("....");

        assertThat(FileIo.read(fd, room, 8)).isEqualTo(2);
        assertThat(text(room)).isEqualTo("89..");
        assertThat(FileIo.read(fd, room, 10)).isZero();
        assertThat(FileIo.read(fd, room, 1000)).isZero();
    }

    @Test
    void shouldWriteAtAnOffset() throws IOException {
        int fd = file("0123456789");

        assertThat(FileIo.write(fd, text("ab"), 4)).isEqualTo(2);
        assertThat(FileIo.write(fd, text("xyz"), 9)).isEqualTo(3);

        assertThat(content()).isEqualTo("0123ab678xyz");
    }

    @Test
    void shouldWriteDurablyAtAnOffset() throws IOException {
        int fd = file("0123456789");

        assertThat(FileIo.writeDurably(fd, text("ab"), 4)).isEqualTo(2);
        assertThat(FileIo.writeDurably(fd, text("xyz"), 9)).isEqualTo(3);

        assertThat(content()).isEqualTo("0123ab678xyz");
        assertThatThrownBy(() -> FileIo.writeDurably(-1, text("ab"), 4))
                .hasMessage("pwritev2 failed: errno=9 (EBADF), fd=-1, sizeBytes=2, offsetBytes=4");
    }

    @Test
    void shouldSyncFilesAndFolders() throws IOException {
        int fd = file("0123456789");
        int directory = files.own(FileDescriptors.open(folder.toString(), 0, 0));

        FileIo.syncData(fd);
        FileIo.sync(fd);
        FileIo.sync(directory);
        assertThat(FileIo.takeLossReport(fd)).isZero();
        assertThat(FileIo.takeLossReport(-1)).isEqualTo(Errno.EBADF);

        int socket = files.pair()[0];
        assertThatThrownBy(() -> FileIo.syncData(socket))
                .hasMessage("fdatasync failed: errno=22 (EINVAL), fd=" + socket);
        assertThatThrownBy(() -> FileIo.sync(-1))
                .hasMessage("fsync failed: errno=9 (EBADF), fd=-1");
    }

    @Test
    void shouldNameTheFileSizeAndPlaceOfAFailure() throws IOException {
        int fd = file("0123456789");
        int readOnly = files.own(FileDescriptors.open("/proc/self/fd/" + fd, 0, 0));
        MemorySegment room = arena.allocate(4);

        assertThatThrownBy(() -> FileIo.write(readOnly, room, 2))
                .hasMessage(
                        "pwrite failed: errno=9 (EBADF), fd="
                                + readOnly
                                + ", sizeBytes=4, offsetBytes=2");
        assertThatThrownBy(() -> FileIo.read(fd, room, -1))
                .hasMessage(
                        "pread failed: errno=22 (EINVAL), fd="
                                + fd
                                + ", sizeBytes=4, offsetBytes=-1");
        // The kernel answers for an address that is not mapped; nothing crashes.
        assertThatThrownBy(() -> FileIo.read(fd, MemorySegment.ofAddress(1).reinterpret(4), 0))
                .hasMessageContaining("EFAULT");
    }
}
