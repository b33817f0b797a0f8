package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.linux.OpenFileLocks.Conflict;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OpenFileLocksTest {
    @TempDir Path folder;

    private final OpenFiles files = new OpenFiles();
    private Path file;

    @BeforeEach
    void createFile() throws IOException {
        file = Files.createFile(folder.resolve("file"));
    }

    @AfterEach
    void closeFiles() {
        files.close();
    }

    private int open(int flags) {
        return files.own(FileDescriptors.open(file.toString(), flags, 0));
    }

    private int open() {
        return open(FileDescriptors.O_RDWR);
    }

    @Test
    void shouldExcludeOtherOpenFilesOfThisProcessFromARange() {
        int first = open();
        int second = open();

        assertThat(OpenFileLocks.tryLockExclusive(first, 3, 2)).isTrue();

        assertThat(OpenFileLocks.tryLockExclusive(second, 4, 1)).isFalse();
        assertThat(OpenFileLocks.tryLockShared(second, 4, 1)).isFalse();
        assertThat(OpenFileLocks.tryLockExclusive(second, 0, 0)).isFalse();
        assertThat(OpenFileLocks.tryLockExclusive(second, 0, 3)).isTrue();
        assertThat(OpenFileLocks.tryLockExclusive(second, 5, 1)).isTrue();
        assertThat(OpenFileLocks.tryLockExclusive(first, 3, 1)).isTrue(); // its own
    }

    @Test
    void shouldShareARangeAndConvertIt() {
        int first = open(FileDescriptors.O_RDONLY);
        int second = open();

        assertThat(OpenFileLocks.tryLockShared(first, 0, 1)).isTrue();
        assertThat(OpenFileLocks.tryLockShared(second, 0, 1)).isTrue();
        assertThat(OpenFileLocks.tryLockExclusive(second, 0, 1)).isFalse();
        OpenFileLocks.unlock(first, 0, 0);
        assertThat(OpenFileLocks.tryLockExclusive(second, 0, 1)).isTrue();
        assertThat(OpenFileLocks.tryLockShared(first, 0, 1)).isFalse();
    }

    @Test
    void shouldEndALockWithTheLastDescriptorOfItsOpenFileAlone() {
        int holder = open();
        int same = files.own(FileDescriptors.duplicate(holder));
        int other = open();
        assertThat(OpenFileLocks.tryLockExclusive(holder, 0, 1)).isTrue();

        FileDescriptors.close(FileDescriptors.open(file.toString(), 0, 0));
        files.close(holder);
        assertThat(OpenFileLocks.tryLockExclusive(other, 0, 1)).isFalse();
        files.close(same);
        assertThat(OpenFileLocks.tryLockExclusive(other, 0, 1)).isTrue();
    }

    @Test
    void shouldTellAConflict() {
        int holder = open();
        int other = open();
        assertThat(OpenFileLocks.conflict(other, true, 0, 0)).isEmpty();
        assertThat(OpenFileLocks.tryLockShared(holder, 7, 3)).isTrue();

        assertThat(OpenFileLocks.conflict(other, true, 0, 0))
                .contains(new Conflict(false, 7, 3, -1));
        assertThat(OpenFileLocks.conflict(other, false, 0, 0)).isEmpty();
        assertThat(OpenFileLocks.conflict(other, true, 10, 0)).isEmpty();
        assertThat(OpenFileLocks.conflict(holder, true, 0, 0)).isEmpty();
        assertThat(OpenFileLocks.tryLockExclusive(holder, 8, 0)).isTrue();
        assertThat(OpenFileLocks.conflict(other, false, 0, 0))
                .contains(new Conflict(true, 8, 0, -1));
    }

    @Test
    void shouldTellTheProcessOfALockThatAProcessHolds() throws IOException {
        int other = open();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
                FileLock lock = channel.lock(2, 5, false)) {
            assertThat(lock.isValid()).isTrue();
            assertThat(OpenFileLocks.tryLockExclusive(other, 0, 0)).isFalse();
            assertThat(OpenFileLocks.conflict(other, true, 0, 0))
                    .contains(new Conflict(true, 2, 5, Identity.pid()));
        }
        assertThat(OpenFileLocks.tryLockExclusive(other, 0, 0)).isTrue();
    }

    @Test
    void shouldNotSeeLocksOfWholeFiles() {
        int first = open();
        int second = open();

        assertThat(FileDescriptors.tryLockExclusive(first)).isTrue();

        assertThat(OpenFileLocks.tryLockExclusive(second, 0, 0)).isTrue();
    }

    @Test
    void shouldNameAFailure() {
        int readOnly = open(FileDescriptors.O_RDONLY);

        assertThatThrownBy(() -> OpenFileLocks.tryLockExclusive(readOnly, 3, 1))
                .hasMessage(
                        "fcntl(F_OFD_SETLK) failed: errno=9 (EBADF), fd="
                                + readOnly
                                + ", offsetBytes=3, sizeBytes=1");
        assertThatThrownBy(() -> OpenFileLocks.conflict(readOnly, true, -1, 1))
                .hasMessageStartingWith("fcntl(F_OFD_GETLK) failed: errno=22 (EINVAL)");
    }
}
