package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * UDP socket over IPv4 or IPv6 that is bound and never connected: it sends and receives datagrams
 * in batches, and tells which of those that it sent ICMP errors were about. It is non-blocking and
 * close-on-exec.
 *
 * <p><b>Headers.</b> Datagrams are never fragmented. Over IPv4 the flag DF is set, and the
 * identification is 0: Linux counts it if fragmentation is allowed, and on connected sockets. The
 * path MTU is not used, only that of the interface (IP_PMTUDISC_PROBE): a forged ICMP error could
 * lower it to 576 bytes for all sockets and for minutes. Over IPv6 datagrams without a UDP checksum
 * are received too (UDP_NO_CHECK6_RX), for protocols with a checksum of their own.
 *
 * <p><b>Errors.</b> The error queue is enabled (IP_RECVERR). The kernel then also reports an error
 * of one destination as the result of the next call, whatever its own destination: such a call has
 * done nothing and is repeated here. The socket is readable with {@link Epoll#ERR} until {@link
 * #receiveErrors} has taken all. Errors take room in the receive buffer, so the owner does this
 * soon.
 *
 * <p><b>Threads.</b> Any thread, each with batches of its own. The owner closes the socket when
 * none uses it any more.
 *
 * <p><b>Allocation.</b> Sending and receiving allocate nothing where they succeed at the first
 * attempt, and {@link #poll} nothing at all; a failed one is repeated with errno: until C2 has
 * compiled the caller, that costs an object of 40 bytes.
 */
public final class UdpSocket implements AutoCloseable {
    /** The bits of a traffic class for explicit congestion notification. */
    public static final int ECN_MASK = 3;

    /** The sender ignores congestion marks (Not-ECT). */
    public static final int ECN_NOT_CAPABLE = 0;

    /** The sender obeys congestion marks: ECT(1). */
    public static final int ECN_CAPABLE_1 = 1;

    /** The sender obeys congestion marks: ECT(0), the usual one of both. */
    public static final int ECN_CAPABLE_0 = 2;

    /** The network has marked the datagram (CE). */
    public static final int ECN_CONGESTED = 3;

    static final int IPPROTO_IP = 0;
    static final int IPPROTO_IPV6 = 41;
    static final int IP_TOS = 1;
    static final int IP_PKTINFO = 8;
    static final int IP_RECVERR = 11;
    static final int IPV6_RECVERR = 25;
    static final int IPV6_PKTINFO = 50;
    static final int IPV6_TCLASS = 67;

    private static final int IPPROTO_UDP = 17;
    private static final int SOCK_DGRAM = 2;
    private static final int SO_SNDBUF = 7;
    private static final int SO_RCVBUF = 8;
    private static final int SO_SNDBUFFORCE = 32;
    private static final int SO_RCVBUFFORCE = 33;
    private static final int IP_MTU_DISCOVER = 10;
    private static final int IP_RECVTOS = 13;
    private static final int IPV6_MTU_DISCOVER = 23;
    private static final int IPV6_V6ONLY = 26;
    private static final int IPV6_RECVPKTINFO = 49;
    private static final int IPV6_RECVTCLASS = 66;
    private static final int UDP_NO_CHECK6_RX = 102;

    /** Value of IP_MTU_DISCOVER and IPV6_MTU_DISCOVER: DF, and no use of the path MTU. */
    private static final int IP_PMTUDISC_PROBE = 3;

    private static final int MSG_ERRQUEUE = 0x2000;
    private static final int MAX_TRAFFIC_CLASS = 0xff;

    /**
     * Attempts of a call that may have failed by the error of another datagram. Each attempt takes
     * one error; another can only have come between two of them.
     */
    private static final int MAX_ATTEMPTS = 16;

    /**
     * The same for a datagram that may be too large: each attempt would add an error of this kernel
     * to the queue.
     */
    private static final int MAX_ATTEMPTS_WITH_SIZE = 3;

    private static final MethodHandle SENDMMSG = Libc.bind("sendmmsg", INT, INT, POINTER, INT, INT);
    private static final MethodHandle SENDMMSG_PLAIN =
            Libc.bindPlain("sendmmsg", FunctionDescriptor.of(INT, INT, POINTER, INT, INT));
    private static final MethodHandle RECVMMSG =
            Libc.bind("recvmmsg", INT, INT, POINTER, INT, INT, POINTER);
    private static final MethodHandle RECVMMSG_PLAIN =
            Libc.bindPlain("recvmmsg", FunctionDescriptor.of(INT, INT, POINTER, INT, INT, POINTER));

    private final int fd;
    private final boolean ipv6;
    private final InetSocketAddress local;
    private volatile boolean closed;

    private UdpSocket(int fd, boolean ipv6, InetSocketAddress local) {
        this.fd = fd;
        this.ipv6 = ipv6;
        this.local = local;
    }

    /**
     * Creates a socket and binds it. The port is its alone: it is not shared with a socket that
     * allows that, and one of IPv6 takes no datagrams of IPv4.
     *
     * @param address port 0 for any free port; a wildcard address for all of its family
     * @return the socket, the caller's to close
     * @throws LinuxException EADDRINUSE, EADDRNOTAVAIL (not of this machine), EACCES (a privileged
     *     port), EAFNOSUPPORT, EMFILE, ENFILE
     * @throws IllegalArgumentException if the address is unresolved
     */
    public static UdpSocket open(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new IllegalArgumentException("address is unresolved: address=" + address);
        }
        boolean ipv6 = host instanceof Inet6Address;
        int fd =
                ipv6
                        ? Socket.create(SocketAddresses.AF_INET6, SOCK_DGRAM, "AF_INET6")
                        : Socket.create(SocketAddresses.AF_INET, SOCK_DGRAM, "AF_INET");
        try {
            configure(fd, ipv6, host.isAnyLocalAddress());
            CallState state = CallState.current();
            int errno = Socket.bind(state, fd, SocketAddresses.write(state.scratch, address));
            if (errno != 0) {
                throw new LinuxException("bind", errno, "fd=" + fd + ", address=" + address);
            }
            return new UdpSocket(fd, ipv6, SocketAddresses.local(fd));
        } catch (RuntimeException e) {
            FileDescriptors.close(fd);
            throw e;
        }
    }

    private static void configure(int fd, boolean ipv6, boolean wildcard) {
        if (ipv6) {
            setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, "IPV6_V6ONLY", 1);
            setOption(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, "IPV6_MTU_DISCOVER", IP_PMTUDISC_PROBE);
            setOption(fd, IPPROTO_IPV6, IPV6_RECVERR, "IPV6_RECVERR", 1);
            setOption(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, "IPV6_RECVTCLASS", 1);
            setOption(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, "UDP_NO_CHECK6_RX", 1);
            if (wildcard) {
                setOption(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, "IPV6_RECVPKTINFO", 1);
            }
            return;
        }
        setOption(fd, IPPROTO_IP, IP_MTU_DISCOVER, "IP_MTU_DISCOVER", IP_PMTUDISC_PROBE);
        setOption(fd, IPPROTO_IP, IP_RECVERR, "IP_RECVERR", 1);
        setOption(fd, IPPROTO_IP, IP_RECVTOS, "IP_RECVTOS", 1);
        if (wildcard) {
            setOption(fd, IPPROTO_IP, IP_PKTINFO, "IP_PKTINFO", 1);
        }
    }

    private static void setOption(int fd, int level, int option, String name, int value) {
        CallState state = CallState.current();
        state.scratch.set(INT, 0, value);
        if (Socket.setOption(state, fd, level, option, Integer.BYTES) != 0) {
            throw new LinuxException(
                    "setsockopt(" + name + ")", state.lastErrno(), "fd=" + fd + ", value=" + value);
        }
    }

    /**
     * The descriptor, to be watched: it is this object's to close.
     *
     * @return the same number until closed
     */
    public int fd() {
        checkOpen();
        return fd;
    }

    /**
     * The address that it is bound to.
     *
     * @return with the actual port if port 0 was requested; also after close
     */
    public InetSocketAddress localAddress() {
        return local;
    }

    /**
     * Sets the traffic class of all datagrams that are sent without one of their own; 0 before.
     *
     * @param trafficClass the byte of the IP header, 0 to 255, with the bits of {@link #ECN_MASK}
     */
    public void setTrafficClass(int trafficClass) {
        checkOpen();
        if (trafficClass < 0 || trafficClass > MAX_TRAFFIC_CLASS) {
            throw new IllegalArgumentException(
                    "traffic class: trafficClass="
                            + trafficClass
                            + ", expected=0 to "
                            + MAX_TRAFFIC_CLASS
                            + ", address="
                            + local);
        }
        if (ipv6) {
            setOption(fd, IPPROTO_IPV6, IPV6_TCLASS, "IPV6_TCLASS", trafficClass);
        } else {
            setOption(fd, IPPROTO_IP, IP_TOS, "IP_TOS", trafficClass);
        }
    }

    // ---- buffers ----

    /**
     * Sets the size of the receive buffer; beyond {@code net.core.rmem_max} with CAP_NET_ADMIN
     * only.
     *
     * @param sizeBytes the size of datagrams, above 0; the kernel adds as much for its own use
     * @return what the kernel has granted, in the same terms: less, or its minimum
     */
    public int setReceiveBuffer(int sizeBytes) {
        return setBuffer(SO_RCVBUFFORCE, SO_RCVBUF, "SO_RCVBUF", sizeBytes);
    }

    /**
     * Sets the size of the send buffer; beyond {@code net.core.wmem_max} with CAP_NET_ADMIN only.
     *
     * @param sizeBytes as in {@link #setReceiveBuffer}
     * @return as {@link #setReceiveBuffer}
     */
    public int setSendBuffer(int sizeBytes) {
        return setBuffer(SO_SNDBUFFORCE, SO_SNDBUF, "SO_SNDBUF", sizeBytes);
    }

    private int setBuffer(int forced, int option, String name, int sizeBytes) {
        checkOpen();
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException(
                    "size of a buffer must be above 0: sizeBytes="
                            + sizeBytes
                            + ", address="
                            + local);
        }
        CallState state = CallState.current();
        state.scratch.set(INT, 0, sizeBytes);
        // Whatever the reason, the other option says better what is wrong.
        if (Socket.setOption(state, fd, Socket.SOL_SOCKET, forced, Integer.BYTES) != 0) {
            setOption(fd, Socket.SOL_SOCKET, option, name, sizeBytes);
        }
        return bufferBytes(option, name);
    }

    /**
     * Size of the receive buffer.
     *
     * @return in the terms of {@link #setReceiveBuffer}
     */
    public int receiveBufferBytes() {
        checkOpen();
        return bufferBytes(SO_RCVBUF, "SO_RCVBUF");
    }

    /**
     * Size of the send buffer.
     *
     * @return in the terms of {@link #setReceiveBuffer}
     */
    public int sendBufferBytes() {
        checkOpen();
        return bufferBytes(SO_SNDBUF, "SO_SNDBUF");
    }

    private int bufferBytes(int option, String name) {
        CallState state = CallState.current();
        if (Socket.getOption(state, fd, Socket.SOL_SOCKET, option, Integer.BYTES) != 0) {
            throw new LinuxException("getsockopt(" + name + ")", state.lastErrno(), "fd=" + fd);
        }
        return state.scratch.get(INT, 0) / 2; // the kernel reports twice what it was asked for
    }

    // ---- batches ----

    /**
     * Allocates a batch for {@link #send}.
     *
     * @param capacity number of datagrams, 1 to 1,024
     * @param maxBytes size of the longest payload
     */
    public OutgoingDatagrams newOutgoing(int capacity, int maxBytes) {
        return new OutgoingDatagrams(ipv6, capacity, maxBytes);
    }

    /**
     * Allocates a batch for {@link #receive} and {@link #poll} of this socket.
     *
     * @param capacity number of datagrams, 1 to 1,024
     * @param maxBytes size of the longest payload that is received whole
     */
    public ReceivedDatagrams newReceived(int capacity, int maxBytes) {
        return new ReceivedDatagrams(local.getAddress(), ipv6, capacity, maxBytes);
    }

    /**
     * Allocates a batch for {@link #receiveErrors}.
     *
     * @param capacity number of errors, 1 to 1,024
     * @param maxBytes bytes of a quoted payload that are kept
     */
    public ReceivedErrors newErrors(int capacity, int maxBytes) {
        return new ReceivedErrors(ipv6, capacity, maxBytes);
    }

    // ---- sending ----

    /**
     * Sends the waiting datagrams of a batch, until all are sent or one cannot be; never blocks.
     * Those that were not sent stay in the batch. {@link OutgoingDatagrams#errno} has the reason:
     *
     * <ul>
     *   <li>{@link Errno#EAGAIN}: the send buffer is full, and {@link Epoll#OUT} tells when it is
     *       not; or errors of other datagrams have come faster than the send was repeated.
     *   <li>{@link Errno#ENOBUFS}: the queue of the interface is full; there is no event for its
     *       end.
     *   <li>Any other, as {@link Errno#ENETUNREACH} (no route) and {@link Errno#EMSGSIZE} (larger
     *       than the MTU): the first waiting datagram cannot be sent; {@link
     *       OutgoingDatagrams#drop} and a further send continue behind it.
     * </ul>
     *
     * @return number of datagrams that were sent, each once
     * @throws LinuxException EBADF, ENOTSOCK, EFAULT: a bug of the caller
     * @throws IllegalArgumentException if the batch is of a socket of the other family
     */
    public int send(OutgoingDatagrams batch) {
        MessageVector vector = batch.vector;
        checkUse(vector);
        batch.setErrno(0);
        int before = batch.waiting();
        int attempts = 0;
        boolean withErrno = false;
        while (batch.waiting() > 0) {
            int sent =
                    withErrno
                            ? sendWithErrno(vector, batch.first(), batch.waiting())
                            : send(vector, batch.first(), batch.waiting());
            if (sent > 0) {
                batch.remove(sent);
                attempts = 0;
                withErrno = false;
            } else if (withErrno) {
                int errno = vector.state.lastErrno();
                if (++attempts >= attempts(errno)) {
                    batch.setErrno(sendResult(errno));
                    break;
                }
            } else {
                withErrno = true;
            }
        }
        return before - batch.waiting();
    }

    // Two methods: C2 inlines a call that is rare beside another one in its method not at all.

    private int send(MessageVector vector, int first, int count) {
        long header = vector.headerAddress(first);
        try {
            return (int) SENDMMSG_PLAIN.invokeExact(fd, header, count, Socket.SEND_FLAGS);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    private int sendWithErrno(MessageVector vector, int first, int count) {
        long header = vector.headerAddress(first);
        try {
            return (int)
                    SENDMMSG.invokeExact(vector.state.errno, fd, header, count, Socket.SEND_FLAGS);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /** Attempts after which a failure counts. */
    private static int attempts(int errno) {
        return switch (errno) {
            case Errno.EINTR -> Integer.MAX_VALUE;
            case Errno.EMSGSIZE -> MAX_ATTEMPTS_WITH_SIZE;
            case Errno.ENETUNREACH, Errno.EHOSTUNREACH, Errno.EACCES -> MAX_ATTEMPTS;
            default -> isOfOthers(errno) ? MAX_ATTEMPTS : 1;
        };
    }

    /** Whether a call gets this error by ICMP alone, so that it is about an earlier datagram. */
    private static boolean isOfOthers(int errno) {
        return switch (errno) {
            case Errno.ECONNREFUSED,
                    Errno.EHOSTDOWN,
                    Errno.ENONET,
                    Errno.ENOPROTOOPT,
                    Errno.EOPNOTSUPP,
                    Errno.EPROTO ->
                    true;
            default -> false;
        };
    }

    /** The error number as a result; throws that of a bug. */
    private int sendResult(int errno) {
        return switch (errno) {
            case Errno.EBADF, Errno.ENOTSOCK, Errno.EFAULT ->
                    throw new LinuxException("sendmmsg", errno, "fd=" + fd + ", address=" + local);
            default -> isOfOthers(errno) ? Errno.EAGAIN : errno;
        };
    }

    // ---- receiving ----

    /**
     * Receives pending datagrams, for a caller that was told of some; never blocks. If there are
     * none, this takes two system calls.
     *
     * @return their number, 0 if none is pending; if it is less than the capacity, no more were
     *     pending, or an error is queued
     * @throws LinuxException ENOMEM; EBADF, ENOTSOCK, EFAULT: a bug of the caller
     * @throws IllegalArgumentException if the batch is of a socket of the other family
     */
    public int receive(ReceivedDatagrams into) {
        return receive(into, 0);
    }

    /**
     * As {@link #receive}, for a caller that looks often and mostly without success: one system
     * call, whose failure counts as nothing pending. The error of an earlier datagram is such a
     * failure, once; any other is thrown by {@link #receive}.
     *
     * @return as {@link #receive}
     * @throws IllegalArgumentException as {@link #receive}
     */
    public int poll(ReceivedDatagrams into) {
        checkUse(into.vector);
        into.prepare();
        int received = Math.max(0, call(into.vector, Socket.MSG_DONTWAIT));
        into.arrived(received);
        return received;
    }

    /**
     * Takes errors from the socket's queue, the oldest first; never blocks.
     *
     * @return their number, 0 if there are none; if it is the capacity, there may be more
     * @throws LinuxException EBADF, ENOTSOCK, EFAULT: a bug of the caller
     * @throws IllegalArgumentException if the batch is of a socket of the other family
     */
    public int receiveErrors(ReceivedErrors into) {
        int received = receive(into, MSG_ERRQUEUE);
        if (received < into.vector.capacity) {
            // One for which the queue had no room would be reported by each wait.
            int _ = Socket.takeError(into.vector.state, fd);
        }
        return received;
    }

    private int receive(ReceivedBatch into, int flags) {
        checkUse(into.vector);
        into.prepare();
        int received = receive(into.vector, flags);
        into.arrived(received);
        return received;
    }

    private int receive(MessageVector vector, int flags) {
        int attempts = 0;
        boolean withErrno = false;
        while (true) {
            int all = flags | Socket.MSG_DONTWAIT;
            int received = withErrno ? callWithErrno(vector, all) : call(vector, all);
            if (received >= 0) {
                return received;
            }
            if (withErrno) {
                int errno = vector.state.lastErrno();
                if (++attempts >= attempts(errno)) {
                    return nothing(errno);
                }
            }
            withErrno = true;
        }
    }

    // Two methods, as for sending.

    private int call(MessageVector vector, int flags) {
        long header = vector.headerAddress(0);
        try {
            return (int) RECVMMSG_PLAIN.invokeExact(fd, header, vector.capacity, flags, 0L);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    private int callWithErrno(MessageVector vector, int flags) {
        long header = vector.headerAddress(0);
        try {
            return (int)
                    RECVMMSG.invokeExact(
                            vector.state.errno, fd, header, vector.capacity, flags, 0L);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * The result of a call that has received nothing. If there are too many errors, pending
     * datagrams stay for the next call.
     */
    private int nothing(int errno) {
        if (errno == Errno.EAGAIN || attempts(errno) > 1) {
            return 0;
        }
        throw new LinuxException("recvmmsg", errno, "fd=" + fd + ", address=" + local);
    }

    /** Refuses use after close, when the number may have been reused, and a wrong batch. */
    private void checkUse(MessageVector vector) {
        checkOpen();
        if (vector.ipv6 != ipv6) {
            throw new IllegalArgumentException(
                    "batch is of a socket of the other family: family="
                            + (vector.ipv6 ? "IPv6" : "IPv4")
                            + ", expected="
                            + (ipv6 ? "IPv6" : "IPv4")
                            + ", address="
                            + local);
        }
    }

    /** Closes the descriptor; what was not received is lost. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            FileDescriptors.close(fd);
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("socket closed: fd=" + fd + ", address=" + local);
        }
    }
}
