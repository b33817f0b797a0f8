package io.softdpu.testkit;

import java.time.Duration;

/**
 * Deadline of every wait of a test, and the time limit that a test gives the product where its end
 * is not what the test is about. Both are far beyond the duration of any step, also on a slow and
 * busy machine. A wait that ends early costs nothing.
 *
 * <p>The limit of the product is longer by a third, so that what only a time limit ends fails the
 * wait of the test before. JUnit's limit per test and Surefire's per module are longer than both.
 * JVMs that a test starts by {@link JavaCommand} have the same deadline.
 */
public final class Patience {

    /** The system property that sets the deadline, in seconds. */
    static final String PROPERTY = "softdpu.test.patience";

    /** The deadline of waits of tests in seconds, for methods that take a number and a unit. */
    public static final long SECONDS = Long.getLong(PROPERTY, 180);

    /** The deadline of waits of tests. */
    public static final Duration DEADLINE = Duration.ofSeconds(SECONDS);

    /** The time limit of the product in tests. */
    public static final Duration LIMIT = DEADLINE.plusSeconds(SECONDS / 3);

    /** The time limit of the product in nanoseconds. */
    public static final long NANOS = LIMIT.toNanos();

    private Patience() {}
}
