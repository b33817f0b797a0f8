package io.softdpu.rdma.spi;

import io.softdpu.core.Status;
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
     * A receive has been consumed, successfully or not; {@link WorkRequest#resultOpcode} and, after
     * success, {@link WorkRequest#resultLengthBytes} and {@link WorkRequest#immediate} are set.
     *
     * @param from the connection that consumed it; null if none did, in a flush
     */
    void received(WorkRequest request, Status status, @Nullable ProviderConnection from);

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
