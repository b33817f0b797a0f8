package io.softdpu.comch;

import java.lang.foreign.MemorySegment;

/** Callback for messages of the remote client or server. Runs inside progress. */
@FunctionalInterface
public interface ComchMessageCallback {
    /**
     * Handles a received message.
     *
     * @param from the connection that it was received on
     * @param message exactly the message, so that its byte size, 0 or more, is the length. It is in
     *     private memory, aligned to 64 bytes, read-only, and valid during the call only: copy it
     *     to keep it
     */
    void onMessage(ComchConnection from, MemorySegment message);
}
