package io.softdpu.rdma.roce.rc;

import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** Receives of an instance, which its connections share. Allocates nothing. */
public interface ReceiveQueue {
    /**
     * Takes the oldest receive. {@link ReceiveListener#received} gives it back.
     *
     * @return null if there is none: the peer is asked to try again
     */
    @Nullable WorkRequest take();
}
