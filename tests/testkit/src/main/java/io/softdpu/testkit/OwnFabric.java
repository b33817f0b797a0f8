package io.softdpu.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Clears the fabric folder of this process after each test, for tests that open a machine there:
 * the first machine makes files that remain.
 */
public final class OwnFabric implements AfterEachCallback {
    /** For JUnit. */
    public OwnFabric() {}

    @Override
    public void afterEach(ExtensionContext context) throws IOException {
        Path folder =
                Path.of(
                        Objects.requireNonNull(
                                System.getenv("SOFTDPU_FABRIC"), "set by the build"));
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
