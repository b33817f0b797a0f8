package io.softdpu.linux;

/**
 * Batch of errors that {@link UdpSocket#receiveErrors} has taken from a socket's error queue. One
 * thread at a time. Allocates nothing.
 *
 * <p>A payload is that of the datagram that an error quotes, without its IP and UDP headers. Linux
 * quotes 520 bytes over IPv4 and 1,184 over IPv6, where the datagram has as many; other systems may
 * quote none.
 *
 * <p>An error is about a datagram that this socket may have sent: any node that can send packets to
 * this machine can forge an ICMP error, so the caller compares what it quotes with what was sent.
 */
public final class ReceivedErrors extends ReceivedBatch {
    /** Origin of an error that this kernel reports without a packet, also as a result of send. */
    public static final int ORIGIN_LOCAL = 1;

    /** Origin of an ICMP error. */
    public static final int ORIGIN_ICMP = 2;

    /** Origin of an ICMPv6 error. */
    public static final int ORIGIN_ICMP6 = 3;

    /**
     * Room for the error and an address, and for the traffic class and the local address, which
     * come before it.
     */
    private static final int CONTROL_BYTES =
            Abi.CmsgHdr.space(Integer.BYTES)
                    + Abi.CmsgHdr.space(Abi.In6PktInfo.BYTES)
                    + Abi.CmsgHdr.space(Abi.ExtendedError.BYTES + Abi.SockAddrIn6.BYTES);

    ReceivedErrors(boolean ipv6, int capacity, int maxBytes) {
        super(ipv6, capacity, maxBytes, CONTROL_BYTES);
    }

    /** First half of the destination of the datagram that has failed. */
    public long destinationHigh(int index) {
        return vector.high(name(index));
    }

    /** Second half of the destination of the datagram that has failed. */
    public long destinationLow(int index) {
        return vector.low(name(index));
    }

    /**
     * Port that the datagram was sent to.
     *
     * @return 0 if it is unknown, as for some errors of {@link #ORIGIN_LOCAL}
     */
    public int destinationPort(int index) {
        return vector.port(name(index));
    }

    /** The error number, such as {@link Errno#ECONNREFUSED}. */
    public int errno(int index) {
        long at = error(index);
        return at < 0 ? 0 : vector.getInt(at + Abi.ExtendedError.ERRNO);
    }

    /**
     * Where an error comes from.
     *
     * @return a constant of this class, or another of the kernel's
     */
    public int origin(int index) {
        return byteOf(index, Abi.ExtendedError.ORIGIN);
    }

    /** Type of the ICMP message. */
    public int type(int index) {
        return byteOf(index, Abi.ExtendedError.TYPE);
    }

    /** Code of the ICMP message. */
    public int code(int index) {
        return byteOf(index, Abi.ExtendedError.CODE);
    }

    /** Further information, as the MTU with {@link Errno#EMSGSIZE}. */
    public int info(int index) {
        long at = error(index);
        return at < 0 ? 0 : vector.getInt(at + Abi.ExtendedError.INFO);
    }

    private int byteOf(int index, int member) {
        long at = error(index);
        return at < 0 ? 0 : vector.getByte(at + member);
    }

    /**
     * First half of the address of the node that has sent the error.
     *
     * @return 0 in both halves if it is unknown
     */
    public long offenderHigh(int index) {
        long at = offender(index);
        return at < 0 ? 0 : vector.high(at);
    }

    /** Second half of the address of the node that has sent the error. */
    public long offenderLow(int index) {
        long at = offender(index);
        return at < 0 ? 0 : vector.low(at);
    }

    private long offender(int index) {
        long at = find(index, Abi.ExtendedError.BYTES + nameBytes());
        if (at < 0) {
            return -1;
        }
        long name = at + Abi.ExtendedError.BYTES;
        int expected = vector.ipv6 ? SocketAddresses.AF_INET6 : SocketAddresses.AF_INET;
        return vector.family(name) == expected ? name : -1;
    }

    private int nameBytes() {
        return vector.ipv6 ? Abi.SockAddrIn6.BYTES : Abi.SockAddrIn.BYTES;
    }

    private long error(int index) {
        return find(index, Abi.ExtendedError.BYTES);
    }

    private long find(int index, int leastBytes) {
        return control(index, UdpSocket.IPV6_RECVERR, UdpSocket.IP_RECVERR, leastBytes);
    }
}
