package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Socket;
import io.softdpu.linux.TcpSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * A listening TCP socket that never blocks, for a {@link TcpServerControlChannel}. It listens from
 * the time it is opened, by any thread; clients are accepted once a channel has it.
 *
 * <p>Check for a pending connection before accepting one: without a free descriptor accept fails
 * even if no client is waiting.
 */
public class TcpListener implements AutoCloseable {
    /**
     * Connects of one moment that wait to be accepted; the kernel may allow less. Beyond that a
     * client's first packet is lost, and it tries again after a second, then after two more.
     */
    private static final int BACKLOG = 1024;

    private static final byte[] ANY_IPV6 = new byte[16];

    private final int fd;
    private final InetSocketAddress address;
    private boolean closed;

    /** As {@link #open}. */
    TcpListener(InetSocketAddress address) {
        this.fd = listen(address);
        this.address = TcpSocket.localAddress(fd);
    }

    /**
     * Listens, from now on.
     *
     * @param address where; port 0 takes any free port, a wildcard address those of IPv4 and IPv6
     * @throws DpuException IN_USE where the port is taken; NOT_PERMITTED or INVALID_VALUE where it
     *     may or can not be bound; OPERATING_SYSTEM
     */
    public static TcpListener open(InetSocketAddress address) {
        return new TcpListener(address);
    }

    private static int listen(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "address cannot be bound: address="
                            + ControlChannels.text(address)
                            + ", reason=host is unknown");
        }
        try {
            if (host.isAnyLocalAddress()) {
                try {
                    return listenAt(new InetSocketAddress(anyIpv6(), address.getPort()));
                } catch (LinuxException e) {
                    if (host instanceof Inet6Address || !isWithoutIpv6(e.errno())) {
                        throw e;
                    }
                }
            }
            return listenAt(address);
        } catch (LinuxException e) {
            throw notBound(address, e);
        }
    }

    /** A system without IPv6 refuses the socket, one where it is switched off the address. */
    private static boolean isWithoutIpv6(int errno) {
        return errno == Errno.EAFNOSUPPORT || errno == Errno.EADDRNOTAVAIL;
    }

    private static InetAddress anyIpv6() {
        try {
            return InetAddress.getByAddress(ANY_IPV6);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("16 bytes are an address of IPv6", e);
        }
    }

    private static int listenAt(InetSocketAddress address) {
        int fd = TcpSocket.create(address.getAddress());
        try {
            // A port whose last connection is still in TIME_WAIT is free for the next start.
            TcpSocket.setReuseAddress(fd, true);
            TcpSocket.bind(fd, address);
            Socket.listen(fd, BACKLOG);
            return fd;
        } catch (LinuxException e) {
            FileDescriptors.close(fd);
            throw e;
        }
    }

    private static DpuException notBound(InetSocketAddress address, LinuxException e) {
        String text = ControlChannels.text(address);
        return switch (e.errno()) {
            case Errno.EADDRINUSE ->
                    new DpuException(Status.IN_USE, "port is taken: address=" + text, e);
            case Errno.EACCES, Errno.EPERM ->
                    new DpuException(
                            Status.NOT_PERMITTED, "port may not be bound: address=" + text, e);
            case Errno.EADDRNOTAVAIL, Errno.EAFNOSUPPORT, Errno.EINVAL ->
                    new DpuException(
                            Status.INVALID_VALUE,
                            "address cannot be bound: address="
                                    + text
                                    + ", reason="
                                    + Errno.text(e.errno()),
                            e);
            default ->
                    new DpuException(
                            Status.OPERATING_SYSTEM,
                            "port cannot be opened: reason=" + e.getMessage(),
                            e);
        };
    }

    /** The address that it listens at, with the real port where any was asked for. Any thread. */
    public final InetSocketAddress address() {
        return address;
    }

    /** The watch of the listening socket, which is not set yet. */
    final EngineWatch watch(ProgressEngine engine, Runnable onPending) {
        return new EngineWatch(engine, fd, onPending);
    }

    /** Whether a connection waits to be accepted. */
    final boolean hasPending() {
        return TcpSocket.hasPending(fd);
    }

    /**
     * Accepts a connection.
     *
     * @return its descriptor, the caller's; -1 where none is pending any more
     * @throws LinuxException for want of descriptors, for example; what is pending stays so
     */
    int accept() {
        return TcpSocket.accept(fd);
    }

    /** Stops listening; twice does nothing. One thread, after the watch has ended. */
    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            FileDescriptors.close(fd);
        }
    }
}
