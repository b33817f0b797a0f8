package io.softdpu.rdma.roce.rc;

import io.softdpu.rdma.roce.wire.Syndrome;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * Counts of one queue pair. The thread of its adapter counts; any thread reads each count, which
 * may be a moment old. Allocates nothing after its construction.
 *
 * <p>What is counted for each packet has a field of its own, the rest a place in an array: a long
 * in a field costs no check of bounds.
 */
public final class ConnectionCounters {
    private static final VarHandle PACKETS_SENT = field("packetsSent");
    private static final VarHandle BYTES_SENT = field("bytesSent");
    private static final VarHandle PACKETS_RECEIVED = field("packetsReceived");
    private static final VarHandle BYTES_RECEIVED = field("bytesReceived");
    private static final VarHandle BYTES_COPIED = field("bytesCopied");
    private static final VarHandle RARE = MethodHandles.arrayElementVarHandle(long[].class);

    private static final List<ConnectionCounter> COUNTERS = List.of(ConnectionCounter.values());

    private long packetsSent;
    private long bytesSent;
    private long packetsReceived;
    private long bytesReceived;
    private long bytesCopied;

    /** By the place of the counter; those that have fields stay 0. */
    private final long[] rare = new long[COUNTERS.size()];

    /** All are 0. */
    public ConnectionCounters() {}

    private static VarHandle field(String name) {
        try {
            return MethodHandles.lookup().findVarHandle(ConnectionCounters.class, name, long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The count. */
    @SuppressWarnings("EnumOrdinal") // index of an array
    public long get(ConnectionCounter counter) {
        return switch (counter) {
            case PACKETS_SENT -> (long) PACKETS_SENT.getOpaque(this);
            case BYTES_SENT -> (long) BYTES_SENT.getOpaque(this);
            case PACKETS_RECEIVED -> (long) PACKETS_RECEIVED.getOpaque(this);
            case BYTES_RECEIVED -> (long) BYTES_RECEIVED.getOpaque(this);
            case NIC_PAYLOAD_BYTES_COPIED -> (long) BYTES_COPIED.getOpaque(this);
            default -> (long) RARE.getOpaque(rare, counter.ordinal());
        };
    }

    /** Adds the counts to others, in the order of {@link ConnectionCounter}. */
    public void addTo(long[] others) {
        for (int place = 0; place < COUNTERS.size(); place++) {
            others[place] += get(COUNTERS.get(place));
        }
    }

    /** Counts one that no other method counts; by the thread of the adapter. */
    @SuppressWarnings("EnumOrdinal") // index of an array
    public void increment(ConnectionCounter counter) {
        int place = counter.ordinal();
        RARE.setOpaque(rare, place, rare[place] + 1);
    }

    /** Packets were sent, of so many bytes in all. */
    void sent(int packets, long bytes) {
        PACKETS_SENT.setOpaque(this, packetsSent + packets);
        BYTES_SENT.setOpaque(this, bytesSent + bytes);
    }

    /** A packet was received. */
    void received(int bytes) {
        PACKETS_RECEIVED.setOpaque(this, packetsReceived + 1);
        BYTES_RECEIVED.setOpaque(this, bytesReceived + bytes);
    }

    /** Payload was copied out of a packet; its operation is completed afterwards. */
    void copied(int bytes) {
        BYTES_COPIED.setOpaque(this, bytesCopied + bytes);
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
