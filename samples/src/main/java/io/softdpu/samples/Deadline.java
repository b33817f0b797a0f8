package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.time.Duration;

/** When a sample gives up: nothing here waits for ever. */
final class Deadline {
    private final Duration timeout;
    private final long endNanos;

    Deadline(Duration timeout) {
        this.timeout = timeout;
        this.endNanos = System.nanoTime() + timeout.toNanos();
    }

    /** How much time is left, 0 when it is over. */
    long leftNanos() {
        return Math.max(0, endNanos - System.nanoTime());
    }

    /**
     * Looks whether there is time left.
     *
     * @param awaited what the caller waits for, for the message
     * @throws DpuException TIME_OUT if there is none
     */
    void check(String awaited) {
        if (leftNanos() == 0) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "gave up: awaited=%s, timeoutSeconds=%s"
                            .formatted(awaited, timeout.toMillis() / 1000.0));
        }
    }
}
