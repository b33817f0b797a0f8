package io.softdpu.core.internal.wait;

import io.softdpu.linux.text.Text;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Idle strategy of an engine: polls, spins shortly where that has succeeded before ({@link
 * ShortSpin}), yields and polls for a while ({@link YieldInterval}), then arms, polls again, and
 * sleeps. If recent waits predict a long one ({@link WaitPredictor}), or yields were slow ({@link
 * YieldBackoff}), it sleeps without yielding.
 *
 * <p>The constants of this package were measured with a pipeline of three processes (initiator,
 * relay, target) on two processors, over rings in shared memory.
 *
 * <p>Belongs to the thread of its engine; allocates nothing while it waits.
 */
public final class AdaptiveWait {
    /**
     * Wall time of yielding before a sleep. A sleep costs the peer a system call and this thread 40
     * microseconds of waking up; the gap between two requests at depth 1 is longer than 10.
     */
    public static final long YIELD_NANOS = 100_000;

    /**
     * A yield that takes longer shows that another thread runs on this processor: it then costs a
     * whole time slice (4 ms), more than a gap between two requests.
     */
    static final long SLOW_YIELD_NANOS = 400_000;

    /** Number of yields after which what they have shown is logged, at the level debug. */
    static final int LOGGED_YIELDS = 4096;

    private static final System.Logger LOG = System.getLogger(AdaptiveWait.class.getName());

    /** Most polls between two looks at the clock, each of which takes as long as a poll. */
    private static final int POLLS_PER_LOOK = 16;

    /** Time after which no further poll precedes the next yield, where polls take long. */
    private static final long MOST_POLL_NANOS = 16_000;

    private final WaitPredictor predictor = new WaitPredictor();
    private final ShortSpin shortSpin = new ShortSpin();
    private final YieldInterval interval = new YieldInterval();
    private final YieldBackoff backoff = new YieldBackoff();

    /** Yields left until then; 0 after it, and if the level is not logged. */
    private int yieldsToLog = LOG.isLoggable(System.Logger.Level.DEBUG) ? LOGGED_YIELDS : 0;

    /** Null without one, and after the thread has ended that it belonged to. */
    private @Nullable AffinityPolicy affinity;

    private final LongSupplier nanoClock;
    private final Runnable yielding;

    /**
     * A wait with the clock and the yield of this program.
     *
     * @param affinity the affinity of the thread, told of its yields; null if they change nothing
     */
    public AdaptiveWait(@Nullable AffinityPolicy affinity) {
        this(affinity, System::nanoTime, Thread::yield);
    }

    /** A wait with a clock and a yield of its own, for tests. */
    public AdaptiveWait(
            @Nullable AffinityPolicy affinity, LongSupplier nanoClock, Runnable yielding) {
        this.affinity = affinity;
        this.nanoClock = nanoClock;
        this.yielding = yielding;
    }

    /**
     * Waits until work was done, the timeout is over, a wake was taken, or the thread is
     * interrupted. Work that is there is done without a look at the interrupt.
     *
     * @param timeoutNanos 0 polls once
     * @return whether work was done
     */
    public boolean await(Waitable waitable, long timeoutNanos) {
        if (waitable.progress()) {
            return true;
        }
        if (timeoutNanos == 0 || waitable.isInterrupted() || waitable.takeWake()) {
            return false;
        }
        if (shortSpin.poll(waitable)) {
            predictor.ended(0);
            return true;
        }
        long begin = nanoClock.getAsLong();
        while (true) {
            if (yieldUntilDone(waitable, begin, timeoutNanos)) {
                return true;
            }
            if (waitable.isInterrupted() || waitable.takeWake()) {
                return false;
            }
            long left = timeoutNanos - (nanoClock.getAsLong() - begin);
            if (left <= 0) {
                return false;
            }
            if (sleep(waitable, left)) {
                predictor.ended(nanoClock.getAsLong() - begin);
                return true;
            }
        }
    }

    /** Ends the policy of a thread that waits no more: it unpins that thread. */
    public void closeAffinity() {
        AffinityPolicy present = affinity;
        affinity = null;
        if (present != null) {
            present.close();
        }
    }

    /** Forgets the policy, since its thread has ended, and another thread waits from now on. */
    public void dropAffinity() {
        affinity = null;
    }

    /** Yields until work was done or a sleep is due; whether work was done. */
    private boolean yieldUntilDone(Waitable waitable, long begin, long timeoutNanos) {
        if (backoff.skipsYields()) {
            return false;
        }
        if (predictor.expectsLongWait()) {
            return false;
        }
        long firstYield = nanoClock.getAsLong();
        long before = firstYield;
        while (before - firstYield < YIELD_NANOS && before - begin < timeoutNanos) {
            yielding.run();
            long after = nanoClock.getAsLong();
            boolean slow = after - before > SLOW_YIELD_NANOS;
            interval.yielded(after - before);
            if (yieldsToLog > 0 && --yieldsToLog == 0) {
                logYields();
            }
            if (affinity != null) {
                affinity.yielded(after, slow);
            }
            if (waitable.progress()) {
                predictor.ended(after - begin);
                return true;
            }
            backoff.yielded(slow);
            if (slow) {
                return false;
            }
            long yieldingLeft = YIELD_NANOS - (after - firstYield);
            long left = Math.min(yieldingLeft, timeoutNanos - (after - begin));
            if (pollUntilDone(waitable, after, left)) {
                predictor.ended(after - begin); // the polls are too short to change it
                return true;
            }
            before = nanoClock.getAsLong();
        }
        return false;
    }

    private void logYields() {
        LOG.log(
                System.Logger.Level.DEBUG,
                Text.format(
                        "waits of a thread: thread=%s, yields=%d, shortestYieldNanos=%d,"
                                + " pollsToNextYield=%d, waitsBehindSlowYield=%d",
                        Thread.currentThread().getName(),
                        LOGGED_YIELDS,
                        interval.shortestNanos(),
                        interval.polls(),
                        backoff.waits()));
    }

    /** Polls until work was done, or the next yield or the end is due; whether work was done. */
    private boolean pollUntilDone(Waitable waitable, long yielded, long leftNanos) {
        long most = Math.min(leftNanos, MOST_POLL_NANOS);
        int polls = interval.polls();
        for (int i = 1; i < polls; i++) {
            if (isLookDue(i) && nanoClock.getAsLong() - yielded >= most) {
                return false;
            }
            Thread.onSpinWait();
            if (waitable.progress()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the clock is read before this poll: after 1, 2, 4, 8 and then each 16 polls. */
    private static boolean isLookDue(int polls) {
        return (polls & polls - 1) == 0 || polls % POLLS_PER_LOOK == 0;
    }

    private static boolean sleep(Waitable waitable, long leftNanos) {
        boolean ready = waitable.arm();
        try {
            // Armed and fenced: a peer that publishes from here on rings, and what was published
            // before is seen by this poll. Without the fence 2 % of the wake-ups were lost.
            if (waitable.progress()) {
                return true;
            }
            if (!ready) {
                waitable.sleep(leftNanos);
            }
        } finally {
            waitable.disarm();
        }
        return waitable.progress();
    }
}
