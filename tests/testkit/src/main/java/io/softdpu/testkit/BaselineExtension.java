package io.softdpu.testkit;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;

/**
 * Extension that takes a baseline before a test's instance is created and compares with it after
 * all of the test has been cleaned up; the same for a class.
 */
abstract class BaselineExtension
        implements BeforeAllCallback, TestInstancePreConstructCallback, BeforeEachCallback {

    private final ExtensionContext.Namespace baselines =
            ExtensionContext.Namespace.create(getClass());

    /**
     * Takes the baseline.
     *
     * @param context of the test or class
     * @return compares when it is closed, and throws if the test has to fail
     */
    abstract AutoCloseable baseline(ExtensionContext context);

    @Override
    public final ExtensionContextScope getTestInstantiationExtensionContextScope(
            ExtensionContext root) {
        return ExtensionContextScope.TEST_METHOD;
    }

    @Override
    public final void preConstructTestInstance(
            TestInstanceFactoryContext instance, ExtensionContext context) {
        begin(context);
    }

    @Override
    public final void beforeAll(ExtensionContext context) {
        begin(context);
    }

    @Override
    public final void beforeEach(ExtensionContext context) {
        begin(context);
    }

    /**
     * Once a context, as early as it goes. JUnit closes what a store holds when all else of its
     * context has ended, the first last.
     */
    private void begin(ExtensionContext context) {
        // A store answers with what the store of the class holds, too; hence a key of its own.
        context.getStore(baselines)
                .computeIfAbsent(
                        context.getUniqueId(), id -> baseline(context), AutoCloseable.class);
    }
}
