package io.softdpu.testkit;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Prints a warning for each test class that takes longer than a class should at the level of the
 * build. JUnit finds this listener by ServiceLoader wherever testkit is on the test class path.
 */
public final class SlowClassListener implements TestExecutionListener {

    private final Duration limit;
    private final LongSupplier nanoTime;
    private final Consumer<String> out;
    private final Map<String, Long> begun = new ConcurrentHashMap<>();

    /** Prints to standard output, with the limit of the level. */
    public SlowClassListener() {
        this(
                Soak.duration(
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(60),
                        Duration.ofSeconds(Long.MAX_VALUE)),
                System::nanoTime,
                System.out::println);
    }

    SlowClassListener(Duration limit, LongSupplier nanoTime, Consumer<String> out) {
        this.limit = limit;
        this.nanoTime = nanoTime;
        this.out = out;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.getSource().orElse(null) instanceof ClassSource) {
            begun.put(test.getUniqueId(), nanoTime.getAsLong());
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Long begin = begun.remove(test.getUniqueId());
        if (begin == null || !(test.getSource().orElse(null) instanceof ClassSource source)) {
            return;
        }
        Duration took = Duration.ofNanos(nanoTime.getAsLong() - begin);
        if (took.compareTo(limit) > 0) {
            out.accept(
                    String.format(
                            Locale.ROOT,
                            "slow test class: class=%s, seconds=%.1f, limit=%d",
                            source.getClassName(),
                            took.toMillis() / 1e3,
                            limit.toSeconds()));
        }
    }
}
