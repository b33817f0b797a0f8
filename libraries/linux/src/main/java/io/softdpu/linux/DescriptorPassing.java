package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Messages of Unix sockets that carry file descriptors (SCM_RIGHTS). Any thread. */
public final class DescriptorPassing {
    /** Most descriptors that the kernel lets one message carry. */
    public static final int MAX_DESCRIPTORS = 253;

    /** Type of the control message that carries descriptors; its level is that of sockets. */
    static final int SCM_RIGHTS = 1;

    private static final MethodHandle SENDMSG = Libc.bind("sendmsg", LONG, INT, POINTER, INT);
    private static final MethodHandle RECVMSG =
            Libc.bind("recvmsg", LONG, INT, ValueLayout.ADDRESS, INT);

    private DescriptorPassing() {}

    /**
     * Sends one message with descriptors; otherwise as {@link Socket#send}. The receiver gets
     * descriptors of its own for the same open files; those given here stay open and the caller's.
     *
     * @param fd a connected socket
     * @param bytes the message at its beginning
     * @param length its length, above 0
     * @param descriptors at most {@link #MAX_DESCRIPTORS}
     * @return 0 or the error number; also {@link Errno#ETOOMANYREFS} (too many descriptors of this
     *     user are in transit)
     */
    public static int send(int fd, MemorySegment bytes, int length, int... descriptors) {
        Socket.checkLength(bytes, length);
        if (descriptors.length == 0) {
            return Socket.send(fd, bytes, length);
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
                result =
                        (long)
                                SENDMSG.invokeExact(
                                        state.errno, fd, message.address(), Socket.SEND_FLAGS);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
            return result >= 0 ? 0 : state.lastErrno();
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * The msghdr of a message; everything it points to is in the arena, also a copy of the bytes.
     */
    private static MemorySegment describeMessage(
            Arena arena, MemorySegment bytes, int length, int[] descriptors) {
        int rightsBytes = descriptors.length * Integer.BYTES;
        MemorySegment data = arena.allocate(length).copyFrom(bytes.asSlice(0, length));
        MemorySegment control =
                arena.allocate(Abi.CmsgHdr.space(rightsBytes), ReceivedMessage.ALIGNMENT);
        control.set(LONG, Abi.CmsgHdr.LENGTH, Abi.CmsgHdr.length(rightsBytes));
        control.set(INT, Abi.CmsgHdr.LEVEL, Socket.SOL_SOCKET);
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

    /**
     * Receives one message with its descriptors. It may block to close descriptors that do not fit;
     * a caller that must not block uses {@link #receiveWhole}.
     *
     * @param fd a connected socket
     * @param into receives the message; descriptors of an earlier one are closed first
     * @return the number of bytes it has, above 0; 0 at the end of the stream; else the negated
     *     error number: -{@link Errno#EAGAIN} (nothing pending), -{@link Errno#ECONNRESET}
     */
    public static int receive(int fd, ReceivedMessage into) {
        return receive(fd, into, Socket.RECEIVE_FLAGS);
    }

    /**
     * Receives one message if all of it and its descriptors fit, and never blocks. Otherwise the
     * message stays in the socket, and with it a reference to each of its descriptors, so the
     * kernel closes none here. {@link ReceivedMessage#truncated} tells; the caller should end such
     * a connection and close the socket on a thread that may block.
     *
     * @param fd a connected socket that this thread alone reads
     * @param into as in {@link #receive(int, ReceivedMessage)}
     * @return as {@link #receive(int, ReceivedMessage)}
     */
    public static int receiveWhole(int fd, ReceivedMessage into) {
        int result = receive(fd, into, Socket.RECEIVE_FLAGS | Socket.MSG_PEEK);
        if (result > 0 && !into.truncated()) {
            // Each descriptor has a number here and keeps it until the caller has finished: what
            // was truncated may be closed by another thread already, and the message's reference
            // would be the last.
            long _ = Socket.receiveBytes(CallState.current(), fd);
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
            // The end of the stream, or an empty message of the peer, whose descriptors are closed.
            into.close();
        }
        return (int) result;
    }
}
