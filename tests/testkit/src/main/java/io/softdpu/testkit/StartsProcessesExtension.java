package io.softdpu.testkit;

import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test that starts a process and is not marked with {@link StartsProcesses}, in every
 * build. What is started for all tests of a class needs the mark on the class. JUnit finds this
 * extension by ServiceLoader.
 */
public final class StartsProcessesExtension extends BaselineExtension {

    /** For JUnit. */
    public StartsProcessesExtension() {}

    @Override
    AutoCloseable baseline(ExtensionContext context) {
        return new Baseline(context.getTags().contains(StartsProcesses.TAG), ProcessStarts.count());
    }

    /**
     * Closed by JUnit at the end of the test or class; what it takes is not its class's any more.
     */
    private record Baseline(boolean mayStart, int startsBefore) implements AutoCloseable {

        @Override
        public void close() {
            List<Throwable> starts = ProcessStarts.takeSince(startsBefore);
            if (mayStart || starts.isEmpty()) {
                return;
            }
            AssertionError failure =
                    new AssertionError(
                            "starts a process without @StartsProcesses: processes="
                                    + starts.size()
                                    + ", first="
                                    + starts.getFirst().getMessage());
            starts.forEach(failure::addSuppressed);
            throw failure;
        }
    }
}
