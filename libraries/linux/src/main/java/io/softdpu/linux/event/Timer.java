package io.softdpu.linux.event;

import org.jspecify.annotations.Nullable;

/**
 * Timer of a {@link Poller}, created once and then set and cancelled as often as needed. Both take
 * logarithmic time and allocate nothing. Belongs to the thread of its poller, and may be used in
 * any handler, its own included.
 */
public final class Timer {
    /** Value of {@link #place} for a timer that is not set. */
    static final int IDLE = -1;

    /** Value of {@link #place} for a timer whose handler runs in this turn unless it is changed. */
    static final int DUE = -2;

    private final Poller poller;
    final Runnable handler;
    int place = IDLE;
    long deadlineNanos;

    /** Order of setting, among equal deadlines. */
    long sequence;

    /** The timers that are due before and after this one. */
    @Nullable Timer previous;

    @Nullable Timer next;

    Timer(Poller poller, Runnable handler) {
        this.poller = poller;
        this.handler = handler;
    }

    /**
     * Runs the handler once, in the first turn of the poller that begins after the deadline; timers
     * with the same deadline run in the order in which they were set. A timer that is set already
     * is moved. A timer that is set inside a handler runs in a later turn, even if it is due
     * already.
     *
     * @param deadlineNanos in terms of {@link System#nanoTime}, less than 146 years (2^62 ns) from
     *     now in either direction
     */
    public void set(long deadlineNanos) {
        poller.set(this, deadlineNanos);
    }

    /** Cancels the deadline; does nothing if none is set. */
    public void cancel() {
        poller.cancel(this);
    }

    /**
     * Whether a deadline is set.
     *
     * @return false inside the handler, unless it has set the timer again
     */
    public boolean isSet() {
        return place != IDLE;
    }

    /** Whether this timer runs before the other; correct across the overflow of nanoTime. */
    boolean isBefore(Timer other) {
        long difference = deadlineNanos - other.deadlineNanos;
        return difference != 0 ? difference < 0 : sequence - other.sequence < 0;
    }
}
