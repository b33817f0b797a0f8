package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * TCP sockets over IPv4 and IPv6: addresses, connections and byte streams. {@link Socket} has the
 * calls that they share with sockets of other families. Every socket created here is non-blocking
 * and close-on-exec. Any thread.
 *
 * <p>Names are not resolved here: an address is an {@link InetAddress}.
 */
public final class TcpSocket {
    private static final int SOCK_STREAM = 1;
    private static final int IPPROTO_TCP = 6;
    private static final int IPPROTO_IPV6 = 41;
    private static final int SO_REUSEADDR = 2;
    private static final int TCP_NODELAY = 1;
    private static final int IPV6_V6ONLY = 26;

    private static final MethodHandle SEND =
            Libc.bind("send", LONG, INT, ValueLayout.ADDRESS, LONG, INT);
    private static final MethodHandle RECV =
            Libc.bind("recv", LONG, INT, ValueLayout.ADDRESS, LONG, INT);

    private TcpSocket() {}

    /**
     * Creates a socket that is neither bound nor connected. An IPv6 socket bound to the wildcard
     * address accepts IPv4 connections too, whatever the system's default.
     *
     * @param address address of the required family
     * @return its descriptor, the caller's to close
     * @throws LinuxException EMFILE, ENFILE; EAFNOSUPPORT if the system lacks that family
     */
    public static int create(InetAddress address) {
        if (!(address instanceof Inet6Address)) {
            return Socket.create(SocketAddresses.AF_INET, SOCK_STREAM, "AF_INET");
        }
        int fd = Socket.create(SocketAddresses.AF_INET6, SOCK_STREAM, "AF_INET6");
        try {
            setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, "IPV6_V6ONLY", false);
        } catch (LinuxException e) {
            FileDescriptors.close(fd);
            throw e;
        }
        return fd;
    }

    /**
     * Binds a socket to a local address.
     *
     * @param fd a socket of the address's family
     * @param address port 0 for any free port
     * @throws LinuxException EADDRINUSE, EADDRNOTAVAIL (not of this machine), EACCES (a privileged
     *     port)
     * @throws IllegalArgumentException if the address is unresolved
     */
    public static void bind(int fd, InetSocketAddress address) {
        CallState state = CallState.current();
        int errno = Socket.bind(state, fd, SocketAddresses.write(state.scratch, address));
        if (errno != 0) {
            throw new LinuxException("bind", errno, "fd=" + fd + ", address=" + address);
        }
    }

    /**
     * Begins to connect; never blocks. The socket becomes writable when the connect has ended, and
     * {@link #connectResult} returns its result.
     *
     * @param fd a socket of the address's family
     * @return 0 if it is connected at once; {@link Errno#EINPROGRESS}; or the failure, such as
     *     {@link Errno#ECONNREFUSED}, {@link Errno#ENETUNREACH}, {@link Errno#EADDRNOTAVAIL}
     * @throws LinuxException for a bug of the caller: EBADF, ENOTSOCK, EAFNOSUPPORT, EINVAL,
     *     EISCONN, EALREADY
     * @throws IllegalArgumentException if the address is unresolved
     */
    public static int connect(int fd, InetSocketAddress address) {
        CallState state = CallState.current();
        int errno = Socket.connect(state, fd, SocketAddresses.write(state.scratch, address));
        return switch (errno) {
            // A signal ends the call, and the connect continues.
            case Errno.EINTR -> Errno.EINPROGRESS;
            case Errno.EBADF,
                    Errno.ENOTSOCK,
                    Errno.EAFNOSUPPORT,
                    Errno.EINVAL,
                    Errno.EISCONN,
                    Errno.EALREADY ->
                    throw new LinuxException("connect", errno, "fd=" + fd + ", address=" + address);
            default -> errno;
        };
    }

    /**
     * The result of {@link #connect}; never blocks. A failure is reported once.
     *
     * @param fd a socket that was to be connected
     * @return 0 if it is connected; {@link Errno#EINPROGRESS} while it is connecting; or the
     *     failure, such as {@link Errno#ECONNREFUSED}, {@link Errno#ETIMEDOUT}
     * @throws LinuxException EBADF or ENOTSOCK: a bug of the caller
     */
    public static int connectResult(int fd) {
        CallState state = CallState.current();
        return Socket.isReady(state, fd, Epoll.OUT)
                ? Socket.takeError(state, fd)
                : Errno.EINPROGRESS;
    }

    /**
     * Whether a connection is pending. Check this before {@link #accept} if descriptors may run
     * out: without a free descriptor accept fails even if no connection is pending.
     *
     * @param fd a listening socket
     */
    public static boolean hasPending(int fd) {
        return Socket.isReady(CallState.current(), fd, Epoll.IN);
    }

    /**
     * Accepts the next connection of a listening socket.
     *
     * @param fd the listening socket
     * @return the connection's descriptor, the caller's to close; -1 if none is pending, or the
     *     pending one has failed
     * @throws LinuxException EMFILE, ENFILE, ENOBUFS, ENOMEM: the connection stays pending
     */
    public static int accept(int fd) {
        try {
            return Socket.accept(fd);
        } catch (LinuxException e) {
            return switch (e.errno()) {
                // Errors of the connection's network, which Linux reports here.
                case Errno.EPROTO,
                        Errno.ENOPROTOOPT,
                        Errno.ENETDOWN,
                        Errno.ENETUNREACH,
                        Errno.EHOSTDOWN,
                        Errno.EHOSTUNREACH,
                        Errno.ENONET,
                        Errno.ETIMEDOUT ->
                        -1;
                default -> throw e;
            };
        }
    }

    /**
     * Reads available bytes; never blocks.
     *
     * @param fd a connected socket
     * @param into native memory, not empty
     * @return number of bytes read, above 0; 0 at the end of the stream; else the negated error
     *     number: -{@link Errno#EAGAIN} (nothing available), -{@link Errno#ECONNRESET}, -{@link
     *     Errno#ETIMEDOUT} and the like
     * @throws LinuxException EBADF, ENOTSOCK, ENOTCONN or EFAULT: a bug of the caller
     */
    public static int read(int fd, MemorySegment into) {
        requireBytes(into);
        if (!into.isNative() || into.isReadOnly()) {
            throw new IllegalArgumentException(
                    "not memory that can be read into: native="
                            + into.isNative()
                            + ", readOnly="
                            + into.isReadOnly());
        }
        CallState state = CallState.current();
        long length = Math.min(into.byteSize(), Integer.MAX_VALUE);
        long result;
        try {
            do {
                result =
                        (long) RECV.invokeExact(state.errno, fd, into, length, Socket.MSG_DONTWAIT);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return (int) (result >= 0 ? result : -ordinary("recv", state.lastErrno(), fd));
    }

    /**
     * Writes as many bytes as fit into the send buffer; never blocks and raises no SIGPIPE.
     *
     * @param fd a connected socket
     * @param from not empty; memory outside the heap is sent without a copy
     * @return number of bytes written, above 0; else the negated error number: -{@link
     *     Errno#EAGAIN} (buffer full), -{@link Errno#EPIPE} or -{@link Errno#ECONNRESET} (the peer
     *     has gone) and the like
     * @throws LinuxException EBADF, ENOTSOCK, ENOTCONN or EFAULT: a bug of the caller
     */
    public static int write(int fd, MemorySegment from) {
        requireBytes(from);
        if (from.isNative()) {
            return writeNative(fd, from);
        }
        try (Arena arena = Arena.ofConfined()) {
            return writeNative(fd, arena.allocate(from.byteSize()).copyFrom(from));
        }
    }

    private static int writeNative(int fd, MemorySegment from) {
        CallState state = CallState.current();
        long length = Math.min(from.byteSize(), Integer.MAX_VALUE);
        long result;
        try {
            do {
                result = (long) SEND.invokeExact(state.errno, fd, from, length, Socket.SEND_FLAGS);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return (int) (result >= 0 ? result : -ordinary("send", state.lastErrno(), fd));
    }

    /** Refuses an empty buffer, whose result would look like the end of the stream. */
    private static void requireBytes(MemorySegment memory) {
        if (memory.byteSize() == 0) {
            throw new IllegalArgumentException("memory is empty: bytes=0, expected=1 or more");
        }
    }

    private static int ordinary(String call, int errno, int fd) {
        return switch (errno) {
            case Errno.EBADF, Errno.ENOTSOCK, Errno.ENOTCONN, Errno.EFAULT, Errno.EINVAL ->
                    throw new LinuxException(call, errno, "fd=" + fd);
            default -> errno;
        };
    }

    /**
     * Sets TCP_NODELAY: whether small writes are sent at once or coalesced.
     *
     * @param fd the socket
     */
    public static void setNoDelay(int fd, boolean noDelay) {
        setOption(fd, IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY", noDelay);
    }

    /**
     * Sets SO_REUSEADDR: whether a port with connections in TIME_WAIT may be bound.
     *
     * @param fd a socket that is not bound yet
     */
    public static void setReuseAddress(int fd, boolean reuse) {
        setOption(fd, Socket.SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR", reuse);
    }

    private static void setOption(int fd, int level, int option, String name, boolean value) {
        CallState state = CallState.current();
        state.scratch.set(INT, 0, value ? 1 : 0);
        if (Socket.setOption(state, fd, level, option, Integer.BYTES) != 0) {
            throw new LinuxException(
                    "setsockopt(" + name + ")", state.lastErrno(), "fd=" + fd + ", value=" + value);
        }
    }

    /**
     * The address that a socket is bound to.
     *
     * @param fd the socket
     * @return with the actual port if port 0 was requested; port 0 if it is not bound
     */
    public static InetSocketAddress localAddress(int fd) {
        return SocketAddresses.local(fd);
    }

    /**
     * The address of a connection's peer.
     *
     * @param fd a connected socket
     * @throws LinuxException ENOTCONN if it is not connected, or not any more
     */
    public static InetSocketAddress remoteAddress(int fd) {
        return SocketAddresses.remote(fd);
    }
}
