package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.rc.ConnectionEvents;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Packet;
import java.lang.foreign.MemorySegment;

/** Connection management of an adapter, on queue pair 1. */
public interface Management extends ConnectionEvents {
    /**
     * A datagram for queue pair 1 with a right ICRC has come. Its queue key is not checked.
     *
     * @param packet its opcode is DATAGRAM; a view that is valid during the call
     */
    void datagram(Packet packet, Gid source, long nowNanos);

    /**
     * Nothing receives at the port to which a message was sent, as an ICMP error says: anyone can
     * forge one that quotes what was seen.
     *
     * @param message that is quoted, whole
     */
    default void refused(Gid peer, MemorySegment message, long at, long nowNanos) {}

    /**
     * The same for a packet of a connection.
     *
     * @param queuePair to which the quoted packet was sent
     * @param psn that it had
     */
    default void refused(Gid peer, int queuePair, int psn, long nowNanos) {}

    /** The next deadline, or {@link Adapter#NO_DEADLINE}. Asked often. */
    long nextDeadline();

    /**
     * The deadline has passed.
     *
     * @param limit of deadlines that are served
     */
    void expire(long nowNanos, int limit);

    /** As {@link #expire(long, int)}, for all that have passed. */
    default void expire(long nowNanos) {
        expire(nowNanos, Integer.MAX_VALUE);
    }
}
