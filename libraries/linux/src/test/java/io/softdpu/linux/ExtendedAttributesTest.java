package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Skipped where the temporary folder has no attributes, as on tmpfs before Linux 6.6. */
final class ExtendedAttributesTest {
    private static final String NAME = "user.softdpu.test";

    @TempDir Path folder;

    private final OpenFiles files = new OpenFiles();
    private int fd;

    @BeforeEach
    void openFile() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        fd = files.own(FileDescriptors.open(file.toString(), FileDescriptors.O_RDWR, 0));
        try {
            ExtendedAttributes.set(fd, "user.softdpu.tried", new byte[0]);
        } catch (LinuxException e) {
            abort(e.getMessage());
        }
    }

    @AfterEach
    void closeFiles() {
        files.close();
    }

    @Test
    void shouldKeepWhatWasSetLast() {
        assertThat(ExtendedAttributes.get(fd, NAME)).isEmpty();

        ExtendedAttributes.set(fd, NAME, new byte[] {1, 0, -1});
        assertThat(ExtendedAttributes.get(fd, NAME)).hasValue(new byte[] {1, 0, -1});
        ExtendedAttributes.set(fd, NAME, new byte[] {2});

        assertThat(ExtendedAttributes.get(fd, NAME)).hasValue(new byte[] {2});
        int again = files.own(FileDescriptors.open(folder.resolve("file").toString(), 0, 0));
        assertThat(ExtendedAttributes.get(again, NAME)).hasValue(new byte[] {2});
        assertThat(ExtendedAttributes.get(fd, "user.softdpu.tried")).hasValue(new byte[0]);
    }

    @Test
    void shouldNameAFailure() {
        assertThatThrownBy(() -> ExtendedAttributes.get(-1, NAME))
                .hasMessage("fgetxattr failed: errno=9 (EBADF), fd=-1, name=" + NAME);
        assertThatThrownBy(() -> ExtendedAttributes.set(-1, NAME, new byte[3]))
                .hasMessage(
                        "fsetxattr failed: errno=9 (EBADF), fd=-1, name=" + NAME + ", sizeBytes=3");
        byte[] tooLong = new byte[ExtendedAttributes.MAX_BYTES + 1];
        assertThatThrownBy(() -> ExtendedAttributes.set(fd, NAME, tooLong))
                .hasMessageContainingAll("E2BIG", "sizeBytes=65537");
        assertThatThrownBy(() -> ExtendedAttributes.get(fd, "nonamespace"))
                .hasMessageContaining("EOPNOTSUPP");
    }
}
