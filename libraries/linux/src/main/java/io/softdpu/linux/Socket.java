package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;

/**
 * Socket calls that do not depend on the address family, shared by {@link UnixSocket}, {@link
 * TcpSocket} and {@link UdpSocket}. Every socket created by this package is non-blocking and
 * close-on-exec. Any thread.
 */
public final class Socket {
    static final int SOL_SOCKET = 1;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x8_0000;
    static final int MSG_PEEK = 2;
    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_NOSIGNAL = 0x4000;
    static final int MSG_CMSG_CLOEXEC = 0x4000_0000;

    /** Flags of each message that is sent. */
    static final int SEND_FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL;

    /** Flags of each message that is received. */
    static final int RECEIVE_FLAGS = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;

    private static final int SO_ERROR = 4;
    private static final int SO_LINGER = 13;
    private static final int POLLNVAL = 0x20;
    private static final int SHUT_RD = 0;
    private static final int SHUT_WR = 1;
    private static final int SHUT_RDWR = 2;

    private static final MethodHandle SOCKET = Libc.bind("socket", INT, INT, INT, INT);
    private static final MethodHandle BIND = Libc.bind("bind", INT, INT, POINTER, INT);
    private static final MethodHandle CONNECT = Libc.bind("connect", INT, INT, POINTER, INT);
    private static final MethodHandle LISTEN = Libc.bind("listen", INT, INT, INT);
    private static final MethodHandle ACCEPT4 =
            Libc.bind("accept4", INT, INT, POINTER, POINTER, INT);
    private static final MethodHandle SETSOCKOPT =
            Libc.bind("setsockopt", INT, INT, INT, INT, POINTER, INT);
    private static final MethodHandle GETSOCKOPT =
            Libc.bind("getsockopt", INT, INT, INT, INT, POINTER, POINTER);
    private static final MethodHandle POLL = Libc.bind("poll", INT, POINTER, LONG, INT);
    private static final MethodHandle SHUTDOWN = Libc.bind("shutdown", INT, INT, INT);
    private static final MethodHandle SEND =
            Libc.bind("send", LONG, INT, ValueLayout.ADDRESS, LONG, INT);
    private static final MethodHandle RECV =
            Libc.bind("recv", LONG, INT, ValueLayout.ADDRESS, LONG, INT);

    private Socket() {}

    /**
     * Creates a socket that is neither bound nor connected; its descriptor is the caller's.
     *
     * @param domain the address family
     * @param type without the flags that every socket here has
     * @param name the address family's, for the message
     */
    static int create(int domain, int type, String name) {
        CallState state = CallState.current();
        int result;
        try {
            result =
                    (int)
                            SOCKET.invokeExact(
                                    state.errno, domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            throw new LinuxException("socket", state.lastErrno(), "domain=" + name);
        }
        Origins.descriptorOpened(result);
        return result;
    }

    /** Binds to the address in scratch, of this length; 0 or the error number. */
    static int bind(CallState state, int fd, int length) {
        int result;
        try {
            result = (int) BIND.invokeExact(state.errno, fd, state.scratchAddress, length);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return result == 0 ? 0 : state.lastErrno();
    }

    /** Connects to the address in scratch, of this length; 0 or the error number. */
    static int connect(CallState state, int fd, int length) {
        int result;
        try {
            result = (int) CONNECT.invokeExact(state.errno, fd, state.scratchAddress, length);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return result == 0 ? 0 : state.lastErrno();
    }

    /**
     * Listens on a bound socket.
     *
     * @param fd the socket
     * @param backlog limit of pending connections; beyond it connect gets EAGAIN from a Unix
     *     socket, and retries at a TCP socket
     */
    public static void listen(int fd, int backlog) {
        CallState state = CallState.current();
        int result;
        try {
            result = (int) LISTEN.invokeExact(state.errno, fd, backlog);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException("listen", state.lastErrno(), "fd=" + fd);
        }
    }

    /**
     * Accepts the next connection of a listening socket.
     *
     * @param fd the listening socket
     * @return the connection's descriptor, the caller's to close; -1 if none is pending
     */
    public static int accept(int fd) {
        CallState state = CallState.current();
        int result;
        try {
            do {
                result =
                        (int)
                                ACCEPT4.invokeExact(
                                        state.errno, fd, 0L, 0L, SOCK_NONBLOCK | SOCK_CLOEXEC);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result >= 0) {
            Origins.descriptorOpened(result);
            return result;
        }
        int errno = state.lastErrno();
        if (errno == Errno.EAGAIN || errno == Errno.ECONNABORTED) {
            return -1;
        }
        throw new LinuxException("accept4", errno, "fd=" + fd);
    }

    /**
     * Sends one message on a socket that keeps message boundaries, whole or not at all; never
     * blocks and raises no SIGPIPE.
     *
     * @param fd a connected socket
     * @param bytes the message at its beginning; memory outside the heap is sent without a copy
     * @param length its length, above 0
     * @return 0; or the error number: {@link Errno#EAGAIN} (buffer full), {@link Errno#EPIPE} or
     *     {@link Errno#ECONNRESET} (the peer has gone), {@link Errno#EMSGSIZE} (larger than the
     *     buffer)
     */
    public static int send(int fd, MemorySegment bytes, int length) {
        checkLength(bytes, length);
        if (bytes.isNative()) {
            return sendNative(fd, bytes, length);
        }
        try (Arena arena = Arena.ofConfined()) {
            return sendNative(
                    fd, arena.allocate(length).copyFrom(bytes.asSlice(0, length)), length);
        }
    }

    /** Requires a message length above 0 and within the segment. */
    static void checkLength(MemorySegment bytes, int length) {
        if (length <= 0) {
            throw new IllegalArgumentException("length must be above 0: lengthBytes=" + length);
        }
        Objects.checkFromIndexSize(0, length, bytes.byteSize());
    }

    /** 0 or the error number. */
    static int sendNative(int fd, MemorySegment bytes, int length) {
        CallState state = CallState.current();
        long result;
        try {
            do {
                result = (long) SEND.invokeExact(state.errno, fd, bytes, (long) length, SEND_FLAGS);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return result >= 0 ? 0 : state.lastErrno();
    }

    /** Receives and drops a message; its length, cut to 8 bytes, or -1 with errno. */
    static long receiveBytes(CallState state, int fd) {
        try {
            return (long)
                    RECV.invokeExact(
                            state.errno, fd, state.scratch, (long) Long.BYTES, RECEIVE_FLAGS);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * Disables SO_LINGER, so that close does not block for unsent data; for sockets that a peer has
     * sent.
     *
     * @param fd any descriptor
     * @return whether it is a socket
     */
    public static boolean stopLingering(int fd) {
        CallState state = CallState.current();
        state.scratch.set(LONG, 0, 0);
        return setOption(state, fd, SOL_SOCKET, SO_LINGER, 2 * Integer.BYTES) == 0;
    }

    /** Sets an option to the value in scratch; 0 or -1. */
    static int setOption(CallState state, int fd, int level, int option, int length) {
        try {
            return (int)
                    SETSOCKOPT.invokeExact(
                            state.errno, fd, level, option, state.scratchAddress, length);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /** Writes the value of an option to scratch, its length behind it; 0 or -1. */
    static int getOption(CallState state, int fd, int level, int option, int length) {
        state.scratch.set(INT, length, length);
        try {
            return (int)
                    GETSOCKOPT.invokeExact(
                            state.errno,
                            fd,
                            level,
                            option,
                            state.scratchAddress,
                            state.scratchAddress + length);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /** Fetches and clears the pending error of a socket, 0 for none. */
    static int takeError(CallState state, int fd) {
        if (getOption(state, fd, SOL_SOCKET, SO_ERROR, Integer.BYTES) != 0) {
            throw new LinuxException("getsockopt(SO_ERROR)", state.lastErrno(), "fd=" + fd);
        }
        return state.scratch.get(INT, 0);
    }

    /**
     * Whether a descriptor is ready, or has an error or a hang-up, without waiting.
     *
     * @param events as for {@link Epoll}
     */
    static boolean isReady(CallState state, int fd, int events) {
        MemorySegment entry = state.scratch;
        entry.set(INT, Abi.PollFd.FD, fd);
        entry.set(ValueLayout.JAVA_SHORT, Abi.PollFd.EVENTS, (short) events);
        entry.set(ValueLayout.JAVA_SHORT, Abi.PollFd.RETURNED, (short) 0);
        int result;
        try {
            do {
                result = (int) POLL.invokeExact(state.errno, state.scratchAddress, 1L, 0);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            throw new LinuxException("poll", state.lastErrno(), "fd=" + fd);
        }
        if ((entry.get(ValueLayout.JAVA_SHORT, Abi.PollFd.RETURNED) & POLLNVAL) != 0) {
            throw new LinuxException("poll", Errno.EBADF, "fd=" + fd);
        }
        return result > 0;
    }

    /**
     * Shuts down writing: the peer reads the end of the stream, and its own end can still be
     * detected here. Does nothing if the connection has ended already. The descriptor stays open.
     *
     * @param fd the socket
     */
    public static void shutdownWrite(int fd) {
        shutdown(fd, SHUT_WR);
    }

    /**
     * Shuts down reading: further sends of the peer fail with EPIPE, and an epoll here reports
     * {@link Epoll#RDHUP}. Pending data stays. The descriptor stays open.
     *
     * @param fd the socket
     */
    public static void shutdownRead(int fd) {
        shutdown(fd, SHUT_RD);
    }

    /**
     * Shuts down both directions; both sides read the end of the stream. Does nothing if the
     * connection has ended already. The descriptor stays open.
     *
     * @param fd the socket
     */
    public static void shutdown(int fd) {
        shutdown(fd, SHUT_RDWR);
    }

    private static void shutdown(int fd, int how) {
        CallState state = CallState.current();
        int result;
        try {
            result = (int) SHUTDOWN.invokeExact(state.errno, fd, how);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0 && state.lastErrno() != Errno.ENOTCONN) {
            throw new LinuxException("shutdown", state.lastErrno(), "fd=" + fd);
        }
    }
}
