package io.softdpu.fabric;

/**
 * An established connection: doorbell and liveness, the peer's inbound memory mapped writable, and
 * what the peer said in the handshake. The holder closes the link and releases the memory.
 *
 * @param link doorbell and liveness
 * @param remote the peer's inbound memory
 * @param payload the peer's part of the handshake; the array is the holder's
 */
@SuppressWarnings("ArrayRecordComponent") // a private hand-over, never compared
public record Attachment(Link link, SharedSegment remote, byte[] payload) {
    /** Closes the link and releases the memory; any thread. */
    public void close(Bus bus) {
        link.close();
        bus.release(remote);
    }
}
