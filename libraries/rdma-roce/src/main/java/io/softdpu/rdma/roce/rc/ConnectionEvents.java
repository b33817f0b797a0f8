package io.softdpu.rdma.roce.rc;

import io.softdpu.core.Status;

/** Listener for the life of queue pairs. */
public interface ConnectionEvents {
    /**
     * The first packet of the peer has connected a queue pair that was READY: the peer is connected
     * too. Comes before what the packet causes.
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
