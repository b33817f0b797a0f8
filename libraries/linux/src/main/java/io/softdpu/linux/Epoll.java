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
 * Waits for many descriptors at once. {@link #await} and the reading of its results belong to one
 * thread at a time; {@link #add}, {@link #modify} and {@link #removeIfWatched} may be called from
 * any, also while another waits. It is closed by its owner once nobody waits or adds any more.
 */
public final class Epoll implements AutoCloseable {
    /** There is something to read, or to accept. */
    public static final int IN = 1;

    /** There is room to write. */
    public static final int OUT = 4;

    /** An error is pending; reported without being asked for. */
    public static final int ERR = 8;

    /** Both directions have ended; reported without being asked for. */
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
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /**
     * The kernel may end a wait late by a thousandth of its time, by five in a process of lower
     * priority (nice), so that wake-ups fall together. A wait longer than this is made of one that
     * ends a 128th before its time and of what is left then.
     */
    private static final long SLACK_MATTERS_NANOS = 128 * NANOS_PER_MILLI;

    private static final int EVENT_BYTES = Abi.CURRENT.epollEventBytes;
    private static final int DATA_OFFSET = Abi.CURRENT.epollDataOffset;

    private static final MethodHandle EPOLL_CREATE1 = Libc.bind("epoll_create1", INT, INT);
    private static final MethodHandle EPOLL_CTL =
            Libc.bind("epoll_ctl", INT, INT, INT, INT, POINTER);
    private static final MethodHandle EPOLL_WAIT =
            Libc.bind("epoll_wait", INT, INT, ValueLayout.ADDRESS, INT, INT);
    private static final MethodHandle EPOLL_WAIT_PLAIN =
            Libc.bindPlain("epoll_wait", FunctionDescriptor.of(INT, INT, POINTER, INT, INT));

    /** Whether this libc and this kernel have epoll_pwait2; a sandbox may forbid it, too. */
    private static final boolean PRECISE = Libc.has("epoll_pwait2") && Precise.isKnown();

    /** Bound where libc has it: since glibc 2.35. */
    private static final class Precise {
        private static final MethodHandle EPOLL_PWAIT2 =
                Libc.bind("epoll_pwait2", INT, INT, POINTER, INT, POINTER, POINTER);
        private static final MethodHandle EPOLL_PWAIT2_PLAIN =
                Libc.bindPlain(
                        "epoll_pwait2",
                        FunctionDescriptor.of(INT, INT, POINTER, INT, POINTER, POINTER));

        private Precise() {}

        /** Asks for a wait on no descriptor at all: a kernel before 5.11 answers ENOSYS. */
        static boolean isKnown() {
            CallState own = CallState.current();
            own.scratch.fill((byte) 0);
            try {
                int result =
                        (int)
                                EPOLL_PWAIT2.invokeExact(
                                        own.errno,
                                        -1,
                                        own.scratchAddress + Abi.TimeSpec.BYTES,
                                        1,
                                        own.scratchAddress,
                                        0L);
                return result < 0 && own.lastErrno() == Errno.EBADF;
            } catch (Throwable thrown) {
                throw Libc.rethrow(thrown);
            }
        }
    }

    private final int fd;
    private final int maxEvents;
    private final MemorySegment ready;
    private final MemorySegment timeout = Arena.ofAuto().allocate(Abi.TimeSpec.BYTES, Long.BYTES);
    private final CallState state = new CallState();
    private int readyCount;
    private volatile boolean closed;

    /**
     * Makes an epoll instance that watches nothing yet.
     *
     * @param maxEvents most descriptors reported by one {@link #await}, above 0
     */
    public Epoll(int maxEvents) {
        if (maxEvents <= 0) {
            throw new IllegalArgumentException("no room: maxEvents=" + maxEvents);
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
     * Watches a descriptor. The kernel stops by itself when the last descriptor of that open file
     * is closed, in whatever process; so remove it first.
     *
     * @param watched the descriptor
     * @param events constants of this class, or-ed
     * @param data comes back from {@link #data}
     */
    public void add(int watched, int events, long data) {
        control("epoll_ctl(EPOLL_CTL_ADD)", EPOLL_CTL_ADD, watched, events, data);
    }

    /**
     * Changes what a descriptor is watched for.
     *
     * @param watched a descriptor that was added
     * @param events as in {@link #add}
     * @param data as in {@link #add}
     */
    public void modify(int watched, int events, long data) {
        control("epoll_ctl(EPOLL_CTL_MOD)", EPOLL_CTL_MOD, watched, events, data);
    }

    /**
     * Stops watching a descriptor unless the kernel has done so, which it does when the last
     * descriptor of the open file is closed. An {@link #await} that has returned may still report
     * it.
     *
     * @param watched a descriptor that was added
     * @return false if it was not watched any more
     */
    public boolean removeIfWatched(int watched) {
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
        try {
            result =
                    (int)
                            EPOLL_CTL.invokeExact(
                                    own.errno, fd, operation, watched, own.scratchAddress);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return result == 0 ? 0 : own.lastErrno();
    }

    /**
     * Waits until a descriptor is ready or time is up; a signal does not end it. Allocates nothing.
     *
     * @param timeoutMillis how long; 0: only looks; negative: without end
     * @return how many are ready, 0 if time is up; see {@link #data} and {@link #events}
     */
    public int await(int timeoutMillis) {
        checkOpen();
        readyCount = 0;
        long deadlineNanos =
                timeoutMillis > 0 ? System.nanoTime() + timeoutMillis * NANOS_PER_MILLI : 0;
        // Without errno first: to keep it costs an object until this is compiled for good, and a
        // thread that sleeps rarely comes here rarely. What fails is done again with it.
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

    /** After a wait that a signal has ended, or that has failed. */
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
     * Whether {@link #awaitNanos} can be called here.
     *
     * @return false without glibc 2.35 and Linux 5.11; a {@link TimerFd} does the same then
     */
    public static boolean canAwaitNanos() {
        return PRECISE;
    }

    /**
     * Waits until a descriptor is ready or time is up, which is never early; a signal does not end
     * it. Allocates nothing.
     *
     * @param timeoutNanos how long, above 0
     * @return as {@link #await}
     * @throws UnsupportedOperationException where {@link #canAwaitNanos} says so
     */
    public int awaitNanos(long timeoutNanos) {
        checkOpen();
        if (!PRECISE) {
            throw new UnsupportedOperationException(
                    "system lacks a call: name=epoll_pwait2, epollFd=" + fd);
        }
        if (timeoutNanos <= 0) {
            throw new IllegalArgumentException(
                    "timeout is not positive: timeoutNanos=" + timeoutNanos + ", epollFd=" + fd);
        }
        readyCount = 0;
        long begin = System.nanoTime();
        long left = timeoutNanos;
        boolean withErrno = false; // as in await
        while (true) {
            long nanos = left > SLACK_MATTERS_NANOS ? left - left / 128 : left;
            timeout.set(ValueLayout.JAVA_LONG, Abi.TimeSpec.SECONDS, nanos / NANOS_PER_SECOND);
            timeout.set(ValueLayout.JAVA_LONG, Abi.TimeSpec.NANOS, nanos % NANOS_PER_SECOND);
            int result = withErrno ? awaitNanosWithErrno() : awaitNanosPlain();
            if (result > 0) {
                readyCount = result;
                return result;
            }
            if (result < 0) {
                if (withErrno && state.lastErrno() != Errno.EINTR) {
                    throw new LinuxException("epoll_pwait2", state.lastErrno(), "epollFd=" + fd);
                }
                withErrno = true;
            }
            left = timeoutNanos - (System.nanoTime() - begin);
            if (left <= 0) {
                return 0;
            }
        }
    }

    private int awaitNanosPlain() {
        try {
            return (int)
                    Precise.EPOLL_PWAIT2_PLAIN.invokeExact(
                            fd, ready.address(), maxEvents, timeout.address(), 0L);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    private int awaitNanosWithErrno() {
        try {
            return (int)
                    Precise.EPOLL_PWAIT2.invokeExact(
                            state.errno, fd, ready.address(), maxEvents, timeout.address(), 0L);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * What a ready descriptor was added with.
     *
     * @param index from 0, below what {@link #await} returned
     * @return the data given to {@link #add}
     */
    public long data(int index) {
        long offset = (long) Objects.checkIndex(index, readyCount) * EVENT_BYTES + DATA_OFFSET;
        return ready.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    /**
     * What a ready descriptor is ready for.
     *
     * @param index as in {@link #data}
     * @return constants of this class, or-ed
     */
    public int events(int index) {
        long offset = (long) Objects.checkIndex(index, readyCount) * EVENT_BYTES;
        return ready.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
    }

    /** Closes the epoll descriptor; what it watched stays open. Again: nothing happens. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            FileDescriptors.close(fd);
        }
    }

    /** The number may stand for something else by now. */
    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("epoll closed: epollFd=" + fd);
        }
    }
}
