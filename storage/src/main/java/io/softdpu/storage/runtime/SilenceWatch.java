package io.softdpu.storage.runtime;

import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.Deadline;

/**
 * How long somebody has given no sign of life. Its owner counts the signs and asks now and then;
 * between two questions nothing runs. The control thread.
 */
public final class SilenceWatch {
    private final long limitNanos;
    private long signs;
    private Deadline deadline;

    /**
     * Begins to wait.
     *
     * @param limitNanos the silence that is too long; {@link ControlChannel#NO_TIMEOUT}: none is
     */
    public SilenceWatch(long limitNanos) {
        this.limitNanos = limitNanos;
        this.deadline = Deadline.in(limitNanos);
    }

    /**
     * Whether it has been silent for too long.
     *
     * @param signsSoFar how many signs of life there were: another number than before is a new one
     */
    public boolean isTooLong(long signsSoFar) {
        if (signsSoFar != signs) {
            signs = signsSoFar;
            restart();
        }
        return deadline.hasPassed();
    }

    /** Begins anew: nothing is to be expected at this moment. */
    public void restart() {
        deadline = Deadline.in(limitNanos);
    }

    /** The silence that is too long, in nanoseconds. */
    public long limitNanos() {
        return limitNanos;
    }

    /** What is left until then, in nanoseconds. */
    public long remainingNanos() {
        return deadline.remainingNanos();
    }
}
