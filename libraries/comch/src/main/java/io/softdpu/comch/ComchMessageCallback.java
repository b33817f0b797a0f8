package io.softdpu.comch;

import java.lang.foreign.MemorySegment;

/**
 * Callback for messages of the remote client or server, whose memory is valid during the call only:
 * a program copies what it keeps. Runs inside progress.
 */
@FunctionalInterface
public interface ComchMessageCallback {
    /**
     * Handles a received message.
     *
     * @param from the connection that it was received on
     * @param message exactly the message, valid during the call only: the next one comes to the
     *     same place. Its byte size, 0 or more, is the length. It is in private memory, aligned to
     *     64 bytes, and read-only. Under the sanitizer an access after the call fails with
     *     IllegalStateException
     */
    void onMessage(ComchConnection from, MemorySegment message);
}
