package io.softdpu.fabric.handshake;

/**
 * Listener for clients of an endpoint. Called on the bus thread, after the handshake frame and the
 * client's memory have been validated; an implementation posts to a mailbox and returns.
 */
public interface EndpointListener {
    /** A client waits for {@link PendingLink#accept} or {@link PendingLink#refuse}. */
    void arriving(PendingLink pending);
}
