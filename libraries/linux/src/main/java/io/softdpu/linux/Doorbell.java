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

/**
 * Doorbells: messages of one byte over a Unix socket that wake the peer. Nothing here waits or
 * allocates. Any thread.
 */
public final class Doorbell {
    /** Limit of messages that one {@link #drain} drops. */
    public static final int DRAIN_LIMIT = 64;

    /*
     * Bound without errno: capturing it allocates an object per call unless C2 has compiled the
     * caller and inlined the call, which takes minutes on a path that is rarely executed, and does
     * not happen in each JVM. A failed call is repeated with errno.
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

    private static final MethodHandle RECVMSG_PLAIN =
            Libc.bindPlain("recvmsg", FunctionDescriptor.of(LONG, INT, POINTER, INT));

    private static final MethodHandle RECVMSG =
            Libc.bind("recvmsg", LONG, INT, ValueLayout.ADDRESS, INT);

    /** Bytes that can be read without waiting, an int. */
    private static final long FIONREAD = 0x541B;

    private static final MemorySegment BYTE = Arena.global().allocate(1);

    private Doorbell() {}

    /**
     * Sends one byte. Allocates nothing.
     *
     * @param fd a connected socket
     * @return as {@link Socket#send}; {@link Errno#EAGAIN} means that enough doorbells are pending
     *     to wake the peer
     */
    public static int ring(int fd) {
        long result;
        try {
            result = (long) SEND_PLAIN.invokeExact(fd, BYTE.address(), 1L, Socket.SEND_FLAGS);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return result == 1 ? 0 : Socket.sendNative(fd, BYTE, 1);
    }

    /**
     * Drains pending doorbells, at most {@link #DRAIN_LIMIT} so that a peer cannot keep the caller
     * busy. Allocates nothing.
     *
     * <p>A message with descriptors is dropped too, and closing these may block: use this only for
     * sockets that refuse descriptors ({@link UnixSocket#refuseDescriptors}), and {@link
     * #drainWithPeek} for all others.
     *
     * @param fd a connected socket
     * @return number of dropped messages, {@link #DRAIN_LIMIT} if more may be pending; -1 after the
     *     end of the connection, or after a message that is longer than a doorbell or empty. If
     *     doorbells precede that, the next call returns -1: the socket stays ready
     * @throws LinuxException EBADF or ENOTSOCK: a bug of the caller
     */
    public static int drain(int fd) {
        return drain(fd, false);
    }

    /**
     * Whether messages are pending; false if that is unknown, then the socket stays ready if there
     * are any.
     */
    private static boolean hasPending(int fd, CallState state) {
        try {
            int result = (int) IOCTL_PLAIN.invokeExact(fd, FIONREAD, state.scratchAddress);
            return result == 0 && state.scratch.get(INT, 0) > 0;
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * As {@link #drain(int)}, but peeks at each message before receiving it, so that no descriptor
     * of a peer is closed here: one more system call per doorbell, none more if nothing is pending.
     * A message with descriptors stays in the socket.
     *
     * @param fd a connected socket
     * @return as {@link #drain(int)}; -1 also if a message has descriptors
     * @throws LinuxException EBADF or ENOTSOCK: a bug of the caller
     */
    public static int drainWithPeek(int fd) {
        return drain(fd, true);
    }

    private static int drain(int fd, boolean peeking) {
        CallState state = CallState.current();
        int dropped = 0;
        while (dropped < DRAIN_LIMIT) {
            long result = peeking ? peekLength(state, fd, false) : 1;
            if (result > 0) {
                result = receive(state, fd);
            }
            if (result < 0) {
                return drainWithErrno(state, fd, peeking, dropped);
            }
            if (result != 1) {
                return -1;
            }
            dropped++;
            if (!hasPending(fd, state)) {
                break;
            }
        }
        return dropped;
    }

    /** Receives a message: its length, cut to 8 bytes; -1 without errno. */
    private static long receive(CallState state, int fd) {
        try {
            return (long)
                    RECV_PLAIN.invokeExact(
                            fd, state.scratchAddress, (long) Long.BYTES, Socket.RECEIVE_FLAGS);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /** Continues after a failed call, which it repeats with errno. */
    private static int drainWithErrno(CallState state, int fd, boolean peeking, int droppedBefore) {
        int dropped = droppedBefore;
        while (dropped < DRAIN_LIMIT) {
            long result = peeking ? peekLength(state, fd, true) : 1;
            if (result > 0) {
                result = Socket.receiveBytes(state, fd);
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

    /**
     * Peeks at the next message: its length, cut to 8 bytes; 0 also if it has descriptors, which
     * the kernel reports to a peek without a control buffer. The references that such a peek drops
     * are additional to those of the message. -1 after a failure.
     */
    private static long peekLength(CallState state, int fd, boolean withErrno) {
        MemorySegment header = state.scratch;
        long vector = Abi.MsgHdr.BYTES;
        long data = vector + Abi.IoVec.BYTES;
        for (long at = 0; at < Abi.MsgHdr.BYTES; at += Long.BYTES) {
            header.set(LONG, at, 0);
        }
        header.set(LONG, Abi.MsgHdr.IOV, state.scratchAddress + vector);
        header.set(LONG, Abi.MsgHdr.IOV_LENGTH, 1);
        header.set(LONG, vector + Abi.IoVec.BASE, state.scratchAddress + data);
        header.set(LONG, vector + Abi.IoVec.LENGTH, Long.BYTES);
        int flags = Socket.RECEIVE_FLAGS | Socket.MSG_PEEK;
        long result;
        try {
            result =
                    withErrno
                            ? (long) RECVMSG.invokeExact(state.errno, fd, header, flags)
                            : (long) RECVMSG_PLAIN.invokeExact(fd, state.scratchAddress, flags);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        boolean hasDescriptors =
                (header.get(INT, Abi.MsgHdr.FLAGS) & ReceivedMessage.MSG_CTRUNC) != 0;
        return result > 0 && hasDescriptors ? 0 : result;
    }
}
