package io.softdpu.rdma.roce.cm;

import io.softdpu.core.Status;

/**
 * Listener for the events of one connection, inside a call of its adapter. An event may call the
 * manager, its connections and their queue pairs. None but {@link #released} follows {@link
 * #ended}, or a call of {@link CmConnection#disconnect} or {@link CmConnection#fail} that ends it.
 */
public interface ConnectionListener {
    /**
     * Both ends are ready: requests may be submitted to {@link CmConnection#queuePair}. Comes
     * before the first message of the peer.
     */
    void established(CmConnection connection);

    /**
     * The program at the peer has rejected the request; {@link #ended} follows with
     * CONNECTION_ABORTED.
     *
     * @param privateData of that program, within {@link
     *     io.softdpu.rdma.spi.PrivateData#REJECT_BYTES}
     */
    void rejected(CmConnection connection, byte[] privateData);

    /**
     * The connection has ended by the peer or by a failure of its queue pair, or was not
     * established. The requests of its queue pair have been completed before: with CONNECTION_RESET
     * if the peer has ended it, as {@link io.softdpu.rdma.roce.rc.ConnectionEvents#ended} says if
     * it has failed.
     *
     * @param status SUCCESS after an orderly disconnect of the peer; NOT_FOUND if nothing listens
     *     at the port; TIME_OUT if it was not established within the connect timeout;
     *     AUTHENTICATION if a peer with another key has connected; CONNECTION_ABORTED if the peer
     *     has rejected; INVALID_VALUE if its answer is malformed; that of the queue pair if it has
     *     failed; CONNECTION_RESET for any other end by the peer
     * @param reason as {@code reason: key=value}; empty after an orderly disconnect
     */
    void ended(CmConnection connection, Status status, String reason);

    /**
     * Nothing is kept of the connection any more: its queue pair is destroyed. The last event;
     * comes once for each connection that has got this listener.
     */
    void released(CmConnection connection);
}
