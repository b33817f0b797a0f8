package io.softdpu.rdma.roce.cm;

import io.softdpu.core.Status;

/**
 * Listener for the events of one connection, inside a call of {@link ConnectionManager#datagram},
 * {@link ConnectionManager#receive} or {@link ConnectionManager#expire}, or of {@link
 * CmConnection#connect} where the peer's request has come before. An event may call the manager and
 * its connections. None but {@link #released} follows a call of {@link CmConnection#disconnect} or
 * {@link CmConnection#fail}, or {@link #ended}.
 */
public interface ConnectionListener {
    /**
     * The peer's end is known. When this returns, the queue pair has to be ready for packets of the
     * peer, which may come before {@link #established}. Follows {@link CmConnection#accept} at once
     * and inside that call.
     *
     * @param agreement of both ends
     */
    void connecting(CmConnection connection, Agreement agreement);

    /** Both ends are ready: requests may be sent. */
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
     * The connection has ended by the peer, or was not established. Its queue pair must send no
     * more, and is kept until {@link #released}.
     *
     * @param status SUCCESS after an orderly disconnect of the peer; NOT_FOUND if nothing listens
     *     at the port; TIME_OUT if it was not established within the connect timeout;
     *     AUTHENTICATION if a peer with another key has connected; CONNECTION_ABORTED if the peer
     *     has rejected; INVALID_VALUE if its answer is malformed; CONNECTION_RESET for any other
     *     end by the peer
     * @param reason as {@code reason: key=value}; empty after an orderly disconnect
     */
    void ended(CmConnection connection, Status status, String reason);

    /**
     * Nothing is kept of the connection any more: the number of its queue pair is free. The last
     * event; comes once for each connection that has got this listener.
     */
    void released(CmConnection connection);
}
