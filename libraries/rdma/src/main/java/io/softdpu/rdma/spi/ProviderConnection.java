package io.softdpu.rdma.spi;

import io.softdpu.core.Status;

/**
 * A provider's half of a reliable connection. All methods on the thread of the instance's engine.
 *
 * <p>Work is executed and completed in the order of submission: what a send tells the peer is told
 * after the data of the writes before it has arrived.
 */
public interface ProviderConnection {
    /** The listener's own object for this connection, as it was given at creation. */
    Object owner();

    /** What a peer's provider needs for reaching this; opaque to everybody else. */
    byte[] details();

    /**
     * Begins to connect; {@link EndpointListener#established} or {@link EndpointListener#ended}
     * follows. Once.
     *
     * @param section the peer's {@link #details()}; {@link RdmaProvider#reaches} has accepted it
     * @throws io.softdpu.core.DpuException INVALID_VALUE if it is malformed after all
     */
    void connect(byte[] section);

    /**
     * Queues a send, read or write. The request has been checked against the configuration and the
     * permissions of both sides.
     *
     * @return SUCCESS; AGAIN if the send queue is full; NOT_CONNECTED if the connection is not
     *     established or has ended; another status if this provider cannot do the request
     */
    Status submit(WorkRequest request);

    /**
     * Ends the connection in good order in a later progress: its work is completed with
     * CONNECTION_ABORTED, then {@link EndpointListener#ended} is called. Posted receives stay.
     */
    void disconnect();

    /** Gives back what the connection holds, silently. Idempotent. */
    void close();
}
