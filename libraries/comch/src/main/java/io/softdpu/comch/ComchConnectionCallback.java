package io.softdpu.comch;

/** Callback for a connection that was established, or has room for messages again. */
@FunctionalInterface
public interface ComchConnectionCallback {
    /**
     * A client of a server has connected, or a connection has become writable, depending on the
     * setter. Runs inside progress.
     *
     * @param connection the connection. The peer may have ended since: what is sent or created over
     *     it then reports that as it reports a later end
     */
    void onConnection(ComchConnection connection);
}
