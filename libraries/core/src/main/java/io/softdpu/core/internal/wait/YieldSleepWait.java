package io.softdpu.core.internal.wait;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Wait strategy that yields for a while, then sleeps: for an engine that shares its processor with
 * other pollers. With fewer processors than pollers each spin delays the peer that must run (25
 * instead of 154 thousand operations per second at depth 1), so only {@link #awaitSoon} spins, and
 * only shortly.
 */
public final class YieldSleepWait extends SleepingWait {
    private final ShortSpin shortSpin;

    /**
     * A strategy with the clock and the yield of this program.
     *
     * @param affinity the affinity of the thread, told of its yields; null if they change nothing
     */
    public YieldSleepWait(@Nullable AffinityPolicy affinity) {
        this(affinity, System::nanoTime, Thread::yield);
    }

    /** A strategy with a clock and a yield of its own, for tests. */
    public YieldSleepWait(
            @Nullable AffinityPolicy affinity, LongSupplier nanoClock, Runnable yielding) {
        super(affinity, nanoClock, yielding);
        this.shortSpin = new ShortSpin(predictor(), affinity != null);
    }

    @Override
    public boolean awaitSoon(Waitable waitable, long timeoutNanos) {
        return (timeoutNanos > 0 && shortSpin.poll(waitable)) || await(waitable, timeoutNanos);
    }

    @Override
    boolean spin(Waitable waitable) {
        return false;
    }
}
