package io.softdpu.linux;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Batch of messages that a call of {@link UdpSocket} has received, in native memory that is
 * allocated once. They are valid until the next such call with this batch. One thread at a time.
 * Allocates nothing.
 *
 * <p>An index is from 0, below {@link #count}. Addresses are two words, as in {@link
 * OutgoingDatagrams}.
 */
public abstract sealed class ReceivedBatch permits ReceivedDatagrams, ReceivedErrors {
    final MessageVector vector;
    private int count;

    ReceivedBatch(boolean ipv6, int capacity, int maxBytes, int controlBytes) {
        vector = new MessageVector(ipv6, capacity, maxBytes, controlBytes);
    }

    /**
     * Number of messages that it can hold.
     *
     * @return as given to {@link UdpSocket#newReceived} or {@link UdpSocket#newErrors}
     */
    public final int capacity() {
        return vector.capacity;
    }

    /**
     * Memory of all payloads.
     *
     * @return the same segment each time, native; smaller than 2 GiB unless the batch is larger
     */
    public final MemorySegment memory() {
        return vector.slots();
    }

    /** Number of messages that the last call has received. */
    public final int count() {
        return count;
    }

    /** Offset of a payload in {@link #memory}, in bytes. */
    public final long offset(int index) {
        return vector.offset(checked(index));
    }

    /**
     * Bytes of a payload that were received.
     *
     * @return at most the size of a slot, also if the payload was longer
     */
    public final int length(int index) {
        return vector.length(checked(index));
    }

    /** Whether a payload was longer than its slot: the bytes beyond are lost. */
    public final boolean isTruncated(int index) {
        return vector.isTruncated(checked(index));
    }

    // ---- for the kinds of batches ----

    /** Offset of the address that the kernel has given for a message. */
    final long name(int index) {
        return vector.name(checked(index));
    }

    /** Offset of the control data of a type of this socket's family; -1 if there is none. */
    final long control(int index, int ipv6Type, int ipv4Type, int leastBytes) {
        return vector.ipv6
                ? vector.find(checked(index), UdpSocket.IPPROTO_IPV6, ipv6Type, leastBytes)
                : vector.find(checked(index), UdpSocket.IPPROTO_IP, ipv4Type, leastBytes);
    }

    final int checked(int index) {
        return Objects.checkIndex(index, count);
    }

    // ---- for the socket ----

    /** Empties it before a call. */
    final void prepare() {
        vector.prepareToReceive(count);
        count = 0;
    }

    final void arrived(int received) {
        count = received;
    }
}
