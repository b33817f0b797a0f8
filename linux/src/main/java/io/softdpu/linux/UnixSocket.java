package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Unix sockets that keep message boundaries (SOCK_SEQPACKET), hand descriptors over, and ring a
 * doorbell. Every socket made here is non-blocking and close-on-exec. Any thread.
 *
 * <p>A message of length 0 cannot be told from the end of the stream, so none is ever sent, and a
 * peer that sends one has hung up.
 */
public final class UnixSocket {
    /** Bytes of a path that fit into a socket address, without the NUL that ends it. */
    public static final int MAX_PATH_BYTES = Abi.SockAddrUn.PATH_BYTES - 1;

    /** Most descriptors that the kernel lets one message carry. */
    public static final int MAX_DESCRIPTORS = 253;

    /** Most messages that one {@link #drain} drops. */
    public static final int DRAIN_LIMIT = 64;

    private static final int AF_UNIX = 1;
    private static final int SOCK_SEQPACKET = 5;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_LINGER = 13;
    private static final int SO_PEERCRED = 17;

    /** Since Linux 6.16. */
    private static final int SO_PASSRIGHTS = 83;

    private static final int SHUT_RD = 0;
    private static final int SHUT_WR = 1;
    private static final int SHUT_RDWR = 2;
    private static final int MSG_PEEK = 2;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x4000_0000;

    /** Level and type of the control message that carries descriptors. */
    static final int SCM_RIGHTS = 1;

    private static final int TYPE = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;
    private static final int SEND_FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL;
    private static final int RECEIVE_FLAGS = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;

    private static final MethodHandle SOCKET = Libc.bind("socket", INT, INT, INT, INT);
    private static final MethodHandle SOCKETPAIR =
            Libc.bind("socketpair", INT, INT, INT, INT, POINTER);
    private static final MethodHandle BIND = Libc.bind("bind", INT, INT, POINTER, INT);
    private static final MethodHandle CONNECT = Libc.bind("connect", INT, INT, POINTER, INT);
    private static final MethodHandle LISTEN = Libc.bind("listen", INT, INT, INT);
    private static final MethodHandle ACCEPT4 =
            Libc.bind("accept4", INT, INT, POINTER, POINTER, INT);
    private static final MethodHandle GETSOCKOPT =
            Libc.bind("getsockopt", INT, INT, INT, INT, POINTER, POINTER);
    private static final MethodHandle SETSOCKOPT =
            Libc.bind("setsockopt", INT, INT, INT, INT, POINTER, INT);
    private static final MethodHandle SHUTDOWN = Libc.bind("shutdown", INT, INT, INT);
    private static final MethodHandle SEND =
            Libc.bind("send", LONG, INT, ValueLayout.ADDRESS, LONG, INT);
    private static final MethodHandle RECV =
            Libc.bind("recv", LONG, INT, ValueLayout.ADDRESS, LONG, INT);

    /*
     * The doorbell's own, without errno: to keep it costs an object a call until the second
     * compiler has had the caller, which on a path that sleeps now and then takes minutes. What
     * fails is done again with it.
     */
    private static final MethodHandle SEND_PLAIN =
            Libc.bindPlain("send", FunctionDescriptor.of(LONG, INT, POINTER, LONG, INT));
    private static final MethodHandle RECV_PLAIN =
            Libc.bindPlain("recv", FunctionDescriptor.of(LONG, INT, POINTER, LONG, INT));
    private static final MethodHandle IOCTL_PLAIN =
            Libc.bindPlain(
                    "ioctl",
                    FunctionDescriptor.of(INT, INT, LONG, POINTER),
                    Linker.Option.firstVariadicArg(2));

    private static final MethodHandle SENDMSG = Libc.bind("sendmsg", LONG, INT, POINTER, INT);
    private static final MethodHandle RECVMSG =
            Libc.bind("recvmsg", LONG, INT, ValueLayout.ADDRESS, INT);

    /** Bytes that can be read without waiting, an int. */
    private static final long FIONREAD = 0x541B;

    private static final MemorySegment DOORBELL = Arena.global().allocate(1);

    private UnixSocket() {}

    /**
     * Creates a socket that is neither bound nor connected.
     *
     * @return its descriptor, the caller's to close
     */
    public static int create() {
        CallState state = CallState.current();
        int result;
        try {
            result = (int) SOCKET.invokeExact(state.errno, AF_UNIX, TYPE, 0);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            throw new LinuxException("socket", state.lastErrno(), "domain=AF_UNIX");
        }
        Origins.descriptorOpened(result);
        return result;
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
     * Gives a socket a path in the file system. The file outlives the socket; whoever may write to
     * it may connect.
     *
     * @param fd the socket
     * @param path at most {@link #MAX_PATH_BYTES} bytes of UTF-8
     * @throws LinuxException EADDRINUSE where the path exists, ENAMETOOLONG
     */
    public static void bind(int fd, String path) {
        CallState state = CallState.current();
        int length = writeAddress(state, "bind", path);
        int result;
        try {
            result = (int) BIND.invokeExact(state.errno, fd, state.scratchAddress, length);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException("bind", state.lastErrno(), "fd=" + fd + ", path=" + path);
        }
    }

    /**
     * Lets others connect to a bound socket.
     *
     * @param fd the socket
     * @param backlog how many may wait to be accepted; the next gets EAGAIN from connect
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
     * Takes the next connection of a listening socket.
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
     * Connects to a path; never waits. It is connected at once, before the other side accepts.
     *
     * @param fd the socket
     * @param path at most {@link #MAX_PATH_BYTES} bytes of UTF-8
     * @return 0; or {@link Errno#ENOENT} (no such path), {@link Errno#ECONNREFUSED} (nobody listens
     *     there, the file is left over), {@link Errno#EAGAIN} (too many wait to be accepted)
     * @throws LinuxException for everything else, such as EACCES, EPROTOTYPE, ENAMETOOLONG
     */
    public static int connect(int fd, String path) {
        CallState state = CallState.current();
        int length = writeAddress(state, "connect", path);
        int result;
        try {
            result = (int) CONNECT.invokeExact(state.errno, fd, state.scratchAddress, length);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result == 0) {
            return 0;
        }
        int errno = state.lastErrno();
        if (errno == Errno.ENOENT || errno == Errno.ECONNREFUSED || errno == Errno.EAGAIN) {
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
     * Asks who is at the other end.
     *
     * @param fd a connected socket
     * @return who connected, or who listened, as the kernel noted it then
     */
    public static PeerCredentials peerCredentials(int fd) {
        CallState state = CallState.current();
        long lengthOffset = Abi.UCred.BYTES;
        state.scratch.set(INT, lengthOffset, Abi.UCred.BYTES);
        int result;
        try {
            result =
                    (int)
                            GETSOCKOPT.invokeExact(
                                    state.errno,
                                    fd,
                                    SOL_SOCKET,
                                    SO_PEERCRED,
                                    state.scratchAddress,
                                    state.scratchAddress + lengthOffset);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException("getsockopt(SO_PEERCRED)", state.lastErrno(), "fd=" + fd);
        }
        return new PeerCredentials(
                state.scratch.get(INT, Abi.UCred.PID),
                state.scratch.get(INT, Abi.UCred.UID),
                state.scratch.get(INT, Abi.UCred.GID));
    }

    /**
     * Sends one message, whole or not at all; never waits and raises no SIGPIPE.
     *
     * @param fd a connected socket
     * @param bytes the message at its beginning; memory outside the heap is sent without a copy
     * @param length its length, above 0
     * @return 0; or the error number: {@link Errno#EAGAIN} (no room), {@link Errno#EPIPE} or {@link
     *     Errno#ECONNRESET} (the peer has gone), {@link Errno#EMSGSIZE} (larger than any room)
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

    /**
     * Sends one message with descriptors; otherwise as {@link #send(int, MemorySegment, int)}. The
     * receiver gets descriptors of its own for the same open files; those given here stay open and
     * the caller's.
     *
     * @param fd a connected socket
     * @param bytes the message at its beginning
     * @param length its length, above 0
     * @param descriptors at most {@link #MAX_DESCRIPTORS}
     * @return 0 or the error number; also {@link Errno#ETOOMANYREFS} (too many descriptors of this
     *     user are under way)
     */
    public static int send(int fd, MemorySegment bytes, int length, int... descriptors) {
        checkLength(bytes, length);
        if (descriptors.length == 0) {
            return send(fd, bytes, length);
        }
        if (descriptors.length > MAX_DESCRIPTORS) {
            throw new IllegalArgumentException(
                    "too many descriptors: count="
                            + descriptors.length
                            + ", limit="
                            + MAX_DESCRIPTORS);
        }
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = describeMessage(arena, bytes, length, descriptors);
            long result;
            do {
                result = (long) SENDMSG.invokeExact(state.errno, fd, message.address(), SEND_FLAGS);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
            return result >= 0 ? 0 : state.lastErrno();
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /** The msghdr of a message; all that it points to lies in the arena, a copy of bytes too. */
    private static MemorySegment describeMessage(
            Arena arena, MemorySegment bytes, int length, int[] descriptors) {
        int rightsBytes = descriptors.length * Integer.BYTES;
        MemorySegment data = arena.allocate(length).copyFrom(bytes.asSlice(0, length));
        MemorySegment control =
                arena.allocate(Abi.CmsgHdr.space(rightsBytes), ReceivedMessage.ALIGNMENT);
        control.set(LONG, Abi.CmsgHdr.LENGTH, Abi.CmsgHdr.length(rightsBytes));
        control.set(INT, Abi.CmsgHdr.LEVEL, SOL_SOCKET);
        control.set(INT, Abi.CmsgHdr.TYPE, SCM_RIGHTS);
        MemorySegment.copy(descriptors, 0, control, INT, Abi.CmsgHdr.DATA, descriptors.length);
        MemorySegment vector = arena.allocate(Abi.IoVec.BYTES, ReceivedMessage.ALIGNMENT);
        vector.set(LONG, Abi.IoVec.BASE, data.address());
        vector.set(LONG, Abi.IoVec.LENGTH, length);
        MemorySegment message = arena.allocate(Abi.MsgHdr.BYTES, ReceivedMessage.ALIGNMENT);
        message.set(LONG, Abi.MsgHdr.IOV, vector.address());
        message.set(LONG, Abi.MsgHdr.IOV_LENGTH, 1);
        message.set(LONG, Abi.MsgHdr.CONTROL, control.address());
        message.set(LONG, Abi.MsgHdr.CONTROL_LENGTH, control.byteSize());
        return message;
    }

    private static void checkLength(MemorySegment bytes, int length) {
        if (length <= 0) {
            throw new IllegalArgumentException("length must be above 0: length=" + length);
        }
        Objects.checkFromIndexSize(0, length, bytes.byteSize());
    }

    /** 0 or the error number. */
    private static int sendNative(int fd, MemorySegment bytes, int length) {
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

    /**
     * Rings: sends one byte. Allocates nothing.
     *
     * @param fd a connected socket
     * @return as {@link #send(int, MemorySegment, int)}; {@link Errno#EAGAIN} means that so much is
     *     pending that the other side wakes up anyway
     */
    public static int sendByte(int fd) {
        long result;
        try {
            result = (long) SEND_PLAIN.invokeExact(fd, DOORBELL.address(), 1L, SEND_FLAGS);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return result == 1 ? 0 : sendNative(fd, DOORBELL, 1);
    }

    /**
     * Drops the doorbells that are pending, {@link #DRAIN_LIMIT} at most so that a peer cannot hold
     * the caller. Allocates nothing.
     *
     * <p>A message with descriptors is dropped as well, and letting go of a descriptor takes as
     * long as its kind allows: this is for sockets on which none can be ({@link
     * #refuseDescriptors}). On others use {@link #drainWatchfully}.
     *
     * @param fd a connected socket
     * @return how many were dropped, {@link #DRAIN_LIMIT} where more may be pending; -1 once the
     *     connection has ended, or something came that is longer than a doorbell, or empty. Behind
     *     doorbells that is told at the latest by the next call: the socket stays ready for it
     * @throws LinuxException EBADF or ENOTSOCK: a bug of the caller
     */
    public static int drain(int fd) {
        CallState state = CallState.current();
        int dropped = 0;
        while (dropped < DRAIN_LIMIT) {
            long result;
            try {
                result =
                        (long)
                                RECV_PLAIN.invokeExact(
                                        fd, state.scratchAddress, (long) Long.BYTES, RECEIVE_FLAGS);
            } catch (Throwable thrown) {
                throw Libc.rethrow(thrown);
            }
            if (result >= 0 && result != 1) {
                return -1;
            }
            if (result < 0) {
                return drain(fd, false, dropped);
            }
            dropped++;
            if (!anythingPending(fd, state)) {
                break;
            }
        }
        return dropped;
    }

    /** False also where it cannot be told; then the socket is still ready if there is anything. */
    private static boolean anythingPending(int fd, CallState state) {
        try {
            int result = (int) IOCTL_PLAIN.invokeExact(fd, FIONREAD, state.scratchAddress);
            return result == 0 && state.scratch.get(INT, 0) > 0;
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * As {@link #drain(int)}, but looks at each message before it takes it, so that no descriptor
     * of a peer is ever let go of here: one more system call a doorbell, none more where nothing is
     * pending. A message that has descriptors stays where it is.
     *
     * @param fd a connected socket
     * @return as {@link #drain(int)}; -1 also where a message has descriptors
     * @throws LinuxException EBADF or ENOTSOCK: a bug of the caller
     */
    public static int drainWatchfully(int fd) {
        return drain(fd, true, 0);
    }

    private static int drain(int fd, boolean watchfully, int droppedBefore) {
        CallState state = CallState.current();
        int dropped = droppedBefore;
        while (dropped < DRAIN_LIMIT) {
            long result = watchfully ? lookAt(state, fd) : receiveBytes(state, fd);
            if (watchfully && result > 0) {
                result = receiveBytes(state, fd);
            }
            if (result == 1) {
                dropped++;
                continue;
            }
            if (result >= 0) {
                return -1;
            }
            int errno = state.lastErrno();
            if (errno == Errno.EAGAIN) {
                break;
            }
            if (errno == Errno.EBADF || errno == Errno.ENOTSOCK) {
                throw new LinuxException("recv", errno, "fd=" + fd);
            }
            if (errno != Errno.EINTR) {
                return -1;
            }
        }
        return dropped;
    }

    /** Takes a message off and drops it; its length, cut to 8 bytes, or -1 with errno. */
    private static long receiveBytes(CallState state, int fd) {
        try {
            return (long)
                    RECV.invokeExact(
                            state.errno, fd, state.scratch, (long) Long.BYTES, RECEIVE_FLAGS);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * Length of the next message, cut to 8 bytes, which stays where it is; 0 also where it brings
     * descriptors: the kernel says so where it is looked at without a place for them, and what it
     * lets go of then is a reference beside that of the message. -1 with errno.
     */
    private static long lookAt(CallState state, int fd) {
        MemorySegment header = state.scratch;
        long vector = Abi.MsgHdr.BYTES;
        long room = vector + Abi.IoVec.BYTES;
        for (long at = 0; at < Abi.MsgHdr.BYTES; at += Long.BYTES) {
            header.set(LONG, at, 0);
        }
        header.set(LONG, Abi.MsgHdr.IOV, state.scratchAddress + vector);
        header.set(LONG, Abi.MsgHdr.IOV_LENGTH, 1);
        header.set(LONG, vector + Abi.IoVec.BASE, state.scratchAddress + room);
        header.set(LONG, vector + Abi.IoVec.LENGTH, Long.BYTES);
        long result;
        try {
            result = (long) RECVMSG.invokeExact(state.errno, fd, header, RECEIVE_FLAGS | MSG_PEEK);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        boolean brings = (header.get(INT, Abi.MsgHdr.FLAGS) & ReceivedMessage.MSG_CTRUNC) != 0;
        return result > 0 && brings ? 0 : result;
    }

    /**
     * Receives one message, with its descriptors. Waits only for the descriptors that it has no
     * room for to be closed, which takes as long as their kind allows; where that must not be, use
     * {@link #receiveWhole}.
     *
     * @param fd a connected socket
     * @param into takes the message; what it still held of an earlier one is closed first
     * @return the number of bytes it has, above 0; 0 at the end of the stream; else the negated
     *     error number: -{@link Errno#EAGAIN} (nothing pending), -{@link Errno#ECONNRESET}
     */
    public static int receive(int fd, ReceivedMessage into) {
        return receive(fd, into, RECEIVE_FLAGS);
    }

    /**
     * Receives one message if there is room for all of it and its descriptors, and never waits.
     * Otherwise the message stays in the socket, and with it a reference to each of its
     * descriptors: so the kernel has none to close here. {@link ReceivedMessage#truncated} tells;
     * the caller has no further use for such a connection and lets go of the socket where it may
     * take time.
     *
     * @param fd a connected socket that this thread alone reads
     * @param into as in {@link #receive(int, ReceivedMessage)}
     * @return as {@link #receive(int, ReceivedMessage)}
     */
    public static int receiveWhole(int fd, ReceivedMessage into) {
        int result = receive(fd, into, RECEIVE_FLAGS | MSG_PEEK);
        if (result > 0 && !into.truncated()) {
            // Each descriptor has a number here and keeps it until the caller is done: what was
            // truncated may be closed by another thread already, and the message's reference
            // would be the last.
            long _ = receiveBytes(CallState.current(), fd);
        }
        return result;
    }

    private static int receive(int fd, ReceivedMessage into, int flags) {
        into.prepare();
        CallState state = CallState.current();
        long result;
        try {
            do {
                result = (long) RECVMSG.invokeExact(state.errno, fd, into.header(), flags);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            return -state.lastErrno();
        }
        into.arrived((int) result);
        if (result == 0) {
            // The end, or a peer's empty message, whose descriptors must not stay.
            into.close();
        }
        return (int) result;
    }

    /**
     * Has the kernel refuse descriptors from now on: a message with any fails at its sender, with
     * EPERM. Those that are pending already still come. Sockets accepted by a listening one that
     * refuses them refuse them too.
     *
     * @param fd a socket
     * @return whether this kernel can do that (Linux 6.16 and later)
     */
    public static boolean refuseDescriptors(int fd) {
        CallState state = CallState.current();
        state.scratch.set(INT, 0, 0);
        return setOption(state, fd, SO_PASSRIGHTS, Integer.BYTES) == 0;
    }

    /**
     * Lets a close of this open file not wait for unsent data, whatever was set before; for the
     * sockets of other families that came from a peer.
     *
     * @param fd any descriptor
     * @return whether it is a socket
     */
    public static boolean stopLingering(int fd) {
        CallState state = CallState.current();
        state.scratch.set(LONG, 0, 0);
        return setOption(state, fd, SO_LINGER, 2 * Integer.BYTES) == 0;
    }

    /** Sets an option of the socket level to what lies in scratch; 0 or -1. */
    private static int setOption(CallState state, int fd, int option, int length) {
        try {
            return (int)
                    SETSOCKOPT.invokeExact(
                            state.errno, fd, SOL_SOCKET, option, state.scratchAddress, length);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * Ends the writing half of a connection: the peer reads the end of the stream, and its end is
     * still seen here. Nothing happens if it has ended already. The descriptor stays open.
     *
     * @param fd the socket
     */
    public static void shutdownWrite(int fd) {
        shutdown(fd, SHUT_WR);
    }

    /**
     * Ends the reading half of a connection: what the peer sends from now on fails at its end with
     * EPIPE, and an epoll here sees {@link Epoll#RDHUP}. What is pending stays. The descriptor
     * stays open.
     *
     * @param fd the socket
     */
    public static void shutdownRead(int fd) {
        shutdown(fd, SHUT_RD);
    }

    /**
     * Ends a connection in both directions; both sides see the end of the stream. Nothing happens
     * if it has ended already. The descriptor stays open.
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
