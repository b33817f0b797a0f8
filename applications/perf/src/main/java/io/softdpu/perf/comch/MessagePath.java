package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;

/** Carries the messages of one side over its connection. Belongs to the side's thread. */
sealed interface MessagePath permits TaskPath, StreamPath, BasicPath {
    /** Configures the server or client, before it is started. */
    void configure(ComchEndpoint endpoint);

    /** Creates the consumer or stream that receives messages, and posts all its buffers. */
    void receive(ComchConnection over);

    /** Waits until the peer receives messages, and creates the producer or stream to send them. */
    void produce(ComchConnection over);

    /**
     * Sends a message; false if none is free, or the other side has no buffer for it just now.
     *
     * @param stamp the first 8 bytes of the message, where the plan's messages are stamped
     * @throws DpuException CONNECTION_RESET if the peer has ended
     */
    boolean trySend(long stamp);

    /**
     * Whether all send tasks have completed; always true for a stream, which has none of the
     * program's. The peer reports what it has received.
     */
    boolean allSent();

    /** Frees the tasks that are not in flight: a context stops when all are free. */
    void freeIdle();

    /**
     * The reason why a message could not be sent. Neither side revokes a buffer or closes anything
     * while the other may still send, so a missing object means that the peer has ended.
     */
    static DpuException refused(Status status, Object peer) {
        return switch (status) {
            case BAD_STATE, NOT_CONNECTED, NOT_FOUND, SHUTDOWN, CONNECTION_RESET ->
                    new DpuException(
                            Status.CONNECTION_RESET,
                            Text.format("peer has ended: peer=%s, sending=%s", peer, status));
            default ->
                    new DpuException(
                            status,
                            Text.format(
                                    "message could not be sent: peer=%s, sending=%s",
                                    peer, status));
        };
    }
}
