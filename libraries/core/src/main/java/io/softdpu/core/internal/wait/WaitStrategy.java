package io.softdpu.core.internal.wait;

/**
 * Idle strategy of an engine. Belongs to the thread of its engine; allocates nothing while it
 * waits.
 */
public interface WaitStrategy {
    /**
     * Waits until work was done, the timeout is over, or a wake was taken.
     *
     * @param timeoutNanos 0 polls once
     * @return whether work was done
     */
    boolean await(Waitable waitable, long timeoutNanos);

    /** As {@link #await}, if only one message of a peer without other work can end the wait. */
    boolean awaitSoon(Waitable waitable, long timeoutNanos);
}
