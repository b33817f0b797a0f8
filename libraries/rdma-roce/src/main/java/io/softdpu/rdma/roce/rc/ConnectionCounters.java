package io.softdpu.rdma.roce.rc;

import io.softdpu.rdma.roce.wire.Syndrome;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts of one queue pair. The thread of its adapter counts; any thread reads each count, which
 * may be a moment old. Allocates nothing after its construction.
 */
@SuppressWarnings("EnumOrdinal") // index of an array: counted per packet
public final class ConnectionCounters {
    private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] counts = new long[ConnectionCounter.values().length];

    /** All are 0. */
    public ConnectionCounters() {}

    /** The count. */
    public long get(ConnectionCounter counter) {
        return (long) COUNTS.getOpaque(counts, counter.ordinal());
    }

    /** Adds the counts to others, in the order of {@link ConnectionCounter}. */
    public void addTo(long[] others) {
        for (int place = 0; place < counts.length; place++) {
            others[place] += (long) COUNTS.getOpaque(counts, place);
        }
    }

    /** Counts one; by the thread of the adapter. */
    public void increment(ConnectionCounter counter) {
        add(counter, 1);
    }

    void add(ConnectionCounter counter, long count) {
        int place = counter.ordinal();
        COUNTS.setOpaque(counts, place, counts[place] + count);
    }

    void sent(OutgoingPacket packet) {
        increment(ConnectionCounter.PACKETS_SENT);
        add(ConnectionCounter.BYTES_SENT, packet.bytes());
    }

    /** Payload was copied out of a packet; its operation is completed afterwards. */
    void copied(int bytes) {
        add(ConnectionCounter.NIC_PAYLOAD_BYTES_COPIED, bytes);
    }

    /** A refusal for the peer was made. */
    void refused(int syndrome) {
        if (Syndrome.isReceiverNotReady(syndrome)) {
            increment(ConnectionCounter.RNR_NAKS_SENT);
            return;
        }
        switch (Syndrome.value(syndrome)) {
            case Syndrome.SEQUENCE_ERROR -> increment(ConnectionCounter.SEQUENCE_NAKS_SENT);
            case Syndrome.INVALID_REQUEST -> increment(ConnectionCounter.INVALID_REQUEST_NAKS_SENT);
            case Syndrome.REMOTE_ACCESS_ERROR ->
                    increment(ConnectionCounter.REMOTE_ACCESS_NAKS_SENT);
            case Syndrome.REMOTE_OPERATIONAL_ERROR ->
                    increment(ConnectionCounter.REMOTE_OPERATION_NAKS_SENT);
            default -> throw new IllegalArgumentException("no refusal: syndrome=" + syndrome);
        }
    }

    /** The peer has refused a request in flight. */
    void refusedByPeer(int syndrome) {
        if (Syndrome.isReceiverNotReady(syndrome)) {
            increment(ConnectionCounter.RNR_NAKS_RECEIVED);
        } else if (Syndrome.isNegative(syndrome)) {
            switch (Syndrome.value(syndrome)) {
                case Syndrome.SEQUENCE_ERROR -> increment(ConnectionCounter.SEQUENCE_NAKS_RECEIVED);
                case Syndrome.INVALID_REQUEST ->
                        increment(ConnectionCounter.INVALID_REQUEST_NAKS_RECEIVED);
                case Syndrome.REMOTE_ACCESS_ERROR ->
                        increment(ConnectionCounter.REMOTE_ACCESS_NAKS_RECEIVED);
                case Syndrome.REMOTE_OPERATIONAL_ERROR ->
                        increment(ConnectionCounter.REMOTE_OPERATION_NAKS_RECEIVED);
                default -> {} // a reserved one
            }
        }
    }
}
