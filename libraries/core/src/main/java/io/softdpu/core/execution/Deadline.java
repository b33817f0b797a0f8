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
    /**
     * The timeout of a wait without a limit, for each call of the libraries that takes a timeout
     * and is not limited itself: {@code engine.runUntil(() -> stopped, Deadline.NO_LIMIT, server)}.
     * A longer one is the same.
     */
    public static final Duration NO_LIMIT = Duration.ofNanos(Long.MAX_VALUE);

    private static final long NO_LIMIT_NANOS = Long.MAX_VALUE;

    private static final Deadline NEVER = new Deadline(0, NO_LIMIT_NANOS);

    private final long startNanos;
    private final long timeoutNanos;

    private Deadline(long startNanos, long timeoutNanos) {
        this.startNanos = startNanos;
        this.timeoutNanos = timeoutNanos;
    }

    /**
     * Creates a deadline after this time; one of zero has passed, one of {@link #NO_LIMIT} never
     * passes.
     *
     * @throws DpuException INVALID_VALUE if the timeout is negative
     */
    public static Deadline in(Duration timeout) {
        long nanos = Arguments.nanos(timeout, "timeout");
        return nanos == NO_LIMIT_NANOS ? NEVER : new Deadline(System.nanoTime(), nanos);
    }

    /** A deadline that never passes. */
    public static Deadline never() {
        return NEVER;
    }

    /** The remaining time: zero if it has passed, {@link #NO_LIMIT} if it never does. */
    public Duration remaining() {
        return timeoutNanos == NO_LIMIT_NANOS ? NO_LIMIT : Duration.ofNanos(remainingNanos());
    }

    /** The remaining nanoseconds: 0 if it has passed, {@link Long#MAX_VALUE} if it never does. */
    long remainingNanos() {
        return timeoutNanos == NO_LIMIT_NANOS
                ? NO_LIMIT_NANOS
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
