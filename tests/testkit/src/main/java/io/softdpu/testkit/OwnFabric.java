package io.softdpu.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Clears the fabric folder of this process after each test, for tests that open a machine there:
 * the first machine makes files that remain.
 */
public final class OwnFabric implements BeforeEachCallback {
    private static final ExtensionContext.Namespace STORE =
            ExtensionContext.Namespace.create(OwnFabric.class);

    /** For JUnit. */
    public OwnFabric() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        // Closed after the processes that the test starts, whose files come and go until then.
        AutoCloseable deletion = OwnFabric::delete;
        context.getStore(STORE).put(OwnFabric.class, deletion);
    }

    private static void delete() throws IOException {
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
