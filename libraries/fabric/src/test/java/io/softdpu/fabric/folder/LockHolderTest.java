package io.softdpu.fabric.folder;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.FileDescriptors;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LockHolderTest {
    private static final List<String> LOCKS =
            List.of(
                    "1: POSIX  ADVISORY  WRITE 10 00:1b:42 0 EOF",
                    "2: FLOCK  ADVISORY  READ  11 00:1b:42 0 EOF",
                    "3: FLOCK  ADVISORY  WRITE 12 00:1c:42 0 EOF",
                    "3: -> FLOCK  ADVISORY  WRITE 13 00:1b:42 0 EOF",
                    "4: FLOCK  ADVISORY  WRITE 14 00:1b:42 0 EOF",
                    "5: FLOCK  ADVISORY  WRITE -1 00:1b:43 0 EOF",
                    "");

    @Test
    void shouldNameTheProcessThatHoldsTheLockOfThatFile() {
        assertThat(LockHolder.pidOf("00:1b:42", LOCKS)).isEqualTo(14);
        assertThat(LockHolder.pidOf("00:1b:43", LOCKS)).as("of another container").isZero();
        assertThat(LockHolder.pidOf("00:1b:44", LOCKS)).isZero();
    }

    @Test
    void shouldNameThisProcessForALockOfItsOwnAndNoneWithoutALock(@TempDir Path folder)
            throws Exception {
        Path file = Files.createFile(folder.resolve("name.lock"));
        assertThat(LockHolder.pidOf(file)).isZero();
        int lock = FileDescriptors.open(file.toString(), FileDescriptors.O_RDWR, 0);
        try {
            assertThat(FileDescriptors.tryLockExclusive(lock)).isTrue();
            assertThat(LockHolder.pidOf(file)).isEqualTo(ProcessHandle.current().pid());
        } finally {
            FileDescriptors.close(lock);
        }
        assertThat(LockHolder.pidOf(folder.resolve("missing"))).isZero();
    }
}
