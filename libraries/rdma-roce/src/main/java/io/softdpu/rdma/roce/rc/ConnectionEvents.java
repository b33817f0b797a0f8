package io.softdpu.rdma.roce.rc;

import io.softdpu.core.Status;

/** Listener for the life of queue pairs. */
public interface ConnectionEvents {
    /**
     * The first valid packet of the peer has come since {@link QueuePair#connect}: the peer is
     * connected too. Once per queue pair.
     */
    void contacted(QueuePair queuePair, long nowNanos);

    /**
     * The queue pair has failed; its requests have been completed before. Does not follow {@link
     * QueuePair#end}. The queue pair may be destroyed inside this call, which takes the last
     * negative acknowledgement from the peer if that was not transmitted yet.
     *
     * @param reason as {@code reason: key=value}
     */
    void ended(QueuePair queuePair, Status status, String reason, long nowNanos);
}
