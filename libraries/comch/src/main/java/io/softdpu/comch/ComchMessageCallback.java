package io.softdpu.comch;

import java.lang.foreign.MemorySegment;

/** Is given each message that the remote client or server has sent. Runs inside progress. */
@FunctionalInterface
public interface ComchMessageCallback {
    /**
     * A message has come.
     *
     * @param from the connection on which it came
     * @param message the message and nothing else, so its byte size is the length, 0 or more. It
     *     lies in private memory, aligned to 64 bytes, read-only, and is overwritten after the
     *     call: who needs it longer copies it
     */
    void onMessage(ComchConnection from, MemorySegment message);
}
