package io.softdpu.core.internal.wait;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Idle strategy of an engine: polls, spins shortly where that has succeeded before ({@link
 * ShortSpin}), yields for a while, then arms, polls again, and sleeps. If recent waits predict a
 * long one ({@link WaitPredictor}) it sleeps without yielding.
 *
 * <p>The constants of this package were measured with a pipeline of three processes (initiator,
 * relay, target) on two processors, over rings in shared memory.
 *
 * <p>Belongs to the thread of its engine; allocates nothing while it waits.
 */
public final class AdaptiveWait {
    /**
     * Wall time of yielding before a sleep. A sleep costs the peer a system call and this thread 40
     * microseconds of waking up; ten yields are too short to bridge the gap between two requests.
     */
    public static final long YIELD_NANOS = 100_000;

    /**
     * A yield that takes longer shows that another thread runs on this processor: it then costs a
     * whole time slice (4 ms), more than a gap between two requests.
     */
    static final long SLOW_YIELD_NANOS = 400_000;

    /**
     * Waits that sleep at once after a slow yield, before yielding is tried again. Without this one
     * competing thread makes the pipeline 50 to 500 times slower.
     */
    static final int YIELD_BACKOFF_WAITS = 256;

    private final WaitPredictor predictor = new WaitPredictor();
    private final ShortSpin shortSpin = new ShortSpin();

    /** Null without one, and after the thread has ended that it belonged to. */
    private @Nullable AffinityPolicy affinity;

    private final LongSupplier nanoClock;
    private final Runnable yielding;
    private int yieldBackoff;

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
        if (yieldBackoff > 0) {
            yieldBackoff--;
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
            if (affinity != null) {
                affinity.yielded(after, slow);
            }
            if (waitable.progress()) {
                predictor.ended(after - begin);
                return true;
            }
            if (slow) {
                yieldBackoff = YIELD_BACKOFF_WAITS;
                return false;
            }
            before = nanoClock.getAsLong();
        }
        return false;
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
