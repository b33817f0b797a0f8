package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;
import java.time.Duration;

/**
 * Deadline of a wait, or none: for loops around {@link ProgressEngine#progress} and for waits that
 * consist of several calls. {@link ProgressEngine#runUntil} needs none. Immutable; any thread.
 *
 * <pre>{@code
 * Deadline deadline = Deadline.in(Duration.ofSeconds(5));
 * while (!done) {
 *     deadline.check("both engines are done");
 *     first.progress();
 *     second.progress();
 * }
 * }</pre>
 */
public final class Deadline {
    private static final long FOREVER_NANOS = Long.MAX_VALUE;

    private static final Deadline NEVER = new Deadline(0, FOREVER_NANOS);

    private final long startNanos;
    private final long timeoutNanos;

    private Deadline(long startNanos, long timeoutNanos) {
        this.startNanos = startNanos;
        this.timeoutNanos = timeoutNanos;
    }

    /**
     * Creates a deadline after this time; one of zero has passed, one of 292 years or more never
     * passes.
     *
     * @throws DpuException INVALID_VALUE if the timeout is negative
     */
    public static Deadline in(Duration timeout) {
        long nanos = Arguments.nanos(timeout, "timeout");
        return nanos == FOREVER_NANOS ? NEVER : new Deadline(System.nanoTime(), nanos);
    }

    /** A deadline that never passes. */
    public static Deadline never() {
        return NEVER;
    }

    /** The remaining time: zero if it has passed, 292 years if it never does. */
    public Duration remaining() {
        return Duration.ofNanos(remainingNanos());
    }

    /** The remaining nanoseconds: 0 if it has passed, {@link Long#MAX_VALUE} if it never does. */
    long remainingNanos() {
        return timeoutNanos == FOREVER_NANOS
                ? FOREVER_NANOS
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
                    Text.format("gave up: awaited=%s, timeoutNanos=%d", awaited, timeoutNanos));
        }
    }
}
