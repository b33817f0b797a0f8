package io.softdpu.comch;

/**
 * Callback for connections of a server that were established, refused, or have ended. Runs inside
 * progress.
 */
@FunctionalInterface
public interface ComchConnectionCallback {
    /**
     * A connection was established, refused, or has ended.
     *
     * @param connection the connection; one that has ended only provides its counters, its user
     *     data and its {@link ComchConnection#failure()}
     * @param successful for a connect: whether it is established; false if a valid request was
     *     refused, or the client cancelled it before it was accepted. For a disconnect: whether it
     *     was orderly; false if the peer ended or violated the protocol
     */
    void onConnection(ComchConnection connection, boolean successful);
}
