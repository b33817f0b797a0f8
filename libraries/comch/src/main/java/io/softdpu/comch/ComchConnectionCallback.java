package io.softdpu.comch;

/** Is told that a connection of a server was established or has ended. Runs inside progress. */
@FunctionalInterface
public interface ComchConnectionCallback {
    /**
     * The connection has changed.
     *
     * @param connection the connection; one that ended can be asked for its counters, its user data
     *     and its {@link ComchConnection#failure()}, and for nothing else
     * @param successful for a connect: whether it is established; false if a client asked properly
     *     and was refused, or gave up before it was accepted. For a disconnect: whether it was
     *     orderly; false if the peer ended or broke the protocol
     */
    void onConnection(ComchConnection connection, boolean successful);
}
