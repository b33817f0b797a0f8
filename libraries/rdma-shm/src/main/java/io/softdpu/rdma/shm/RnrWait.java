package io.softdpu.rdma.shm;

import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.rdma.spi.RnrTimer;
import org.jspecify.annotations.Nullable;

/**
 * Wait of a sender whose peer has no receive for the next message: limited to a number of retries,
 * each after the peer's RNR timer, which is a deadline of the engine. The engine's thread;
 * allocates nothing after construction.
 */
final class RnrWait {
    private static final int UNLIMITED = 7;

    private final int retries;
    private final long delayNanos;
    private final EngineTimer timer;
    private boolean waiting;
    private int retriesLeft;

    private RnrWait(int retries, RnrTimer timer, ContextServices services) {
        this.retries = retries;
        this.delayNanos = timer.nanos();
        this.timer = services.timer(this::delayPassed);
    }

    /**
     * Creates the wait of a sender.
     *
     * @param services of the context, on whose engine's thread this is called
     * @param retries 0 to 7, where 7 means without a limit
     * @param timer that of the peer
     * @return null if the retries are not limited: a message then waits in the peer's ring
     */
    static @Nullable RnrWait of(ContextServices services, int retries, RnrTimer timer) {
        return retries < UNLIMITED ? new RnrWait(retries, timer, services) : null;
    }

    /** The time of a retry: the next progress checks for a receive. */
    private void delayPassed() {
        retriesLeft--;
    }

    /**
     * Begins the wait, or continues it.
     *
     * @return whether a retry is left
     */
    boolean proceed() {
        if (!waiting) {
            waiting = true;
            retriesLeft = retries;
        }
        if (retriesLeft == 0) {
            return false;
        }
        if (!timer.isSet()) {
            timer.setAt(System.nanoTime() + delayNanos);
        }
        return true;
    }

    /** Ends the wait, if there is one. */
    void stop() {
        if (waiting) {
            waiting = false;
            timer.cancel();
        }
    }

    boolean isWaiting() {
        return waiting;
    }

    /** Whether a retry is due that the next progress makes; otherwise the timer is set. */
    boolean isDue() {
        return !timer.isSet();
    }
}
