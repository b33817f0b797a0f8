package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.engine.EngineCore;
import io.softdpu.linux.event.Timer;

/**
 * A deadline that a progress engine watches: made once by {@link ProgressEngine#timer}, then set
 * and cancelled as often as needed, which allocates nothing.
 *
 * <p>Thread: that of the engine. An engine that closes forgets its timers.
 */
public final class EngineTimer {
    /** Longer delays are this one: 73 years, so that sums with the clock cannot overflow. */
    private static final long MAX_DELAY_NANOS = 1L << 61;

    private final EngineCore core;
    private final Timer timer;

    EngineTimer(EngineCore core, Runnable callback) {
        this.core = core;
        this.timer = core.events().newTimer(callback);
    }

    /**
     * Runs the callback once, in the first progress after the delay. A timer that is set already
     * begins anew. Timers run in the order of their deadlines, and equal ones in the order of
     * setting; one that is set in a callback runs in a later progress.
     *
     * @param delayNanos from now on; 0 for the next progress
     * @throws DpuException INVALID_VALUE if the delay is negative; NOT_PERMITTED from another
     *     thread; BAD_STATE if the engine is closed
     */
    public void set(long delayNanos) {
        core.requireOwner();
        core.requireOpen();
        if (delayNanos < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "delay is negative: delayNanos=" + delayNanos);
        }
        timer.set(System.nanoTime() + Math.min(delayNanos, MAX_DELAY_NANOS));
    }

    /**
     * Takes the deadline back; does nothing where none is set.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public void cancel() {
        core.requireOwner();
        timer.cancel();
    }

    /** Whether the callback is still to run; false inside it, unless it was set again. */
    public boolean isSet() {
        return timer.isSet();
    }
}
