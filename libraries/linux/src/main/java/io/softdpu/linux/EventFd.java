package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Eventfd, which wakes a thread of the same process from {@link Epoll#await}. Any thread.
 *
 * <p>It must not be shared with another process: O_NONBLOCK is a property of the open file, so a
 * peer could make the next signal block without limit.
 */
public final class EventFd {
    private static final int EFD_NONBLOCK = 0x800;
    private static final int EFD_CLOEXEC = 0x8_0000;

    private static final MethodHandle EVENTFD = Libc.bind("eventfd", INT, INT, INT);
    private static final MethodHandle WRITE = Libc.bind("write", LONG, INT, POINTER, LONG);
    private static final MethodHandle WRITE_PLAIN =
            Libc.bindPlain("write", FunctionDescriptor.of(LONG, INT, POINTER, LONG));
    private static final MethodHandle READ = Libc.bind("read", LONG, INT, POINTER, LONG);
    private static final MethodHandle READ_PLAIN =
            Libc.bindPlain("read", FunctionDescriptor.of(LONG, INT, POINTER, LONG));

    private static final long ONE = makeOne();

    /** Where the drained counters go; all threads write it, none reads it. */
    private static final long COUNTER = Arena.global().allocate(ValueLayout.JAVA_LONG).address();

    private EventFd() {}

    private static long makeOne() {
        MemorySegment one = Arena.global().allocate(ValueLayout.JAVA_LONG);
        one.set(ValueLayout.JAVA_LONG, 0, 1);
        return one.address();
    }

    /**
     * Creates one that is not signalled.
     *
     * @return its descriptor, non-blocking and close-on-exec, the caller's to close
     */
    public static int create() {
        CallState state = CallState.current();
        int result;
        try {
            result = (int) EVENTFD.invokeExact(state.errno, 0, EFD_CLOEXEC | EFD_NONBLOCK);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            throw new LinuxException("eventfd", state.lastErrno(), "initial=0");
        }
        Origins.descriptorOpened(result);
        return result;
    }

    /**
     * Makes it readable until the next {@link #drain}. Never blocks; allocates nothing, even on a
     * thread's first call.
     *
     * @param fd the eventfd
     */
    public static void signal(int fd) {
        long written;
        try {
            written = (long) WRITE_PLAIN.invokeExact(fd, ONE, (long) Long.BYTES);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (written < 0) {
            signalAgain(fd);
        }
    }

    /** Repeats a write that has failed or was interrupted by a signal. */
    private static void signalAgain(int fd) {
        CallState state = CallState.current();
        long result;
        try {
            do {
                result = (long) WRITE.invokeExact(state.errno, fd, ONE, (long) Long.BYTES);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        // EAGAIN: the counter is full, so it is readable.
        if (result < 0 && state.lastErrno() != Errno.EAGAIN) {
            throw new LinuxException("write", state.lastErrno(), "eventFd=" + fd);
        }
    }

    /**
     * Makes it unreadable; does nothing if it was not signalled. Never blocks; allocates nothing if
     * it was signalled, even on a thread's first call.
     *
     * @param fd the eventfd
     */
    public static void drain(int fd) {
        long first;
        try {
            first = (long) READ_PLAIN.invokeExact(fd, COUNTER, (long) Long.BYTES);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (first < 0) {
            drainAgain(fd);
        }
    }

    /** Repeats a read that found nothing, has failed or was interrupted by a signal. */
    private static void drainAgain(int fd) {
        CallState state = CallState.current();
        long result;
        try {
            do {
                result = (long) READ.invokeExact(state.errno, fd, COUNTER, (long) Long.BYTES);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0 && state.lastErrno() != Errno.EAGAIN) {
            throw new LinuxException("read", state.lastErrno(), "eventFd=" + fd);
        }
    }
}
