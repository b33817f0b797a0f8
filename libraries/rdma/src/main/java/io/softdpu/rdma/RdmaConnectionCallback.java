package io.softdpu.rdma;

/** Callback for state changes of connections; runs inside {@code progress()} of the engine. */
@FunctionalInterface
public interface RdmaConnectionCallback {
    /**
     * Handles a state change of a connection. The context's callback for RUNNING follows at once
     * where the first connection becomes CONNECTED, before any later change.
     *
     * @param connection the connection; {@link RdmaConnection#failure()} gives the reason of a
     *     failure
     * @param previous the state that it left
     * @param next the state that it entered
     */
    void onConnectionStateChanged(
            RdmaConnection connection, RdmaConnection.State previous, RdmaConnection.State next);
}
