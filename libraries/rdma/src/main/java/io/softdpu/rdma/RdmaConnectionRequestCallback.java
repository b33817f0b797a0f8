package io.softdpu.rdma;

/**
 * Callback for requests of peers that connect to a port of {@link Rdma#listen}; runs inside {@code
 * progress()} of the engine.
 */
@FunctionalInterface
public interface RdmaConnectionRequestCallback {
    /**
     * Handles a request: answers it, or keeps it to answer it later.
     *
     * @param request of a peer, which waits for the answer
     */
    void onConnectionRequest(RdmaConnectionRequest request);
}
