package io.softdpu.core.internal.wait;

/** An engine as its {@link WaitStrategy} uses it. The engine's thread. */
public interface Waitable {
    /** Does what can be done now; whether anything was done. */
    boolean progress();

    /** Whether the end of the wait was requested; takes the request back. */
    boolean takeWake();

    /**
     * Arms everything, with a full fence after it.
     *
     * @return true if there is something to do already
     */
    boolean arm();

    /** Takes {@link #arm()} back. */
    void disarm();

    /** Sleeps until something rings, at most this long. */
    void sleep(long timeoutNanos);
}
