package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;

/**
 * A moment until which a program waits, or no such moment: for loops around {@link
 * ProgressEngine#progress}, whose calls return at once. Immutable; any thread.
 *
 * <pre>{@code
 * Deadline deadline = Deadline.in(5_000_000_000L);
 * while (context.state() != ContextState.RUNNING) {
 *     deadline.check("start of the context");
 *     engine.await(deadline.remainingNanos());
 * }
 * }</pre>
 */
public final class Deadline {
    /** The timeout that never ends. */
    public static final long NO_TIMEOUT = Long.MAX_VALUE;

    private static final Deadline NEVER = new Deadline(0, NO_TIMEOUT);

    private final long startNanos;
    private final long timeoutNanos;

    private Deadline(long startNanos, long timeoutNanos) {
        this.startNanos = startNanos;
        this.timeoutNanos = timeoutNanos;
    }

    /**
     * A deadline that many nanoseconds from now; {@link #NO_TIMEOUT} for none at all. One of 0 or
     * less has passed.
     */
    public static Deadline in(long timeoutNanos) {
        return timeoutNanos == NO_TIMEOUT
                ? NEVER
                : new Deadline(System.nanoTime(), Math.max(0, timeoutNanos));
    }

    /** What is left in nanoseconds: 0 where it has passed, {@link #NO_TIMEOUT} if it never does. */
    public long remainingNanos() {
        return timeoutNanos == NO_TIMEOUT
                ? NO_TIMEOUT
                : Math.max(0, timeoutNanos - (System.nanoTime() - startNanos));
    }

    /** Whether nothing is left. */
    public boolean hasPassed() {
        return remainingNanos() == 0;
    }

    /**
     * Refuses to wait longer.
     *
     * @param awaited what the caller waits for, for the message
     * @throws DpuException TIME_OUT if it has passed; INVALID_VALUE if there is nothing to name
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
