package io.softdpu.rdma.roce.rc;

import io.softdpu.core.Status;
import io.softdpu.rdma.spi.WorkRequest;

/** Listener of an instance for the ends of its requests and receives. Allocates nothing. */
public interface CompletionListener {
    /** A request of any kind but a receive has completed; it belongs to its owner again. */
    void completed(QueuePair queuePair, WorkRequest request, Status status);

    /**
     * A receive that {@link ReceiveQueue#take} has given was consumed, successfully or not. Its
     * results are set: {@link WorkRequest#resultOpcode}, and after success {@link
     * WorkRequest#resultLengthBytes} and {@link WorkRequest#immediate}.
     */
    void received(QueuePair queuePair, WorkRequest receive, Status status);
}
