package io.softdpu.rdma.spi;

import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * Where a provider reports to. Every call comes on the engine's thread, inside {@link
 * ProviderEndpoint#progress()}, and may run user callbacks that submit work, post receives, or make
 * connections; what ends a connection or the endpoint takes effect in a later progress.
 *
 * <p>The data path's calls allocate nothing on either side.
 */
public interface EndpointListener {
    /** A send, read or write has ended; the request is no longer the provider's. */
    void completed(WorkRequest request, Status status);

    /**
     * A receive has been used up, successfully or not; {@link WorkRequest#resultOpcode} and, after
     * success, {@link WorkRequest#resultLengthBytes} are set.
     *
     * @param from the connection that it was used up for; null if none was, in a flush
     */
    void received(WorkRequest request, Status status, @Nullable ProviderConnection from);

    /** Both sides hold each other: work can be submitted. */
    void established(ProviderConnection connection);

    /**
     * A connection has ended, by itself, by the peer, or as {@link ProviderConnection#disconnect()}
     * asked. All of its work has been completed before, and it takes no more.
     *
     * @param status SUCCESS for an orderly end by either side; else why it failed
     * @param reason as {@code reason: key=value}; empty for an orderly end
     */
    void ended(ProviderConnection connection, Status status, String reason);
}
