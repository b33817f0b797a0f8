package io.softdpu.testkit;

import java.util.List;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;

/**
 * Fails a test that starts a process and is not marked with {@link StartsProcesses}, in every
 * build. What is started for all tests of a class needs the mark on the class. JUnit finds this
 * extension by ServiceLoader.
 */
public final class StartsProcessesExtension
        implements BeforeAllCallback, TestInstancePreConstructCallback, BeforeEachCallback {

    private static final ExtensionContext.Namespace BASELINES =
            ExtensionContext.Namespace.create(StartsProcessesExtension.class);

    /** For JUnit. */
    public StartsProcessesExtension() {}

    @Override
    public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
        return ExtensionContextScope.TEST_METHOD;
    }

    @Override
    public void preConstructTestInstance(
            TestInstanceFactoryContext instance, ExtensionContext context) {
        begin(context);
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        begin(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        begin(context);
    }

    /** Once per context: the store of a test answers with what that of its class holds, too. */
    private static void begin(ExtensionContext context) {
        boolean mayStart = context.getTags().contains(StartsProcesses.TAG);
        context.getStore(BASELINES)
                .computeIfAbsent(
                        context.getUniqueId(),
                        id -> new Baseline(mayStart, ProcessStarts.count()),
                        Baseline.class);
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
