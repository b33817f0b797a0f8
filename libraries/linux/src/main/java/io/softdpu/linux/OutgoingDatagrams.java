package io.softdpu.linux;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/**
 * Batch of datagrams for {@link UdpSocket#send}, in native memory that is allocated once: the
 * caller writes a payload to {@link #memory} at {@link #next}, and adds it with its destination.
 *
 * <p>Datagrams leave in the order of their addition. Those that were not sent stay, and the next
 * send begins with them. One thread at a time. Allocates nothing, except where a message is made.
 *
 * <p>Addresses are two words, the first and the last eight bytes of an IPv6 address; an IPv4
 * address is mapped into it (::ffff:a.b.c.d).
 */
public final class OutgoingDatagrams {
    private static final int MAX_PORT = 0xffff;
    private static final int MAX_TRAFFIC_CLASS = 0xff;

    /** The control value of a datagram that has the traffic class of the socket. */
    private static final int OF_SOCKET = -1;

    final MessageVector vector;
    private int first;
    private int end;
    private int errno;

    OutgoingDatagrams(boolean ipv6, int capacity, int maxBytes) {
        vector = new MessageVector(ipv6, capacity, maxBytes, Abi.CmsgHdr.space(Integer.BYTES));
        for (int i = 0; i < capacity; i++) {
            if (ipv6) {
                vector.prepareToSend(i, UdpSocket.IPPROTO_IPV6, UdpSocket.IPV6_TCLASS);
            } else {
                vector.prepareToSend(i, UdpSocket.IPPROTO_IP, UdpSocket.IP_TOS);
            }
        }
    }

    /**
     * Number of datagrams that it can hold.
     *
     * @return as given to {@link UdpSocket#newOutgoing}
     */
    public int capacity() {
        return vector.capacity;
    }

    /**
     * Size of the longest payload.
     *
     * @return as given to {@link UdpSocket#newOutgoing}
     */
    public int maxBytes() {
        return vector.maxBytes;
    }

    /**
     * Memory of all payloads.
     *
     * @return the same segment each time, native
     */
    public MemorySegment memory() {
        return vector.slots();
    }

    /** Whether no datagram can be added before one has been sent or dropped. */
    public boolean isFull() {
        return end == vector.capacity;
    }

    /**
     * Where the payload of the next datagram begins.
     *
     * @return an offset in {@link #memory}; there is room for {@link #maxBytes} behind it
     * @throws IllegalStateException if the batch is full
     */
    public long next() {
        if (isFull()) {
            throw full();
        }
        return vector.offset(end);
    }

    /**
     * Adds the datagram whose payload is at {@link #next}, with the traffic class of the socket.
     *
     * @param high destination
     * @param port destination, 1 to 65,535
     * @param length size of the payload, 0 to {@link #maxBytes}
     * @throws IllegalArgumentException if the destination is not of the socket's family, or a value
     *     is outside of its limits
     * @throws IllegalStateException if the batch is full
     */
    public void add(long high, long low, int port, int length) {
        addDatagram(high, low, port, length, OF_SOCKET);
    }

    /**
     * As {@link #add(long, long, int, int)}, with a traffic class of its own.
     *
     * @param trafficClass the byte of the IP header, 0 to 255; the two lowest bits are those of
     *     {@link UdpSocket#ECN_MASK}
     */
    public void add(long high, long low, int port, int length, int trafficClass) {
        if (trafficClass < 0 || trafficClass > MAX_TRAFFIC_CLASS) {
            throw new IllegalArgumentException(
                    "traffic class: trafficClass="
                            + trafficClass
                            + ", expected=0 to "
                            + MAX_TRAFFIC_CLASS);
        }
        addDatagram(high, low, port, length, trafficClass);
    }

    private void addDatagram(long high, long low, int port, int length, int trafficClass) {
        if (isFull()) {
            throw full();
        }
        if (port < 1 || port > MAX_PORT || MessageVector.isIpv4(high, low) == vector.ipv6) {
            throw new IllegalArgumentException(
                    "destination of a datagram: address="
                            + text(high, low, port)
                            + ", expected=an "
                            + (vector.ipv6 ? "IPv6" : "IPv4")
                            + " address and a port from 1 to "
                            + MAX_PORT);
        }
        if (length < 0 || length > vector.maxBytes) {
            throw new IllegalArgumentException(
                    "length of a datagram: lengthBytes="
                            + length
                            + ", limit="
                            + vector.maxBytes
                            + ", address="
                            + text(high, low, port));
        }
        vector.setToSend(end, length, high, low, port, trafficClass);
        end++;
    }

    /** An address also with a port that none can have. */
    private static String text(long high, long low, int port) {
        String withPortZero = MessageVector.address(high, low, 0).toString();
        return withPortZero.substring(0, withPortZero.length() - 1) + port;
    }

    private IllegalStateException full() {
        return new IllegalStateException("batch of datagrams is full: capacity=" + vector.capacity);
    }

    /** Number of datagrams that were added and neither sent nor dropped. */
    public int waiting() {
        return end - first;
    }

    /**
     * Why the last {@link UdpSocket#send} did not send the first waiting datagram.
     *
     * @return 0 if it sent all; else an error number, as there
     */
    public int errno() {
        return errno;
    }

    /**
     * The same as an exception, which names the datagram's destination. Allocates.
     *
     * @throws IllegalStateException if nothing has failed
     */
    public LinuxException failure() {
        if (errno == 0 || waiting() == 0) {
            throw new IllegalStateException("no datagram has failed: waiting=" + waiting());
        }
        return new LinuxException(
                "sendmmsg",
                errno,
                "address=" + firstDestination() + ", lengthBytes=" + firstLength());
    }

    /** First word of the destination of the first waiting datagram; only if there is one. */
    public long firstHigh() {
        return vector.high(vector.name(first));
    }

    /** Second word of the destination of the first waiting datagram; only if there is one. */
    public long firstLow() {
        return vector.low(vector.name(first));
    }

    /**
     * Where the payload of the first waiting datagram begins.
     *
     * @return an offset in {@link #memory}; of no use if none waits
     */
    public long firstOffset() {
        return vector.offset(first);
    }

    /**
     * Size of the payload of the first waiting datagram.
     *
     * @return bytes; of no use if none waits
     */
    public int firstLength() {
        return vector.lengthToSend(first);
    }

    /** Destination of the first waiting datagram; of no use if none waits. Allocates. */
    public InetSocketAddress firstDestination() {
        long name = vector.name(first);
        return MessageVector.address(vector.high(name), vector.low(name), vector.port(name));
    }

    /** Drops the first waiting datagram; does nothing if there is none. */
    public void drop() {
        if (waiting() > 0) {
            remove(1);
        }
        errno = 0;
    }

    /** Drops all waiting datagrams. */
    public void clear() {
        remove(waiting());
        errno = 0;
    }

    // ---- for the socket ----

    int first() {
        return first;
    }

    /** Removes the first waiting datagrams, which were sent. */
    void remove(int count) {
        first += count;
        if (first == end) {
            first = 0;
            end = 0;
        }
    }

    void setErrno(int error) {
        errno = error;
    }
}
