package io.softdpu.fabric.handshake;

import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusThreads;

/**
 * An established connection: doorbell and liveness, the peer's inbound memory mapped writable, and
 * the peer's payload of the handshake. The holder closes the link and releases the memory.
 *
 * @param link doorbell and liveness
 * @param remote the peer's inbound memory
 * @param payload the peer's part of the handshake; the array is the holder's
 */
@SuppressWarnings("ArrayRecordComponent") // a private hand-over, never compared
public record Attachment(Link link, SharedSegment remote, byte[] payload) {
    /**
     * Closes the link and releases the memory; any thread.
     *
     * @param threads of the bus
     */
    public void close(BusThreads threads) {
        link.close();
        remote.release(threads);
    }
}
