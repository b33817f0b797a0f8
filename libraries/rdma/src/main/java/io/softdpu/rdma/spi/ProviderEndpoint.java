package io.softdpu.rdma.spi;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint of one started RDMA instance, as implemented by a provider: its connections and its
 * receive queue. Belongs to the thread of the instance's engine.
 */
public interface ProviderEndpoint {
    /**
     * Creates a connection whose local end is ready, so that its details can be transferred to a
     * peer.
     *
     * @param owner returned by {@link ProviderConnection#owner()}
     * @throws io.softdpu.core.DpuException NO_MEMORY, OPERATING_SYSTEM if a resource cannot be
     *     allocated
     */
    ProviderConnection createConnection(Object owner);

    /**
     * Adds a receive to the queue that all connections share; messages consume them in order.
     *
     * @return null, or AGAIN if as many are posted as were configured, by a {@linkplain
     *     Refusal#ready ready} refusal
     */
    @Nullable Refusal postReceive(WorkRequest request);

    /**
     * Advances all connections, each by at most one slice of data per call.
     *
     * @return whether any work was done
     */
    boolean progress();

    /**
     * Prepares for the engine's sleep: from now on each event that {@link #progress()} has to
     * handle wakes the engine.
     *
     * @return true if there is work already, so that the engine must not sleep
     */
    boolean arm();

    /** Rings the peers' doorbells for all submitted work, without waiting for the next progress. */
    void ring();

    /** Reverts {@link #arm()}. */
    void disarm();

    /**
     * Completes all requests in flight, receives included, with the status, and disconnects all
     * connections in an orderly way. No later call causes an event. Inside progress.
     */
    void flush(Status status);

    /** Releases all resources, which ends the connections for their peers. Causes no event. */
    void close();
}
