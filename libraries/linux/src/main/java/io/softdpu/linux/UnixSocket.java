package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/**
 * Unix sockets that keep message boundaries (SOCK_SEQPACKET): their addresses and peers. {@link
 * Socket} has the calls that they share with sockets of other families, {@link DescriptorPassing}
 * and {@link Doorbell} the messages. Every socket created here is non-blocking and close-on-exec.
 * Any thread.
 *
 * <p>A message of length 0 looks like the end of the stream, so none is ever sent, and a peer that
 * sends one counts as disconnected.
 */
public final class UnixSocket {
    /** Bytes of a path that fit into a socket address, without the NUL that ends it. */
    public static final int MAX_PATH_BYTES = Abi.SockAddrUn.PATH_BYTES - 1;

    private static final int AF_UNIX = 1;
    private static final int SOCK_SEQPACKET = 5;
    private static final int SO_PEERCRED = 17;

    /** SO_PASSRIGHTS, since Linux 6.16. */
    private static final int SO_PASSRIGHTS = 83;

    private static final int TYPE = SOCK_SEQPACKET | Socket.SOCK_NONBLOCK | Socket.SOCK_CLOEXEC;

    private static final MethodHandle SOCKETPAIR =
            Libc.bind("socketpair", INT, INT, INT, INT, POINTER);

    private UnixSocket() {}

    /**
     * Creates a socket that is neither bound nor connected.
     *
     * @return its descriptor, the caller's to close
     */
    public static int create() {
        return Socket.create(AF_UNIX, SOCK_SEQPACKET, "AF_UNIX");
    }

    /**
     * Creates two sockets that are connected to each other.
     *
     * @return both descriptors, the caller's to close
     */
    public static int[] pair() {
        CallState state = CallState.current();
        int result;
        try {
            result =
                    (int)
                            SOCKETPAIR.invokeExact(
                                    state.errno, AF_UNIX, TYPE, 0, state.scratchAddress);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            throw new LinuxException("socketpair", state.lastErrno(), "domain=AF_UNIX");
        }
        int[] both = {state.scratch.get(INT, 0), state.scratch.get(INT, Integer.BYTES)};
        Origins.descriptorOpened(both[0]);
        Origins.descriptorOpened(both[1]);
        return both;
    }

    /**
     * Binds a socket to a path in the file system. The file remains after the socket is closed; a
     * process that may write to it may connect.
     *
     * @param fd the socket
     * @param path at most {@link #MAX_PATH_BYTES} bytes of UTF-8
     * @throws LinuxException EADDRINUSE if the path exists, ENAMETOOLONG
     */
    public static void bind(int fd, String path) {
        CallState state = CallState.current();
        int length = writeAddress(state, "bind", path);
        int errno = Socket.bind(state, fd, length);
        if (errno != 0) {
            throw new LinuxException("bind", errno, "fd=" + fd + ", path=" + path);
        }
    }

    /**
     * Connects to a path; never blocks. It is connected at once, before the peer accepts.
     *
     * @param fd the socket
     * @param path at most {@link #MAX_PATH_BYTES} bytes of UTF-8
     * @return 0; or {@link Errno#ENOENT} (no such path), {@link Errno#ECONNREFUSED} (the file
     *     exists, but no socket listens), {@link Errno#EAGAIN} (backlog full)
     * @throws LinuxException for all other errors, such as EACCES, EPROTOTYPE, ENAMETOOLONG
     */
    public static int connect(int fd, String path) {
        CallState state = CallState.current();
        int length = writeAddress(state, "connect", path);
        int errno = Socket.connect(state, fd, length);
        if (errno == 0
                || errno == Errno.ENOENT
                || errno == Errno.ECONNREFUSED
                || errno == Errno.EAGAIN) {
            return errno;
        }
        throw new LinuxException("connect", errno, "fd=" + fd + ", path=" + path);
    }

    /** Writes a sockaddr_un to scratch and returns its length. */
    private static int writeAddress(CallState state, String call, String path) {
        byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MAX_PATH_BYTES) {
            throw new LinuxException(
                    call,
                    Errno.ENAMETOOLONG,
                    "path=" + path + ", bytes=" + bytes.length + ", limit=" + MAX_PATH_BYTES);
        }
        if (bytes.length == 0 || path.indexOf('\0') >= 0) {
            // An empty or NUL-led path would name the abstract space, which has no permissions.
            throw new IllegalArgumentException("not a path of the file system: path=" + path);
        }
        MemorySegment address = state.scratch;
        address.set(ValueLayout.JAVA_SHORT, Abi.SockAddrUn.FAMILY, (short) AF_UNIX);
        MemorySegment.copy(
                bytes, 0, address, ValueLayout.JAVA_BYTE, Abi.SockAddrUn.PATH, bytes.length);
        address.set(ValueLayout.JAVA_BYTE, Abi.SockAddrUn.PATH + bytes.length, (byte) 0);
        return Abi.SockAddrUn.PATH + bytes.length + 1;
    }

    /**
     * Credentials of the peer.
     *
     * @param fd a connected socket
     * @return of the process that connected or listened, at that time
     */
    public static PeerCredentials peerCredentials(int fd) {
        CallState state = CallState.current();
        if (Socket.getOption(state, fd, Socket.SOL_SOCKET, SO_PEERCRED, Abi.UCred.BYTES) != 0) {
            throw new LinuxException("getsockopt(SO_PEERCRED)", state.lastErrno(), "fd=" + fd);
        }
        return new PeerCredentials(
                state.scratch.get(INT, Abi.UCred.PID), state.scratch.get(INT, Abi.UCred.UID));
    }

    /**
     * Makes the kernel refuse descriptors from now on: a send with descriptors fails with EPERM.
     * Pending ones are still received. Sockets accepted by a listening socket inherit this.
     *
     * @param fd a socket
     * @return whether the kernel supports it (Linux 6.16 and later)
     */
    public static boolean refuseDescriptors(int fd) {
        CallState state = CallState.current();
        state.scratch.set(INT, 0, 0);
        return Socket.setOption(state, fd, Socket.SOL_SOCKET, SO_PASSRIGHTS, Integer.BYTES) == 0;
    }
}
