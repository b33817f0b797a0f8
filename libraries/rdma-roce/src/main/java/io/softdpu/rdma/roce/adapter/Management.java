package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.rc.ConnectionEvents;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Packet;

/** Connection management of an adapter, on queue pair 1. */
public interface Management extends ConnectionEvents {
    /**
     * A datagram for queue pair 1 with a right ICRC has come. Its queue key is not checked.
     *
     * @param packet its opcode is DATAGRAM; a view that is valid during the call
     */
    void datagram(Packet packet, Gid source, long nowNanos);

    /** The next deadline, or {@link Adapter#NO_DEADLINE}. Asked often. */
    long nextDeadline();

    /** The deadline has passed. */
    void expire(long nowNanos);
}
