package io.softdpu.comch;

/** Callback for connections of a server that were established. Runs inside progress. */
@FunctionalInterface
public interface ComchConnectionCallback {
    /**
     * A client has connected: messages can be sent, and a {@link ComchStream} can be created.
     *
     * @param connection its connection. The client may have ended since: what is created over it
     *     then reports that as it reports a later end
     */
    void onConnected(ComchConnection connection);
}
