package io.softdpu.rdma.roce.cm;

import io.softdpu.rdma.roce.wire.Gid;
import java.lang.foreign.MemorySegment;

/** Way of connection messages to queue pair 1 of another adapter. */
public interface DatagramSink {
    /**
     * Sends a message. It is copied during the call.
     *
     * @param destination the adapter
     * @param memory has {@link io.softdpu.rdma.roce.wire.CmCodec#MESSAGE_BYTES} bytes of payload
     * @param at offset of these
     * @return false if there is no place for it: it counts as lost
     */
    boolean send(Gid destination, MemorySegment memory, long at);
}
