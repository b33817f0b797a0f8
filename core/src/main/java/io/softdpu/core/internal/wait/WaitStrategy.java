package io.softdpu.core.internal.wait;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How an engine waits: look, spin a little, yield for a while, then arm, look again, and sleep.
 * Where the waits before this one let expect a long one, it does not yield, but sleeps at once.
 * Where the caller expects a very short one, it looks a few times first.
 *
 * <p>The figures behind the constants were measured with three processes in a row (initiator,
 * relay, target) on two cores, over rings in shared memory. Belongs to the thread of its engine;
 * allocates nothing itself.
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

    /**
     * A wait that ended within this time was a short one, which yielding is for. Twice that time,
     * since a peer that had gone to sleep took 40 to 50 microseconds to wake up: were such waits
     * called long, two that sleep would keep each other from ever yielding again.
     */
    public static final long SHORT_NANOS = 2 * YIELD_NANOS;

    /**
     * How many waits back the expectation looks. A relay waits for its target and then for its
     * client, a short wait and a long one by turns; four tell such patterns apart with room for a
     * message or two in between. Without it yielding cost service and target 14 % of a core with
     * one request every 2 ms, with it 9 %.
     */
    private static final int WAITS_LOOKED_BACK = 4;

    /**
     * A long wait is expected where so many of them in a row were in the same situation, and not
     * one short. With two, waits that were long by chance (somebody else had the core) made a
     * pipeline with 32 requests in flight 12 % slower.
     */
    private static final byte LONG_IN_A_ROW = 8;

    /**
     * Looks before a wait of which the caller expects that a message of another processor ends it
     * soon. A look takes 30 ns. A target with a processor of its own answers a request of 4 KiB,
     * the way there and back included, in 1.3 microseconds, one of ten in 1.7; a service that
     * yields in place of looking sees that 0.6 later. With twice as many nothing more was gained.
     */
    static final int QUICK_LOOKS = 64;

    /**
     * What a series in vain costs, 2 microseconds, in units of what one saves that finds something.
     */
    static final int PRICE_OF_QUICK_LOOKS = 4;

    /**
     * The most that is saved up for series in vain: enough for eight in a row, which with answers
     * of a peer that has its processor do not come. With one processor for all they are all in
     * vain.
     */
    static final int MOST_CREDIT = 8 * PRICE_OF_QUICK_LOOKS;

    /**
     * Such waits that go without looks when the credit is used up, before another series is tried:
     * its cost is lost among so many.
     */
    static final int WAITS_WITHOUT_QUICK_LOOKS = 1024;

    /**
     * Of so many such waits one goes without looks where a processor is preferred: slow yields are
     * what tells who else computes there.
     */
    static final int QUICK_WAITS_A_YIELD = 16;

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

    /** The processor that the waiting thread prefers. */
    public interface Seat {
        /**
         * The thread has yielded.
         *
         * @param slow whether somebody else computed meanwhile on the processor that it has now
         */
        void yielded(long nowNanos, boolean slow);

        /** The thread will wait no more. */
        void close();
    }

    private final int spins;
    private final @Nullable Seat seat;
    private final LongSupplier nanoClock;
    private final Runnable yielding;
    private int spellsWithoutYield;

    /** What quick looks have saved, less what they have cost. */
    private int credit = MOST_CREDIT;

    private int waitsWithoutQuickLooks;
    private int quickWaits;

    /** The last waits, a bit each, the newest lowest: 1 for a short one. */
    private int lastWaits = (1 << WAITS_LOOKED_BACK) - 1;

    /** For each such past: long waits in a row that followed it. */
    private final byte[] longWaits = new byte[1 << WAITS_LOOKED_BACK];

    /**
     * A strategy for this program's threads and clock.
     *
     * @param spins looks before the first yield: {@link #SPINS_WITH_OWN_CORE} or 0
     * @param seat the processor that the thread prefers; null where it prefers none
     */
    public WaitStrategy(int spins, @Nullable Seat seat) {
        this(spins, seat, System::nanoTime, Thread::yield);
    }

    /** A strategy with a clock and a yield of its own, for tests. */
    public WaitStrategy(int spins, @Nullable Seat seat, LongSupplier nanoClock, Runnable yielding) {
        this.spins = spins;
        this.seat = seat;
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
                ended(nanoClock.getAsLong() - begin);
                return true;
            }
        }
    }

    /**
     * As {@link #await}, where all that can end the wait is one message of a peer that has nothing
     * else to do: looks a few times before anything else, unless that was in vain too often.
     */
    public boolean awaitSoon(Waiter waiter, long timeoutNanos) {
        if (timeoutNanos > 0 && spins == 0 && quickLooks(waiter)) {
            return true;
        }
        return await(waiter, timeoutNanos);
    }

    private boolean quickLooks(Waiter waiter) {
        if (waitsWithoutQuickLooks > 0) {
            waitsWithoutQuickLooks--;
            return false;
        }
        if (seat != null && ++quickWaits % QUICK_WAITS_A_YIELD == 0) {
            return false;
        }
        if (waiter.progress()) {
            return true; // no wait: any other would have seen it, too
        }
        for (int i = 1; i < QUICK_LOOKS; i++) {
            Thread.onSpinWait();
            if (waiter.progress()) {
                credit = Math.min(credit + 1, MOST_CREDIT);
                ended(0);
                return true;
            }
        }
        credit -= PRICE_OF_QUICK_LOOKS;
        if (credit <= 0) {
            credit = PRICE_OF_QUICK_LOOKS; // for one more series
            waitsWithoutQuickLooks = WAITS_WITHOUT_QUICK_LOOKS;
        }
        return false;
    }

    /** Learns from a wait that brought something. */
    private void ended(long waitedNanos) {
        boolean wasShort = waitedNanos < SHORT_NANOS;
        int inARow = wasShort ? 0 : Math.min(longWaits[lastWaits] + 1, LONG_IN_A_ROW);
        longWaits[lastWaits] = (byte) inARow;
        int newest = wasShort ? 1 : 0;
        lastWaits = (lastWaits << 1 | newest) & longWaits.length - 1;
    }

    /** The idle spell before a sleep: spins, then yields. */
    private boolean poll(Waiter waiter, long begin, long timeoutNanos) {
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
            if (waiter.progress()) {
                ended(0);
                return true;
            }
        }
        if (spellsWithoutYield > 0) {
            spellsWithoutYield--;
            return false;
        }
        if (longWaits[lastWaits] >= LONG_IN_A_ROW) {
            return false;
        }
        long spellBegin = nanoClock.getAsLong();
        long before = spellBegin;
        while (before - spellBegin < YIELD_NANOS && before - begin < timeoutNanos) {
            yielding.run();
            long after = nanoClock.getAsLong();
            boolean slow = after - before > SLOW_YIELD_NANOS;
            if (seat != null) {
                seat.yielded(after, slow);
            }
            if (waiter.progress()) {
                ended(after - begin);
                return true;
            }
            if (slow) {
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
