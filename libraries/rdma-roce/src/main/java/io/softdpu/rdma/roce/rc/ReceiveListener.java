package io.softdpu.rdma.roce.rc;

import io.softdpu.core.Status;
import io.softdpu.rdma.spi.WorkRequest;

/** Listener of an instance for the ends of its requests and receives. Allocates nothing. */
@FunctionalInterface
public interface ReceiveListener {
    /**
     * A receive that {@link ReceiveQueue#take} has given was consumed, successfully or not. Its
     * results are set: {@link WorkRequest#resultOpcode}, and after success {@link
     * WorkRequest#resultLengthBytes} and {@link WorkRequest#immediate}. The instance adds its own
     * connection and completes it.
     */
    void received(QueuePair queuePair, WorkRequest receive, Status status);

    /**
     * A request that {@link QueuePair#submit} has accepted was completed; its results are set. An
     * instance with another thread than the adapter's completes it there.
     */
    default void completed(QueuePair queuePair, WorkRequest request, Status status) {
        request.sink.completed(status);
    }
}
