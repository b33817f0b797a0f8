package io.softdpu.core.internal.wait;

/** An engine as its {@link AdaptiveWait} uses it. The engine's thread. */
public interface Waitable {
    /** Number of different situations. */
    int SITUATIONS = 256;

    /**
     * What was done last, as a number below {@link #SITUATIONS}: waits of different kinds are
     * likely to have different numbers, waits of the same kind the same.
     */
    int situation();

    /** Does the work that can be done now; whether any was done. */
    boolean progress();

    /** Whether an interrupt of the thread ends the wait; changes nothing. */
    boolean isInterrupted();

    /** Whether the end of the wait was requested; clears the request. */
    boolean takeWake();

    /**
     * Arms all event sources, followed by a full fence.
     *
     * @return true if there is work already
     */
    boolean arm();

    /** Cancels {@link #arm()}. */
    void disarm();

    /** Sleeps until a doorbell or wake-up, or until the timeout. */
    void sleep(long timeoutNanos);
}
