package io.softdpu.core.internal.wait;

/** CPU affinity policy of a waiting thread, updated by its yields. Belongs to that thread. */
public interface AffinityPolicy {
    /**
     * Records a yield.
     *
     * @param slow whether another thread ran meanwhile on its processor
     */
    void yielded(long nowNanos, boolean slow);

    /** Ends the policy: the thread does not wait any more. */
    void close();
}
