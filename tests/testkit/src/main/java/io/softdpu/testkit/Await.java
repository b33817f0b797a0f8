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
     * @param deadline how long to look
     * @param condition asked on this thread
     * @throws AssertionError when the deadline has passed
     */
    public static void until(String what, Duration deadline, BooleanSupplier condition) {
        if (!holdsWithin(deadline, condition)) {
            throw new AssertionError("did not happen: what=" + what + ", deadline=" + deadline);
        }
    }

    /**
     * Calls the step again and again until a condition holds, without a pause: the step is what
     * brings it about.
     *
     * @param what the condition in words, for the failure
     * @param deadlineNanos how long to go on
     * @param condition asked on this thread, before each step
     * @param step called on this thread
     * @throws AssertionError when the deadline has passed
     */
    public static void byStep(
            String what, long deadlineNanos, BooleanSupplier condition, Runnable step) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > deadlineNanos) {
                throw new AssertionError("did not happen in time: " + what);
            }
            step.run();
        }
    }

    /**
     * Looks again and again until a condition holds, and says whether it came to that.
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
