package io.softdpu.core.internal.wait;

/**
 * Idle strategy of an engine. Belongs to the thread of its engine; allocates nothing while it
 * waits.
 */
public interface WaitStrategy {
    /**
     * Waits until something is done, the time is over, or a wake is taken.
     *
     * @param timeoutNanos 0 polls once
     * @return whether something was done
     */
    boolean await(Waitable waitable, long timeoutNanos);

    /**
     * As {@link #await}, where all that can end the wait is one message of a peer that has nothing
     * else to do.
     */
    boolean awaitSoon(Waitable waitable, long timeoutNanos);
}
