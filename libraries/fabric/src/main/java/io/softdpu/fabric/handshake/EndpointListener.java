package io.softdpu.fabric.handshake;

/**
 * Hears of clients of an endpoint. Calls come on the bus thread, after the handshake's form and the
 * client's memory have been checked: post to a mailbox and return.
 */
public interface EndpointListener {
    /** A client waits for {@link PendingLink#accept} or {@link PendingLink#refuse}. */
    void arriving(PendingLink pending);
}
