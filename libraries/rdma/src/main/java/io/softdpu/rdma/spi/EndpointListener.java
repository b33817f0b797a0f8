package io.softdpu.rdma.spi;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import org.jspecify.annotations.Nullable;

/**
 * Listener for the events of a provider's endpoint. Called on the engine's thread, inside {@link
 * ProviderEndpoint#progress()}. A call may run user callbacks that submit work, post receives, or
 * create connections; calls that end a connection or the endpoint take effect in a later progress.
 *
 * <p>Calls of the data path allocate nothing on either side.
 */
public interface EndpointListener {
    /** Any request but a receive has completed; it no longer belongs to the provider. */
    void completed(WorkRequest request, Status status);

    /**
     * A receive has been consumed, successfully or not. {@link WorkRequest#resultOpcode} is set if
     * a connection consumed it, and after success {@link WorkRequest#resultLengthBytes} and {@link
     * WorkRequest#immediate}.
     *
     * @param from the connection that consumed it; null if none did, in a flush
     */
    void received(WorkRequest request, Status status, @Nullable ProviderConnection from);

    /**
     * A peer requests a connection to a port on which the endpoint listens. It waits until the
     * request is answered.
     */
    void requested(ProviderEndpoint from, ConnectRequest request);

    /**
     * The listener has accepted the request of {@link ProviderEndpoint#connect}; the connection is
     * not established yet.
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

    /** The connection is established on both sides: work can be submitted. */
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
