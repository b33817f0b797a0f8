package io.softdpu.linux;

import java.net.InetAddress;

/**
 * Batch of datagrams that {@link UdpSocket#receive} or {@link UdpSocket#poll} has received. One
 * thread at a time. Allocates nothing.
 */
public final class ReceivedDatagrams extends ReceivedBatch {
    /** Room for the traffic class and the local address, of both families. */
    private static final int CONTROL_BYTES =
            Abi.CmsgHdr.space(Integer.BYTES) + Abi.CmsgHdr.space(Abi.In6PktInfo.BYTES);

    private final boolean wildcard;
    private final long boundHigh;
    private final long boundLow;

    ReceivedDatagrams(InetAddress bound, boolean ipv6, int capacity, int maxBytes) {
        super(ipv6, capacity, maxBytes, CONTROL_BYTES);
        wildcard = bound.isAnyLocalAddress();
        boundHigh = MessageVector.high(bound);
        boundLow = MessageVector.low(bound);
    }

    /** First half of the sender's address. */
    public long sourceHigh(int index) {
        return vector.high(name(index));
    }

    /** Second half of the sender's address. */
    public long sourceLow(int index) {
        return vector.low(name(index));
    }

    /** Port of the sender. */
    public int sourcePort(int index) {
        return vector.port(name(index));
    }

    /**
     * Traffic class in the IP header, with the bits of congestion.
     *
     * @return 0 to 255
     */
    public int trafficClass(int index) {
        // A byte over IPv4, an int over IPv6.
        long at =
                control(
                        index,
                        UdpSocket.IPV6_TCLASS,
                        UdpSocket.IP_TOS,
                        vector.ipv6 ? Integer.BYTES : Byte.BYTES);
        return at < 0 ? 0 : vector.getByte(at);
    }

    /** Whether the network has marked a datagram as congested. */
    public boolean isCongested(int index) {
        return (trafficClass(index) & UdpSocket.ECN_MASK) == UdpSocket.ECN_CONGESTED;
    }

    /** First half of the local address that a datagram was sent to. */
    public long localHigh(int index) {
        if (!wildcard) {
            int _ = checked(index);
            return boundHigh;
        }
        long at = localAddress(index);
        return vector.ipv6 && at >= 0 ? vector.ipv6High(at) : 0;
    }

    /** Second half of the local address that a datagram was sent to. */
    public long localLow(int index) {
        if (!wildcard) {
            int _ = checked(index);
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
                control(
                        index,
                        UdpSocket.IPV6_PKTINFO,
                        UdpSocket.IP_PKTINFO,
                        vector.ipv6 ? Abi.In6PktInfo.BYTES : Abi.InPktInfo.BYTES);
        return at < 0 ? -1 : at + (vector.ipv6 ? Abi.In6PktInfo.ADDRESS : Abi.InPktInfo.ADDRESS);
    }
}
