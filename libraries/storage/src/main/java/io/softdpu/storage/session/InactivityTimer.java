package io.softdpu.storage.session;

import io.softdpu.core.execution.Deadline;
import java.time.Duration;

/**
 * Inactivity timeout of a peer, measured by a counter of its activity. The owner has to query it
 * periodically. Belongs to the control thread.
 */
public final class InactivityTimer {
    private final long limitNanos;
    private long lastActivity;
    private Deadline deadline;

    /**
     * Creates a timer that starts at once.
     *
     * @param limitNanos the longest inactivity; {@link Long#MAX_VALUE} for no limit
     */
    public InactivityTimer(long limitNanos) {
        this.limitNanos = limitNanos;
        this.deadline = Deadline.in(Duration.ofNanos(limitNanos));
    }

    /**
     * Whether the peer has been inactive for too long.
     *
     * @param activity activity counter of the peer: a value other than the last one restarts the
     *     timer
     */
    public boolean hasExpired(long activity) {
        if (activity != lastActivity) {
            lastActivity = activity;
            restart();
        }
        return deadline.hasPassed();
    }

    /** Restarts the timer, while no activity of the peer is expected. */
    public void restart() {
        deadline = Deadline.in(Duration.ofNanos(limitNanos));
    }

    /** The longest inactivity, in nanoseconds. */
    public long limitNanos() {
        return limitNanos;
    }

    /** Time until it expires, in nanoseconds. */
    public long remainingNanos() {
        return deadline.remaining().toNanos();
    }
}
