package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@link TerminalWindow}. */
class TerminalWindowTest {
    @TempDir Path folder;

    @Test
    void shouldHaveNoColumnsForAFile() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        int fd = FileDescriptors.open(file.toString(), FileDescriptors.O_RDWR, 0);
        try {
            assertThat(TerminalWindow.columns(fd)).isEmpty();
        } finally {
            FileDescriptors.close(fd);
        }
    }

    /** The kernel gives a new terminal no size. */
    @Test
    void shouldHaveNoColumnsForATerminalWithoutASize() {
        int fd =
                FileDescriptors.open(
                        "/dev/ptmx", FileDescriptors.O_RDWR | FileDescriptors.O_NOCTTY, 0);
        try {
            assertThat(TerminalWindow.columns(fd)).isEmpty();
        } finally {
            FileDescriptors.close(fd);
        }
    }
}
