package io.softdpu.rdma.roce.cm;

/** Listener for requests of peers to one port. */
public interface RequestListener {
    /**
     * A peer requests a connection. It waits until {@link CmConnection#accept}, {@link
     * CmConnection#reject} or {@link CmConnection#refuse}, inside this call or later; when the peer
     * gives it up its state becomes CLOSED, and {@link #gone} is called.
     *
     * @param request in the state REQ_RECEIVED
     */
    void requested(CmConnection request);

    /**
     * Nothing is kept any more of a request that was not accepted: its peer has given it up, or its
     * rejection need not be repeated any longer. Comes once, as the last event.
     */
    default void gone(CmConnection request) {}
}
