package io.softdpu.block.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.OpenFileLocks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileLockTest {
    private static final long SECOND_BYTE = FileLock.FIRST_BYTE + 1;

    @TempDir Path folder;

    private final List<Integer> opened = new ArrayList<>();
    private FileLock lock;

    @BeforeEach
    void acquire() {
        lock = FileLock.acquire(open(), file(), false, Duration.ZERO);
    }

    @AfterEach
    void closeAll() {
        opened.forEach(FileDescriptors::close);
    }

    private Path file() {
        return folder.resolve("volume");
    }

    private int open() {
        int fd =
                FileDescriptors.open(
                        file().toString(), FileDescriptors.O_RDWR | FileDescriptors.O_CREAT, 0600);
        opened.add(fd);
        return fd;
    }

    @Test
    void shouldGiveEachOpenFileAPlaceOfItsOwn() {
        int first = lock.lock(open());
        int second = lock.lock(open());

        assertThat(first).isPositive();
        assertThat(second).isPositive().isNotEqualTo(first);
        assertThat(OpenFileLocks.conflict(open(), true, FileLock.FIRST_BYTE + first, 1))
                .isPresent();
        assertThat(OpenFileLocks.conflict(open(), true, FileLock.FIRST_BYTE + second, 1))
                .isPresent();
    }

    /** The kernel closes the open file of a request of io_uring after its completion. */
    @Test
    void shouldPassOverAPlaceWhoseOpenFileIsStillInTheKernel() {
        int late = open();
        int place = lock.lock(late);
        lock.release(place);

        int next = lock.lock(open());
        assertThat(next).isPositive().isNotEqualTo(place);
        opened.removeIf(fd -> fd == late);
        FileDescriptors.close(late);
        assertThat(lock.lock(open())).isEqualTo(place);
    }

    @Test
    void shouldRefuseAFileOfWhichAnotherProgramHasLockedAll() {
        assertThat(OpenFileLocks.tryLockExclusive(open(), SECOND_BYTE, FileLock.BYTES - 1))
                .isTrue();

        assertThatThrownBy(() -> lock.lock(open()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refusal -> {
                            assertThat(refusal.status()).isEqualTo(Status.IN_USE);
                            assertThat(refusal).hasMessageContaining(file().toString());
                        });
    }
}
