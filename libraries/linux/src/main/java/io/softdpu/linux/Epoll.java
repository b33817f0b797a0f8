package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;

/**
 * Epoll instance, which waits for many descriptors. {@link #await} and the accessors of its results
 * belong to one thread at a time; {@link #add}, {@link #modify} and {@link #removeIfWatched} may be
 * called from any thread, also while another waits. The owner closes it when no thread waits or
 * adds any more.
 */
public final class Epoll implements AutoCloseable {
    /** Data can be read, or a connection accepted. */
    public static final int IN = 1;

    /** Data can be written. */
    public static final int OUT = 4;

    /** An error is pending; always reported. */
    public static final int ERR = 8;

    /** Both directions have ended; always reported. */
    public static final int HUP = 0x10;

    /** The peer sends no more: it closed, shut down or was killed. */
    public static final int RDHUP = 0x2000;

    /** Report a change once only, not for as long as it lasts. */
    public static final int ET = 0x8000_0000;

    private static final int EPOLL_CLOEXEC = 0x8_0000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EPOLL_CTL_MOD = 3;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private static final int EVENT_BYTES = Abi.CURRENT.epollEventBytes;
    private static final int DATA_OFFSET = Abi.CURRENT.epollDataOffset;

    private static final MethodHandle EPOLL_CREATE1 = Libc.bind("epoll_create1", INT, INT);
    private static final MethodHandle EPOLL_CTL =
            Libc.bind("epoll_ctl", INT, INT, INT, INT, POINTER);
    private static final MethodHandle EPOLL_CTL_PLAIN =
            Libc.bindPlain("epoll_ctl", FunctionDescriptor.of(INT, INT, INT, INT, POINTER));
    private static final MethodHandle EPOLL_WAIT =
            Libc.bind("epoll_wait", INT, INT, ValueLayout.ADDRESS, INT, INT);
    private static final MethodHandle EPOLL_WAIT_PLAIN =
            Libc.bindPlain("epoll_wait", FunctionDescriptor.of(INT, INT, POINTER, INT, INT));

    private final int fd;
    private final int maxEvents;
    private final MemorySegment ready;
    private final CallState state = new CallState();
    private int readyCount;
    private volatile boolean closed;

    /**
     * Creates an epoll instance without descriptors.
     *
     * @param maxEvents limit of descriptors reported by one {@link #await}, above 0
     */
    public Epoll(int maxEvents) {
        if (maxEvents <= 0) {
            throw new IllegalArgumentException("maxEvents must be above 0: maxEvents=" + maxEvents);
        }
        this.maxEvents = maxEvents;
        ready = Arena.ofAuto().allocate((long) maxEvents * EVENT_BYTES, Long.BYTES);
        int result;
        try {
            result = (int) EPOLL_CREATE1.invokeExact(state.errno, EPOLL_CLOEXEC);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            throw new LinuxException("epoll_create1", state.lastErrno(), "maxEvents=" + maxEvents);
        }
        fd = result;
        Origins.descriptorOpened(fd);
    }

    /**
     * The epoll descriptor: readable while something is ready, so it can be watched itself.
     *
     * @return the same number until closed
     */
    public int fd() {
        checkOpen();
        return fd;
    }

    /**
     * Watches a descriptor. The kernel stops watching when the last descriptor of that open file is
     * closed, in any process, so remove it before.
     *
     * @param watched the descriptor
     * @param events constants of this class, or-ed
     * @param data returned by {@link #data}
     */
    public void add(int watched, int events, long data) {
        control("epoll_ctl(EPOLL_CTL_ADD)", EPOLL_CTL_ADD, watched, events, data);
        RestrictedThreads.watches(fd, watched);
    }

    /**
     * Changes the events that a descriptor is watched for.
     *
     * @param watched a descriptor that was added
     * @param events as in {@link #add}
     * @param data as in {@link #add}
     */
    public void modify(int watched, int events, long data) {
        control("epoll_ctl(EPOLL_CTL_MOD)", EPOLL_CTL_MOD, watched, events, data);
    }

    /**
     * Stops watching a descriptor unless the kernel has stopped, which it does when the last
     * descriptor of the open file is closed. An {@link #await} that has returned may still report
     * it.
     *
     * @param watched a descriptor that was added
     * @return false if it was not watched any more
     */
    public boolean removeIfWatched(int watched) {
        RestrictedThreads.unwatches(fd, watched);
        int error = tryControl(EPOLL_CTL_DEL, watched, 0, 0);
        if (error != 0 && error != Errno.EBADF && error != Errno.ENOENT) {
            throw new LinuxException(
                    "epoll_ctl(EPOLL_CTL_DEL)", error, "epollFd=" + fd + ", fd=" + watched);
        }
        return error == 0;
    }

    private void control(String call, int operation, int watched, int events, long data) {
        int error = tryControl(operation, watched, events, data);
        if (error != 0) {
            throw new LinuxException(call, error, "epollFd=" + fd + ", fd=" + watched);
        }
    }

    /** Calls epoll_ctl; the error number, or 0. */
    private int tryControl(int operation, int watched, int events, long data) {
        checkOpen();
        CallState own = CallState.current();
        own.scratch.set(INT, 0, events);
        own.scratch.set(ValueLayout.JAVA_LONG_UNALIGNED, DATA_OFFSET, data);
        int result;
        try { // without errno first, as in await; a failed call is repeated with errno
            result = (int) EPOLL_CTL_PLAIN.invokeExact(fd, operation, watched, own.scratchAddress);
            if (result != 0) {
                result =
                        (int)
                                EPOLL_CTL.invokeExact(
                                        own.errno, fd, operation, watched, own.scratchAddress);
            }
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return result == 0 ? 0 : own.lastErrno();
    }

    /**
     * Waits until a descriptor is ready or the timeout is over; a signal does not end it. Allocates
     * nothing.
     *
     * @param timeoutMillis timeout; 0 only polls; negative waits without limit
     * @return number of ready descriptors, 0 after the timeout; see {@link #data} and {@link
     *     #events}
     */
    public int await(int timeoutMillis) {
        checkOpen();
        readyCount = 0;
        long deadlineNanos =
                timeoutMillis > 0 ? System.nanoTime() + timeoutMillis * NANOS_PER_MILLI : 0;
        // Without errno first: capturing it allocates an object until this is compiled by C2, and a
        // thread that sleeps rarely executes this rarely. A failed call is repeated with errno.
        int first;
        try {
            first =
                    (int)
                            EPOLL_WAIT_PLAIN.invokeExact(
                                    fd, ready.address(), maxEvents, timeoutMillis);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (first >= 0) {
            readyCount = first;
            return first;
        }
        return awaitAgain(timeoutMillis, deadlineNanos);
    }

    /** Repeats a wait that a signal has ended or that has failed. */
    private int awaitAgain(int timeoutMillis, long deadlineNanos) {
        int remainingMillis = timeoutMillis;
        while (true) {
            if (timeoutMillis > 0) {
                long remainingNanos = deadlineNanos - System.nanoTime();
                remainingMillis = (int) Math.max(0, Math.ceilDiv(remainingNanos, NANOS_PER_MILLI));
            }
            int result;
            try {
                result =
                        (int)
                                EPOLL_WAIT.invokeExact(
                                        state.errno, fd, ready, maxEvents, remainingMillis);
            } catch (Throwable thrown) {
                throw Libc.rethrow(thrown);
            }
            if (result >= 0) {
                readyCount = result;
                return result;
            }
            if (state.lastErrno() != Errno.EINTR) {
                throw new LinuxException("epoll_wait", state.lastErrno(), "epollFd=" + fd);
            }
        }
    }

    /**
     * The data that a ready descriptor was added with.
     *
     * @param index from 0, below what {@link #await} returned
     * @return the data given to {@link #add}
     */
    public long data(int index) {
        long offset = (long) Objects.checkIndex(index, readyCount) * EVENT_BYTES + DATA_OFFSET;
        return ready.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    /**
     * The events of a ready descriptor.
     *
     * @param index as in {@link #data}
     * @return constants of this class, or-ed
     */
    public int events(int index) {
        long offset = (long) Objects.checkIndex(index, readyCount) * EVENT_BYTES;
        return ready.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
    }

    /** Closes the epoll descriptor; watched descriptors stay open. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            RestrictedThreads.closesEpoll(fd);
            FileDescriptors.close(fd);
        }
    }

    /** Refuses use after close, when the number may have been reused. */
    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("epoll closed: epollFd=" + fd);
        }
    }
}
