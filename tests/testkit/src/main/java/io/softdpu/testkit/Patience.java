package io.softdpu.testkit;

import java.time.Duration;

/**
 * Deadline of every wait of a test whose end is not what the test is about: far beyond the duration
 * of any step, also on a slow and busy machine. A wait that ends early costs nothing.
 *
 * <p>Waits of the product that a test does not mean to end by their time limit have this limit,
 * too. JUnit's limit per test and Surefire's per module are longer. JVMs that a test starts by
 * {@link JavaCommand} have the same deadline.
 */
public final class Patience {

    /** The system property that sets the deadline, in seconds. */
    static final String PROPERTY = "softdpu.test.patience";

    /** The deadline in seconds, for methods of the JDK that take a number and a unit. */
    public static final long SECONDS = Long.getLong(PROPERTY, 180);

    /** The deadline. */
    public static final Duration LIMIT = Duration.ofSeconds(SECONDS);

    /** The deadline in nanoseconds. */
    public static final long NANOS = LIMIT.toNanos();

    private Patience() {}
}
