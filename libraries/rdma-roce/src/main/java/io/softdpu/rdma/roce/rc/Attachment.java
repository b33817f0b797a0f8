package io.softdpu.rdma.roce.rc;

import io.softdpu.core.copy.Copier;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.RnrTimer;

/**
 * Parts of its instance that a queue pair uses; fixed at its creation.
 *
 * @param listener for requests that were completed, and receives that were consumed
 * @param receives of the instance
 * @param memory that peers may access
 * @param keys of the memory of peers
 * @param copier counts the payload that is copied
 * @param grants what peers may do through the instance
 * @param sendQueueSize limit of requests at a time, a power of two
 * @param rnrTimer step by which the retries of a message without a receive are counted as time
 */
public record Attachment(
        ReceiveListener listener,
        ReceiveQueue receives,
        PeerMemory memory,
        RemoteKeys keys,
        Copier copier,
        Permissions grants,
        int sendQueueSize,
        RnrTimer rnrTimer) {
    /**
     * Checks the size of the send queue.
     *
     * @throws IllegalArgumentException if it is no power of two
     */
    public Attachment {
        if (Integer.bitCount(sendQueueSize) != 1) {
            throw new IllegalArgumentException(
                    "size of a send queue: sendQueueSize="
                            + sendQueueSize
                            + ", expected=a power of two");
        }
    }
}
