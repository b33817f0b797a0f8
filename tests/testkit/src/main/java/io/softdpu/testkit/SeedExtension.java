package io.softdpu.testkit;

import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Gives tests their {@link SeededRandom} and names the seed in the failure of a test that took one.
 *
 * <p>All parameters of one test share a seed, and each gets a sequence of its own in the order of
 * the parameters. JUnit finds this extension by ServiceLoader.
 */
public final class SeedExtension
        implements ParameterResolver,
                TestExecutionExceptionHandler,
                LifecycleMethodExecutionExceptionHandler {

    private static final ExtensionContext.Namespace SEEDS =
            ExtensionContext.Namespace.create(SeedExtension.class);

    /** For JUnit. */
    public SeedExtension() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == SeededRandom.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        SeededRandom origin =
                context.getStore(SEEDS)
                        .computeIfAbsent(
                                SeededRandom.class,
                                key -> new SeededRandom(chooseSeed()),
                                SeededRandom.class);
        return origin.fork();
    }

    private static long chooseSeed() {
        Long given = Long.getLong(SeededRandom.SEED_PROPERTY);
        return given != null ? given : ThreadLocalRandom.current().nextLong();
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure)
            throws Throwable {
        throw withSeed(context, failure);
    }

    @Override
    public void handleBeforeEachMethodExecutionException(
            ExtensionContext context, Throwable failure) throws Throwable {
        throw withSeed(context, failure);
    }

    @Override
    public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure)
            throws Throwable {
        throw withSeed(context, failure);
    }

    private static Throwable withSeed(ExtensionContext context, Throwable failure) {
        @Nullable SeededRandom random =
                context.getStore(SEEDS).get(SeededRandom.class, SeededRandom.class);
        if (random != null) {
            failure.addSuppressed(new SeedOfFailure(random.seed()));
        }
        return failure;
    }

    /** Carries the seed into the report of a failure; thrown nowhere. */
    static final class SeedOfFailure extends Exception {

        SeedOfFailure(long seed) {
            super("run it again with -D" + SeededRandom.SEED_PROPERTY + "=" + seed, null);
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }
}
