package io.softdpu.linux;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;

/**
 * Batch of datagrams that {@link UdpSocket#receive} or {@link UdpSocket#poll} has received, in
 * native memory that is allocated once. They are valid until the next of these calls. One thread at
 * a time. Allocates nothing.
 *
 * <p>An index is from 0, below {@link #count}. Addresses are two words, as in {@link
 * OutgoingDatagrams}.
 */
public final class ReceivedDatagrams {
    /** Room for the traffic class and the local address, of both families. */
    private static final int CONTROL_BYTES =
            Abi.CmsgHdr.space(Integer.BYTES) + Abi.CmsgHdr.space(Abi.In6PktInfo.BYTES);

    final MessageVector vector;
    private final boolean wildcard;
    private final long boundHigh;
    private final long boundLow;
    private int count;

    ReceivedDatagrams(InetAddress bound, boolean ipv6, int capacity, int maxBytes) {
        vector = new MessageVector(ipv6, capacity, maxBytes, CONTROL_BYTES);
        wildcard = bound.isAnyLocalAddress();
        boundHigh = MessageVector.high(bound);
        boundLow = MessageVector.low(bound);
    }

    /**
     * Number of datagrams that it can hold.
     *
     * @return as given to {@link UdpSocket#newReceived}
     */
    public int capacity() {
        return vector.capacity;
    }

    /**
     * Memory of all payloads.
     *
     * @return the same segment each time, native; smaller than 2 GiB unless the batch is larger
     */
    public MemorySegment memory() {
        return vector.slots();
    }

    /** Number of datagrams that the last call has received. */
    public int count() {
        return count;
    }

    /** Where a payload begins in {@link #memory}. */
    public long offset(int index) {
        MessageVector.check(index, count);
        return vector.offset(index);
    }

    /**
     * Bytes of a payload that were received.
     *
     * @return at most the size of a slot, also if the datagram was longer
     */
    public int length(int index) {
        MessageVector.check(index, count);
        return vector.length(index);
    }

    /** Whether a datagram was longer than its slot: the bytes beyond are lost. */
    public boolean isTruncated(int index) {
        MessageVector.check(index, count);
        return vector.isTruncated(index);
    }

    /** First half of the sender's address. */
    public long sourceHigh(int index) {
        MessageVector.check(index, count);
        return vector.high(vector.name(index));
    }

    /** Second half of the sender's address. */
    public long sourceLow(int index) {
        MessageVector.check(index, count);
        return vector.low(vector.name(index));
    }

    /** Port of the sender. */
    public int sourcePort(int index) {
        MessageVector.check(index, count);
        return vector.port(vector.name(index));
    }

    /**
     * Traffic class in the IP header, with the bits of congestion.
     *
     * @return 0 to 255
     */
    public int trafficClass(int index) {
        MessageVector.check(index, count);
        // A byte over IPv4, an int over IPv6.
        long at =
                vector.ipv6
                        ? vector.find(
                                index, UdpSocket.IPPROTO_IPV6, UdpSocket.IPV6_TCLASS, Integer.BYTES)
                        : vector.find(index, UdpSocket.IPPROTO_IP, UdpSocket.IP_TOS, Byte.BYTES);
        return at < 0 ? 0 : vector.getByte(at);
    }

    /** Whether the network has marked a datagram as congested. */
    public boolean isCongested(int index) {
        return (trafficClass(index) & UdpSocket.ECN_MASK) == UdpSocket.ECN_CONGESTED;
    }

    /** First half of the local address that a datagram was sent to. */
    public long localHigh(int index) {
        MessageVector.check(index, count);
        if (!wildcard) {
            return boundHigh;
        }
        long at = localAddress(index);
        return vector.ipv6 && at >= 0 ? vector.ipv6High(at) : 0;
    }

    /** Second half of the local address that a datagram was sent to. */
    public long localLow(int index) {
        MessageVector.check(index, count);
        if (!wildcard) {
            return boundLow;
        }
        long at = localAddress(index);
        if (at < 0) {
            return boundLow;
        }
        return vector.ipv6 ? vector.ipv6Low(at) : vector.ipv4Low(at);
    }

    /** Offset of the address, or -1. */
    private long localAddress(int index) {
        long at =
                vector.ipv6
                        ? vector.find(
                                index,
                                UdpSocket.IPPROTO_IPV6,
                                UdpSocket.IPV6_PKTINFO,
                                Abi.In6PktInfo.BYTES)
                        : vector.find(
                                index,
                                UdpSocket.IPPROTO_IP,
                                UdpSocket.IP_PKTINFO,
                                Abi.InPktInfo.BYTES);
        return at < 0 ? -1 : at + (vector.ipv6 ? Abi.In6PktInfo.ADDRESS : Abi.InPktInfo.ADDRESS);
    }

    // ---- for the socket ----

    /** Empties it before a call. */
    void prepare() {
        vector.prepareToReceive(count);
        count = 0;
    }

    void arrived(int received) {
        count = received;
    }
}
