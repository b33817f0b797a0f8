package io.softdpu.testkit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits for conditions without an event, such as a line in /proc. Where there is a future, a latch
 * or a line of output to wait for, wait for that.
 */
public final class Await {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private Await() {}

    /**
     * Looks again and again until a condition holds.
     *
     * @param what the condition in words, for the failure
     * @param condition asked on this thread
     * @throws AssertionError when the deadline of {@link Patience} has passed
     */
    public static void until(String what, BooleanSupplier condition) {
        if (!holdsWithin(Patience.DEADLINE, condition)) {
            throw new AssertionError(
                    "did not happen: what=" + what + ", deadline=" + Patience.DEADLINE);
        }
    }

    /**
     * Calls the step again and again until a condition holds, without a pause: the step is what
     * brings it about.
     *
     * @param what the condition in words, for the failure
     * @param condition asked on this thread, before each step
     * @param step called on this thread; waits where only another thread or process can bring the
     *     condition about
     * @throws AssertionError when the deadline of {@link Patience} has passed
     */
    public static void byStep(String what, BooleanSupplier condition, Runnable step) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            step.run();
            // Also where the condition holds now: a step may have slept until it ended by itself.
            if (System.nanoTime() - start > Patience.DEADLINE.toNanos()) {
                throw new AssertionError(
                        "did not happen: what=" + what + ", deadline=" + Patience.DEADLINE);
            }
        }
    }

    /**
     * Looks again and again until a condition holds or a time has passed, where the time is what
     * the test needs: the pause before a kill, say.
     *
     * @param deadline how long to look; the condition is asked at least once
     * @param condition asked on this thread
     * @return whether it held
     */
    public static boolean holdsWithin(Duration deadline, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start >= deadline.toNanos()) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }
}
