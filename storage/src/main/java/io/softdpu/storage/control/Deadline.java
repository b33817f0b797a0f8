package io.softdpu.storage.control;

/** A moment until which somebody waits, or no such moment. Immutable. */
public final class Deadline {
    private static final Deadline NEVER = new Deadline(0, ControlChannel.NO_TIMEOUT);

    private final long startNanos;
    private final long timeoutNanos;

    private Deadline(long startNanos, long timeoutNanos) {
        this.startNanos = startNanos;
        this.timeoutNanos = timeoutNanos;
    }

    /**
     * A deadline that many nanoseconds from now; {@link ControlChannel#NO_TIMEOUT} for none at all.
     */
    public static Deadline in(long timeoutNanos) {
        return timeoutNanos == ControlChannel.NO_TIMEOUT
                ? NEVER
                : new Deadline(System.nanoTime(), timeoutNanos);
    }

    /** What is left in nanoseconds, 0 where it has passed. */
    public long remainingNanos() {
        return this == NEVER
                ? ControlChannel.NO_TIMEOUT
                : Math.max(0, timeoutNanos - (System.nanoTime() - startNanos));
    }

    /** Whether nothing is left. */
    public boolean hasPassed() {
        return remainingNanos() == 0;
    }
}
