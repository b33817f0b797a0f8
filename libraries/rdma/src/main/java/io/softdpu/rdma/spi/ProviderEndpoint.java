package io.softdpu.rdma.spi;

import io.softdpu.core.Status;

/**
 * A provider's half of one started RDMA instance: its connections and its receive queue. All
 * methods on the thread of the instance's engine.
 */
public interface ProviderEndpoint {
    /**
     * Makes a connection with its local half ready, so that a peer can be told of it.
     *
     * @param owner what {@link ProviderConnection#owner()} gives back
     * @throws io.softdpu.core.DpuException NO_MEMORY, OPERATING_SYSTEM if what it needs cannot be
     *     had
     */
    ProviderConnection createConnection(Object owner);

    /**
     * Adds a receive to the queue that all connections share; messages use them up in order.
     *
     * @return SUCCESS, or AGAIN if as many are posted as were configured
     */
    Status postReceive(WorkRequest request);

    /**
     * Moves everything on, within bounds: no call runs longer than a slice of each connection.
     *
     * @return whether anything moved
     */
    boolean progress();

    /**
     * Prepares for the engine to sleep: from now on whatever would give {@link #progress()} work
     * wakes the engine.
     *
     * @return true if there is work already: do not sleep
     */
    boolean arm();

    /** Rings now for all that was submitted so far, without waiting for the next progress. */
    void ring();

    /** Takes {@link #arm()} back. */
    void disarm();

    /**
     * Completes everything in flight, receives too, with the status, and ends every connection in
     * good order; the last call that reports. Inside progress.
     */
    void flush(Status status);

    /** Gives everything back; peers see their connections end. Reports nothing. */
    void close();
}
