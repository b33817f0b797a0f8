package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.linux.event.Timer;
import java.time.Duration;

/**
 * Timer of a progress engine: created once by {@link ProgressEngine#timer}, then set and cancelled
 * as often as needed, which allocates nothing.
 *
 * <p>Thread: that of the engine. Closing the engine cancels its timers.
 */
public final class EngineTimer {
    /** Upper bound of delays: 73 years, so that sums with the clock cannot overflow. */
    private static final long MAX_DELAY_NANOS = 1L << 61;

    private final EngineImpl impl;
    private final Timer timer;

    EngineTimer(EngineImpl impl, Runnable callback) {
        this.impl = impl;
        this.timer = impl.events().newTimer(callback);
    }

    /**
     * Runs the callback once, in the first progress after the delay. A timer that is set already is
     * set again. Timers run in the order of their deadlines, and equal ones in the order of
     * setting; one that is set in a callback runs in a later progress.
     *
     * @param delay zero for the next progress; more than 73 years is 73 years
     * @throws DpuException INVALID_VALUE if the delay is negative; NOT_PERMITTED from another
     *     thread; BAD_STATE if the engine is closed
     */
    public EngineTimer set(Duration delay) {
        impl.requireOwner();
        impl.requireOpen();
        long nanos = Arguments.nanos(delay, "delay");
        timer.set(System.nanoTime() + Math.min(nanos, MAX_DELAY_NANOS));
        return this;
    }

    /**
     * The same for a point in time, without an object per call: for data paths that compute it.
     *
     * @param nanoTime a time of {@link System#nanoTime()}; one that has passed for the next
     *     progress, before those which passed later; one after more than 73 years is in 73 years
     * @throws DpuException NOT_PERMITTED from another thread; BAD_STATE if the engine is closed
     */
    public EngineTimer setAt(long nanoTime) {
        impl.requireOwner();
        impl.requireOpen();
        long now = System.nanoTime();
        timer.set(now + Math.clamp(nanoTime - now, -MAX_DELAY_NANOS, MAX_DELAY_NANOS));
        return this;
    }

    /**
     * Cancels the timer; does nothing if it is not set.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public void cancel() {
        impl.requireOwner();
        timer.cancel();
    }

    /** Whether the timer is set; false inside its callback, unless it was set again. */
    public boolean isSet() {
        return timer.isSet();
    }
}
