package io.softdpu.core.internal;

import java.util.function.LongSupplier;

/**
 * How an engine waits: look, spin a little, yield for a while, then arm, look again, and sleep.
 *
 * <p>The figures behind the constants were measured with three processes in a row (initiator,
 * relay, target) on two cores, over rings in shared memory. Belongs to the thread of its engine;
 * allocates nothing.
 */
public final class WaitStrategy {
    /**
     * Looks before the first yield where each poller has a core of its own: it saves the yield's
     * system call. With fewer cores than pollers each spin delays the peer that must run (25
     * instead of 154 thousand operations a second at depth 1), so then there is none.
     */
    public static final int SPINS_WITH_OWN_CORE = 500;

    /**
     * Wall time of yielding before a sleep. A sleep costs the peer a system call and us 40
     * microseconds of waking up; ten yields are too short to bridge the gap between two requests.
     */
    public static final long YIELD_NANOS = 100_000;

    /**
     * A yield that takes longer shows that somebody else computes on this core: it then costs a
     * whole time slice (4 ms), for which no gap between two requests is worth waiting.
     */
    public static final long SLOW_YIELD_NANOS = 400_000;

    /**
     * Idle spells that go to sleep at once after a slow yield, before yielding is tried again.
     * Without this one competing thread makes the pipeline 50 to 500 times slower.
     */
    public static final int SPELLS_WITHOUT_YIELD = 256;

    /** What waits. */
    public interface Waiter {
        /** Does what can be done now; whether anything was done. */
        boolean progress();

        /** Whether somebody has asked for the wait to end; asking takes the request back. */
        boolean takeWake();

        /**
         * Arms everything, with a full fence after it.
         *
         * @return true if there is something to do already
         */
        boolean arm();

        /** Takes {@link #arm()} back. */
        void disarm();

        /** Sleeps until something rings, at most this long. */
        void sleep(long timeoutNanos);
    }

    private final int spins;
    private final LongSupplier nanoClock;
    private final Runnable yielding;
    private int spellsWithoutYield;

    /**
     * A strategy for this program's threads and clock.
     *
     * @param spins looks before the first yield: {@link #SPINS_WITH_OWN_CORE} or 0
     */
    public WaitStrategy(int spins) {
        this(spins, System::nanoTime, Thread::yield);
    }

    /** A strategy with a clock and a yield of its own, for tests. */
    public WaitStrategy(int spins, LongSupplier nanoClock, Runnable yielding) {
        this.spins = spins;
        this.nanoClock = nanoClock;
        this.yielding = yielding;
    }

    /**
     * Waits until something is done, the time is over, or a wake is taken.
     *
     * @param timeoutNanos 0 looks once
     * @return whether something was done
     */
    public boolean await(Waiter waiter, long timeoutNanos) {
        if (waiter.progress()) {
            return true;
        }
        if (timeoutNanos == 0 || waiter.takeWake()) {
            return false;
        }
        long begin = nanoClock.getAsLong();
        while (true) {
            if (poll(waiter, begin, timeoutNanos)) {
                return true;
            }
            if (waiter.takeWake()) {
                return false;
            }
            long left = timeoutNanos - (nanoClock.getAsLong() - begin);
            if (left <= 0) {
                return false;
            }
            if (sleep(waiter, left)) {
                return true;
            }
        }
    }

    /** The idle spell before a sleep: spins, then yields. */
    private boolean poll(Waiter waiter, long begin, long timeoutNanos) {
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
            if (waiter.progress()) {
                return true;
            }
        }
        if (spellsWithoutYield > 0) {
            spellsWithoutYield--;
            return false;
        }
        long spellBegin = nanoClock.getAsLong();
        long before = spellBegin;
        while (before - spellBegin < YIELD_NANOS && before - begin < timeoutNanos) {
            yielding.run();
            long after = nanoClock.getAsLong();
            if (waiter.progress()) {
                return true;
            }
            if (after - before > SLOW_YIELD_NANOS) {
                spellsWithoutYield = SPELLS_WITHOUT_YIELD;
                return false;
            }
            before = nanoClock.getAsLong();
        }
        return false;
    }

    private static boolean sleep(Waiter waiter, long leftNanos) {
        boolean ready = waiter.arm();
        try {
            // Armed and fenced: whoever publishes from here on rings, and what was published before
            // is seen by this look. Without the fence 2 % of the wake-ups were lost.
            if (waiter.progress()) {
                return true;
            }
            if (!ready) {
                waiter.sleep(leftNanos);
            }
        } finally {
            waiter.disarm();
        }
        return waiter.progress();
    }
}
