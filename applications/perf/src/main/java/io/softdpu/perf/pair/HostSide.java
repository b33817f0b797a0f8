package io.softdpu.perf.pair;

/**
 * Host's side of a measurement. Belongs to the thread that opens it, except for {@link #abort}.
 *
 * @param <R> the result
 */
public interface HostSide<R> extends AutoCloseable {
    /**
     * Measures.
     *
     * @throws io.softdpu.core.DpuException if the other side does not come, does not answer, or
     *     goes; CONNECTION_ABORTED after {@link #abort}
     */
    R run();

    /** Ends a measurement that is under way. Any thread. */
    void abort(String reason);

    @Override
    void close();
}
