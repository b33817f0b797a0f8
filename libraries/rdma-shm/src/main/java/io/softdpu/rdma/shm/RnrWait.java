package io.softdpu.rdma.shm;

import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.spi.ContextServices;
import org.jspecify.annotations.Nullable;

/**
 * Wait of a sender whose peer has no receive for the next message: limited to a number of retries,
 * each after the delay of a network adapter's RNR timer. The engine's thread; allocates nothing
 * after construction.
 */
final class RnrWait {
    private static final long DELAY_NANOS = 1_000_000;

    private static final int UNLIMITED = 7;

    private final long limitNanos;

    /**
     * Ends the engine's sleep for the next retry: the peer rings for messages, not for receives.
     */
    private final EngineTimer timer;

    private boolean waiting;
    private long sinceNanos;

    /** Time of the next retry; unspecified unless {@link #waiting}. */
    private long nextNanos;

    private RnrWait(int retries, EngineTimer timer) {
        this.limitNanos = retries * DELAY_NANOS;
        this.timer = timer;
    }

    /**
     * Creates the wait of a sender.
     *
     * @param services of the context, on whose engine's thread this is called
     * @param retries 0 to 7, where 7 means without a limit
     * @return null if the retries are not limited: a message then waits in the peer's ring
     */
    static @Nullable RnrWait of(ContextServices services, int retries) {
        // The timer only ends the engine's sleep: the following progress checks for a receive.
        return retries < UNLIMITED ? new RnrWait(retries, services.timer(() -> {})) : null;
    }

    /**
     * Begins the wait, or continues it.
     *
     * @return whether a retry is left
     */
    boolean proceed() {
        long now = System.nanoTime();
        if (!waiting) {
            waiting = true;
            sinceNanos = now;
        }
        long leftNanos = limitNanos - (now - sinceNanos);
        nextNanos = now + Math.min(leftNanos, DELAY_NANOS);
        return leftNanos > 0;
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

    /**
     * Ends the engine's sleep after the delay. An engine that polls checks in each pass.
     *
     * @return whether the delay has passed already
     */
    boolean arm() {
        if (nextNanos - System.nanoTime() <= 0) {
            return true;
        }
        timer.setAt(nextNanos);
        return false;
    }

    /** Cancels {@link #arm}: an engine that polls needs no timer. */
    void disarm() {
        timer.cancel();
    }
}
