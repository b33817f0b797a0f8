package io.softdpu.core.internal.wait;

import java.util.function.LongSupplier;

/**
 * Wait strategy that spins, yields for a while, then sleeps: for an engine with its own processor,
 * if there are more processors than pollers. The spin saves the system call of the yield.
 */
public final class SpinYieldSleepWait extends SleepingWait {
    /** Number of polls before the first yield. */
    static final int SPIN_POLLS = 500;

    /** A strategy with the clock and the yield of this program. */
    public SpinYieldSleepWait() {
        this(System::nanoTime, Thread::yield);
    }

    /** A strategy with a clock and a yield of its own, for tests. */
    SpinYieldSleepWait(LongSupplier nanoClock, Runnable yielding) {
        super(null, nanoClock, yielding);
    }

    /** {@inheritDoc} Every wait spins, so this is {@link #await}. */
    @Override
    public boolean awaitSoon(Waitable waitable, long timeoutNanos) {
        return await(waitable, timeoutNanos);
    }

    @Override
    boolean spin(Waitable waitable) {
        for (int i = 0; i < SPIN_POLLS; i++) {
            Thread.onSpinWait();
            if (waitable.progress()) {
                predictor().ended(0);
                return true;
            }
        }
        return false;
    }
}
