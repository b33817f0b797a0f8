package io.softdpu.core.internal.wait;

/** Affinity of a waiting thread, which its yields may change. Belongs to that thread. */
public interface AffinityPolicy {
    /**
     * The thread has yielded.
     *
     * @param slow whether another thread computed meanwhile on the processor that it has now
     */
    void yielded(long nowNanos, boolean slow);

    /** The thread will wait no more. */
    void close();
}
