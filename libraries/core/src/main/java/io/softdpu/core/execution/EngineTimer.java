package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.linux.event.Timer;

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
     * @param delayNanos delay; 0 for the next progress
     * @throws DpuException INVALID_VALUE if the delay is negative; NOT_PERMITTED from another
     *     thread; BAD_STATE if the engine is closed
     */
    public void set(long delayNanos) {
        impl.requireOwner();
        impl.requireOpen();
        if (delayNanos < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "delay is negative: delayNanos=" + delayNanos);
        }
        timer.set(System.nanoTime() + Math.min(delayNanos, MAX_DELAY_NANOS));
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
