package io.softdpu.rdma.spi;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;

/**
 * Listener for the connections of a provider's endpoint; requests complete to their {@link
 * WorkRequest#sink}. Called on the engine's thread, inside {@link ProviderEndpoint#progress()}. A
 * call may run user callbacks that submit work, post receives, or create connections; calls that
 * end a connection or the endpoint take effect in a later progress.
 */
public interface EndpointListener {
    /**
     * A peer requests a connection to a port on which the endpoint listens. It waits until the
     * request is answered.
     */
    void requested(ProviderEndpoint from, ConnectRequest request);

    /**
     * The listener has accepted the request of {@link ProviderEndpoint#connect}; {@link
     * #established} or {@link #ended} follows.
     *
     * @param permissions what the peer's instance grants
     * @param privateData of the listener's program, within {@link PrivateData#ACCEPT_BYTES}
     */
    void accepted(ProviderConnection connection, Permissions permissions, byte[] privateData);

    /**
     * The listener's program has rejected the request of {@link ProviderEndpoint#connect}; {@link
     * #ended} follows with CONNECTION_ABORTED.
     *
     * @param privateData of the listener's program, within {@link PrivateData#REJECT_BYTES}
     */
    void rejected(ProviderConnection connection, byte[] privateData);

    /**
     * The connection is established: work can be submitted, and the peer is ready for it. By
     * address, the side that connects may be so as soon as it has the acceptance.
     */
    void established(ProviderConnection connection);

    /**
     * A connection has ended, by a failure, by the peer, or by {@link
     * ProviderConnection#disconnect()}. All of its work has been completed before, and it accepts
     * no more.
     *
     * @param status SUCCESS for an orderly disconnect by either side; else the failure
     * @param reason as {@code reason: key=value}; empty for an orderly disconnect
     */
    void ended(ProviderConnection connection, Status status, String reason);
}
