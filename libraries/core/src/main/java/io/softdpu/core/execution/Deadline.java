package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;

/**
 * Deadline of a wait, or none: for loops around {@link ProgressEngine#progress} and for waits that
 * consist of several calls. {@link ProgressEngine#runUntil} needs none. Immutable; any thread.
 *
 * <pre>{@code
 * Deadline deadline = Deadline.in(5_000_000_000L);
 * while (!done) {
 *     deadline.check("both engines are done");
 *     first.progress();
 *     second.progress();
 * }
 * }</pre>
 */
public final class Deadline {
    /** Timeout without limit. */
    public static final long NO_TIMEOUT = Long.MAX_VALUE;

    private static final Deadline NEVER = new Deadline(0, NO_TIMEOUT);

    private final long startNanos;
    private final long timeoutNanos;

    private Deadline(long startNanos, long timeoutNanos) {
        this.startNanos = startNanos;
        this.timeoutNanos = timeoutNanos;
    }

    /**
     * Creates a deadline after the given nanoseconds; {@link #NO_TIMEOUT} for none. One of 0 or
     * less has passed.
     */
    public static Deadline in(long timeoutNanos) {
        return timeoutNanos == NO_TIMEOUT
                ? NEVER
                : new Deadline(System.nanoTime(), Math.max(0, timeoutNanos));
    }

    /** The remaining nanoseconds: 0 if it has passed, {@link #NO_TIMEOUT} if it never does. */
    public long remainingNanos() {
        return timeoutNanos == NO_TIMEOUT
                ? NO_TIMEOUT
                : Math.max(0, timeoutNanos - (System.nanoTime() - startNanos));
    }

    /** Whether it has passed. */
    public boolean hasPassed() {
        return remainingNanos() == 0;
    }

    /**
     * Checks that it has not passed.
     *
     * @param awaited the awaited event, for the message
     * @throws DpuException TIME_OUT if it has passed; INVALID_VALUE if the event is null
     */
    public void check(String awaited) {
        Arguments.notNull(awaited, "awaited");
        if (hasPassed()) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "gave up: awaited=%s, timeoutNanos=%d".formatted(awaited, timeoutNanos));
        }
    }
}
