package io.softdpu.testkit;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A clock that advances only when the test moves it; any thread may read it.
 *
 * <p>It counts nanoseconds like {@link System#nanoTime()}, and starts a second before its number
 * overflows: code that compares two readings with {@code <} instead of their difference fails with
 * it, as it would on some machine one day.
 */
public final class FakeClock implements LongSupplier {

    private final AtomicLong nowNanos =
            new AtomicLong(Long.MAX_VALUE - Duration.ofSeconds(1).toNanos());

    /** Starts a second before the overflow. */
    public FakeClock() {}

    /**
     * The time, which has no meaning but by its difference to another reading.
     *
     * @return nanoseconds
     */
    public long nowNanos() {
        return nowNanos.get();
    }

    /** The same as {@link #nowNanos()}, for code that takes its clock as a function. */
    @Override
    public long getAsLong() {
        return nowNanos();
    }

    /**
     * Lets time pass.
     *
     * @param nanos how much, not negative
     */
    public void advanceNanos(long nanos) {
        if (nanos < 0) {
            throw new IllegalArgumentException("time does not run backwards: nanos=" + nanos);
        }
        nowNanos.addAndGet(nanos);
    }

    /**
     * Lets time pass.
     *
     * @param duration how much, not negative
     */
    public void advance(Duration duration) {
        advanceNanos(duration.toNanos());
    }
}
