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
    /** Most messages that one {@link #drain} drops. */
    public static final int DRAIN_LIMIT = 64;

    /*
     * Bound without errno: to keep it costs an object a call until the second
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
     * @return as {@link Socket#send}; {@link Errno#EAGAIN} means that so much is pending that the
     *     other side wakes up anyway
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
     * Drops the doorbells that are pending, {@link #DRAIN_LIMIT} at most so that a peer cannot hold
     * the caller. Allocates nothing.
     *
     * <p>A message with descriptors is dropped as well, and letting go of a descriptor takes as
     * long as its kind allows: this is for sockets on which none can be ({@link
     * UnixSocket#refuseDescriptors}). On others use {@link #drainWatchfully}.
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
                                        fd,
                                        state.scratchAddress,
                                        (long) Long.BYTES,
                                        Socket.RECEIVE_FLAGS);
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
            long result = watchfully ? lookAt(state, fd) : Socket.receiveBytes(state, fd);
            if (watchfully && result > 0) {
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
            result =
                    (long)
                            RECVMSG.invokeExact(
                                    state.errno,
                                    fd,
                                    header,
                                    Socket.RECEIVE_FLAGS | Socket.MSG_PEEK);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        boolean brings = (header.get(INT, Abi.MsgHdr.FLAGS) & ReceivedMessage.MSG_CTRUNC) != 0;
        return result > 0 && brings ? 0 : result;
    }
}
