package io.softdpu.storage.session;

import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.control.ControlChannel;

/**
 * The steps of a session: told to its listener and to the log, and bounded in time. Belongs to the
 * control thread.
 */
public final class SessionSteps {
    private final System.Logger log;
    private final SessionListener listener;
    private final long controlTimeoutNanos;
    private Deadline deadline = Deadline.in(ControlChannel.NO_TIMEOUT);

    /** Steps of which none has begun. */
    SessionSteps(System.Logger log, SessionListener listener, long controlTimeoutNanos) {
        this.log = log;
        this.listener = listener;
        this.controlTimeoutNanos = controlTimeoutNanos;
    }

    /** Tells the listener and the log that a step begins. */
    public void tell(SessionStep step, String detail) {
        log.log(
                System.Logger.Level.DEBUG,
                detail.isEmpty() ? step.toString() : step + ": " + detail);
        listener.step(step, detail);
    }

    /**
     * Begins the time of a step: all waiting that it does, on whomever, ends with the control
     * timeout. So a request that needs several others is bounded like one that needs none.
     */
    public void beginTime() {
        deadline = Deadline.in(controlTimeoutNanos);
    }

    /** What is left of the step's time, at least a nanosecond. */
    public long remainingNanos() {
        return Math.clamp(deadline.remainingNanos(), 1, controlTimeoutNanos);
    }
}
