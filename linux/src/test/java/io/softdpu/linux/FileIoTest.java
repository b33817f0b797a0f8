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

        assertThat(FileIo.pread(fd, room.address(), 4, 3)).isEqualTo(4);

        assertThat(text(room)).isEqualTo("3456");
    }

    @Test
    void shouldReadLessAtTheEndAndNothingBeyond() throws IOException {
        int fd = file("0123456789");
        MemorySegment room = text("....");

        assertThat(FileIo.pread(fd, room.address(), 4, 8)).isEqualTo(2);
        assertThat(text(room)).isEqualTo("89..");
        assertThat(FileIo.pread(fd, room.address(), 4, 10)).isZero();
        assertThat(FileIo.pread(fd, room.address(), 4, 1000)).isZero();
    }

    @Test
    void shouldWriteAtAnOffset() throws IOException {
        int fd = file("0123456789");

        assertThat(FileIo.pwrite(fd, text("ab").address(), 2, 4)).isEqualTo(2);
        assertThat(FileIo.pwrite(fd, text("xyz").address(), 3, 9)).isEqualTo(3);

        assertThat(content()).isEqualTo("0123ab678xyz");
    }

    @Test
    void shouldScatterAndGather() throws IOException {
        int fd = file("0123456789");
        MemorySegment first = text("..");
        MemorySegment second = text("...");
        IoVector vector = new IoVector(4);
        vector.add(first.address(), 2);
        vector.add(second.address(), 3);
        assertThat(vector.count()).isEqualTo(2);
        assertThat(vector.totalBytes()).isEqualTo(5);

        assertThat(FileIo.preadv(fd, vector, 1)).isEqualTo(5);
        assertThat(text(first)).isEqualTo("12");
        assertThat(text(second)).isEqualTo("345");

        assertThat(FileIo.pwritev(fd, vector, 8)).isEqualTo(5);
        assertThat(content()).isEqualTo("0123456712345");
        assertThat(FileIo.preadv(fd, vector, 1000)).isZero();
    }

    @Test
    void shouldUseAVectorAgainAfterClearing() throws IOException {
        int fd = file("0123456789");
        IoVector vector = new IoVector(1);
        vector.add(arena.allocate(4).address(), 4);
        vector.clear();
        assertThat(vector.count()).isZero();
        assertThat(vector.totalBytes()).isZero();
        MemorySegment room = arena.allocate(1);

        vector.add(room.address(), 1);

        assertThat(FileIo.preadv(fd, vector, 9)).isEqualTo(1);
        assertThat(text(room)).isEqualTo("9");
    }

    @Test
    void shouldRefuseMoreRangesThanThereIsRoomFor() {
        IoVector vector = new IoVector(1);
        vector.add(0, 0);

        assertThatThrownBy(() -> vector.add(0, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("list is full: capacity=1");
        assertThatThrownBy(() -> new IoVector(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new IoVector(IoVector.MAX_RANGES + 1))
                .isInstanceOf(IllegalArgumentException.class);
        vector.clear();
        assertThatThrownBy(() -> vector.add(0, -1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldTakeAsManyRangesAsTheKernelDoes() throws IOException {
        int fd = file("x".repeat(IoVector.MAX_RANGES));
        MemorySegment room = arena.allocate(IoVector.MAX_RANGES);
        IoVector vector = new IoVector(IoVector.MAX_RANGES);
        for (int i = 0; i < IoVector.MAX_RANGES; i++) {
            vector.add(room.address() + i, 1);
        }

        assertThat(FileIo.preadv(fd, vector, 0)).isEqualTo(IoVector.MAX_RANGES);
        assertThat(text(room)).isEqualTo("x".repeat(IoVector.MAX_RANGES));
    }

    @Test
    void shouldNameTheFileSizeAndPlaceOfAFailure() throws IOException {
        int fd = file("0123456789");
        int readOnly = files.own(FileDescriptors.open("/proc/self/fd/" + fd, 0, 0));
        MemorySegment room = arena.allocate(4);
        IoVector vector = new IoVector(1);
        vector.add(room.address(), 4);

        assertThatThrownBy(() -> FileIo.pwrite(readOnly, room.address(), 4, 2))
                .hasMessage(
                        "pwrite failed: errno=9 (EBADF), fd="
                                + readOnly
                                + ", sizeBytes=4, offsetBytes=2");
        assertThatThrownBy(() -> FileIo.pwritev(readOnly, vector, 2))
                .hasMessage(
                        "pwritev failed: errno=9 (EBADF), fd="
                                + readOnly
                                + ", sizeBytes=4, offsetBytes=2");
        assertThatThrownBy(() -> FileIo.pread(fd, room.address(), 4, -1))
                .hasMessage(
                        "pread failed: errno=22 (EINVAL), fd="
                                + fd
                                + ", sizeBytes=4, offsetBytes=-1");
        assertThatThrownBy(() -> FileIo.preadv(fd, vector, -1))
                .hasMessageStartingWith("preadv failed: errno=22 (EINVAL)");
        // The kernel answers for an address that is not mapped; nothing crashes.
        assertThatThrownBy(() -> FileIo.pread(fd, 1, 4, 0)).hasMessageContaining("EFAULT");
    }
}
