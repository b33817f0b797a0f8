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
 * Non-blocking listening TCP socket for a {@link TcpServerControlChannel}. It listens as soon as it
 * is opened, by any thread; a channel accepts the clients.
 *
 * <p>Check for a pending connection before accepting one: without a free descriptor accept fails
 * even if no client is waiting.
 */
public class TcpListener implements AutoCloseable {
    /**
     * Backlog of connections to be accepted; the kernel may allow less. Beyond it a client's SYN is
     * dropped, which the client retransmits after one second, then after two more.
     */
    private static final int BACKLOG = 1024;

    private static final byte[] ANY_IPV6 = new byte[16];

    private final int fd;
    private final InetSocketAddress address;
    private boolean closed;

    /** See {@link #open}. */
    TcpListener(InetSocketAddress address) {
        this.fd = listen(address);
        this.address = TcpSocket.localAddress(fd);
    }

    /**
     * Opens a listener, which listens at once.
     *
     * @param address to bind; port 0 for any free port, a wildcard address for IPv4 and IPv6
     * @throws DpuException IN_USE if the port is in use; NOT_PERMITTED if it may not be bound,
     *     INVALID_VALUE if it cannot be; OPERATING_SYSTEM
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

    /** A kernel without IPv6 refuses the socket, one with IPv6 disabled the address. */
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
            // Allows a port whose last connection is still in TIME_WAIT.
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

    /** The address that it listens on, with the assigned port if it was 0. Any thread. */
    public final InetSocketAddress address() {
        return address;
    }

    /** Creates a watch of the listening socket, without an interest yet. */
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
     * @return its descriptor, which belongs to the caller; -1 if none is pending
     * @throws LinuxException for example, if no descriptor is free; the connection stays pending
     */
    int accept() {
        return TcpSocket.accept(fd);
    }

    /** Stops listening. Idempotent. One thread, after the watch has ended. */
    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            FileDescriptors.close(fd);
        }
    }
}
