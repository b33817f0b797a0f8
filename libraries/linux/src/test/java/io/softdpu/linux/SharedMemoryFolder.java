package io.softdpu.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/** Folders of tests on tmpfs, where others are on a disk. */
final class SharedMemoryFolder implements TempDirFactory {
    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
            throws IOException {
        return Files.createTempDirectory(Path.of("/dev/shm"), "softdpu-test");
    }
}
