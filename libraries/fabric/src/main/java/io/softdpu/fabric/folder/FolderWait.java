package io.softdpu.fabric.folder;

import io.softdpu.fabric.engine.WaitPermission;
import io.softdpu.fabric.error.FabricException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Wait for the lock of a file until a deadline. No event announces that a lock is free, so it is
 * tried again and again, with pauses that become longer: mostly it is held for microseconds, but
 * its holder may have been stopped.
 *
 * <p>Belongs to one thread, whose interrupt ends the wait. Without {@linkplain WaitPermission
 * permission} to wait there is a small number of attempts without a pause.
 */
final class FolderWait {
    /** Attempts without a pause; they take microseconds each. */
    private static final int ATTEMPTS_AT_ONCE = 4;

    private static final long SHORTEST_PAUSE_NANOS = 100_000;
    private static final long LONGEST_PAUSE_NANOS = 50_000_000;

    /** Upper bound of timeouts: 73 years, so that sums with the clock cannot overflow. */
    private static final long MAX_TIMEOUT_NANOS = 1L << 61;

    private final long beganNanos = System.nanoTime();
    private final long deadlineNanos;
    private boolean interrupted;

    private FolderWait(long deadlineNanos) {
        this.deadlineNanos = deadlineNanos;
    }

    /** Wait until a point in time, in nanoTime. */
    static FolderWait until(long deadlineNanos) {
        return new FolderWait(deadlineNanos);
    }

    /** The deadline of an operation that begins now, in nanoTime. */
    static long deadlineIn(long timeoutNanos) {
        return System.nanoTime() + Math.min(timeoutNanos, MAX_TIMEOUT_NANOS);
    }

    /** The earlier one of a deadline and of that of an operation that begins now, in nanoTime. */
    static long earlier(long deadlineNanos, long timeoutNanos) {
        long other = deadlineIn(timeoutNanos);
        return other - deadlineNanos < 0 ? other : deadlineNanos;
    }

    /**
     * Repeats an attempt.
     *
     * @param attempt does not block; whether it was successful
     * @return false after the deadline, if this thread may not wait, or if it is interrupted, whose
     *     flag stays set
     */
    boolean attempt(BooleanSupplier attempt) {
        for (int i = 0; i < ATTEMPTS_AT_ONCE; i++) {
            if (attempt.getAsBoolean()) {
                return true;
            }
        }
        if (!WaitPermission.isGranted()) {
            return false;
        }
        long pauseNanos = SHORTEST_PAUSE_NANOS;
        for (long leftNanos = leftNanos(); leftNanos > 0; leftNanos = leftNanos()) {
            if (Thread.currentThread().isInterrupted()) {
                interrupted = true;
                return false;
            }
            LockSupport.parkNanos(this, Math.min(pauseNanos, leftNanos));
            if (attempt.getAsBoolean()) {
                return true;
            }
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        }
        return false;
    }

    private long leftNanos() {
        return deadlineNanos - System.nanoTime();
    }

    /** The failure of this wait. */
    FabricException failure(String reason, Path file) {
        String waited =
                "file="
                        + file
                        + ", waitedMillis="
                        + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos);
        if (interrupted) {
            return new FabricException(
                    FabricException.Kind.INTERRUPTED,
                    "awaited=the lock of a file, " + waited + ", reason=" + reason);
        }
        return new FabricException(
                FabricException.Kind.TIMED_OUT,
                reason
                        + ": "
                        + waited
                        + (WaitPermission.isGranted()
                                ? ", expected=a process that releases it"
                                : ", expected=a call outside progress, where no lock is waited"
                                        + " for"));
    }
}
