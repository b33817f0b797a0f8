package io.softdpu.storage.session;

import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionStep;
import java.time.Duration;

/**
 * Steps of a session, which are reported to its listener and to the log, and their timeout. Belongs
 * to the control thread.
 */
public final class SessionSteps {
    private final System.Logger log;
    private final SessionListener listener;
    private final long controlTimeoutNanos;
    private Deadline deadline = Deadline.never();

    /** Creates steps none of which has begun. */
    SessionSteps(System.Logger log, SessionListener listener, long controlTimeoutNanos) {
        this.log = log;
        this.listener = listener;
        this.controlTimeoutNanos = controlTimeoutNanos;
    }

    /** Reports the begin of a step to the listener and the log. */
    public void begin(SessionStep step, String detail) {
        log.log(
                System.Logger.Level.DEBUG,
                detail.isEmpty() ? step.toString() : step + ": " + detail);
        listener.step(step, detail);
    }

    /**
     * Starts the timeout of a step, which limits all waits of the step together: a request that
     * needs several others is limited like one that needs none.
     */
    public void startTimeout() {
        deadline = Deadline.in(Duration.ofNanos(controlTimeoutNanos));
    }

    /** Remaining time of the step, at least one nanosecond. */
    public long remainingNanos() {
        return Math.clamp(deadline.remaining().toNanos(), 1, controlTimeoutNanos);
    }
}
