package io.softdpu.rdma.spi;

import io.softdpu.core.memory.Permissions;
import java.net.InetAddress;

/**
 * Request of a peer for a connection, which waits for its answer. It ends when it is answered, when
 * the peer gives up, and when its endpoint is flushed or closed. Belongs to the engine's thread.
 */
public interface ConnectRequest {
    /** The port on which the endpoint listens. */
    int port();

    /**
     * Address of the peer's device, as the peer states it: of the family of the address to which it
     * connects.
     */
    InetAddress peerAddress();

    /** What the peer's instance grants. */
    Permissions peerPermissions();

    /** A copy of the data of the peer's program, within {@link PrivateData#CONNECT_BYTES}. */
    byte[] privateData();

    /** Whether it can no longer be answered; changes in progress only. */
    boolean hasEnded();

    /**
     * Accepts it; the peer is notified in a later pass of progress. {@link
     * EndpointListener#established} or {@link EndpointListener#ended} follows.
     *
     * @param privateData for the peer's program, within {@link PrivateData#ACCEPT_BYTES}
     * @param owner returned by {@link ProviderConnection#owner()}
     * @throws io.softdpu.core.DpuException FULL, NO_MEMORY, OPERATING_SYSTEM: it can be answered
     *     again
     */
    ProviderConnection accept(byte[] privateData, Object owner);

    /**
     * Rejects it for the program.
     *
     * @param privateData for the peer's program, within {@link PrivateData#REJECT_BYTES}
     */
    void reject(byte[] privateData);

    /**
     * Rejects it for the library.
     *
     * @param reason for the peer's message, {@code reason: key=value}
     */
    void refuse(String reason);
}
