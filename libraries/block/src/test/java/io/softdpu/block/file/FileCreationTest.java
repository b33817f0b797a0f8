package io.softdpu.block.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileCreationTest {
    /** The longest name of Linux. */
    private static final int NAME_BYTES = 255;

    @TempDir Path folder;

    @Test
    void shouldCreateAFileWithALongName() throws IOException {
        Path file = folder.resolve("v".repeat(NAME_BYTES));

        FileOptions options = new FileOptions(file, false, false, false, 4096, 0, Duration.ZERO);
        FileCreation.createIfMissing(file, 4096, new FileCheck(options, 512));

        assertThat(file).hasSize(4096);
        try (Stream<Path> all = Files.list(folder)) {
            assertThat(all).containsExactly(file);
        }
    }
}
