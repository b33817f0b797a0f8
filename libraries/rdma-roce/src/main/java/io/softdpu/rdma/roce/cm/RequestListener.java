package io.softdpu.rdma.roce.cm;

/** Listener for requests of peers to one port. */
public interface RequestListener {
    /**
     * A peer requests a connection. It waits until {@link CmConnection#accept}, {@link
     * CmConnection#reject} or {@link CmConnection#refuse}, inside this call or later; when the peer
     * gives it up its state becomes CLOSED, without an event.
     *
     * @param request in the state REQ_RECEIVED
     */
    void requested(CmConnection request);
}
