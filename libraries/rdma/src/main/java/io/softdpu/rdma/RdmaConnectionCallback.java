package io.softdpu.rdma;

/** Is told of each change of a connection's state; runs inside {@code progress()} of the engine. */
@FunctionalInterface
public interface RdmaConnectionCallback {
    /**
     * A connection has gone from one state to the next.
     *
     * @param connection the connection; {@link RdmaConnection#failure()} says why it failed
     * @param previous the state that it left
     * @param next the state that it entered
     */
    void onConnectionStateChanged(
            RdmaConnection connection, RdmaConnection.State previous, RdmaConnection.State next);
}
