package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Timerfd, which becomes readable after a delay, for {@link Epoll} and for event loops of the
 * program. By the monotonic clock, as {@link System#nanoTime}, and never early. Any thread.
 */
public final class TimerFd {
    private static final int CLOCK_MONOTONIC = 1;
    private static final int TFD_NONBLOCK = 0x800;
    private static final int TFD_CLOEXEC = 0x8_0000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private static final MethodHandle TIMERFD_CREATE = Libc.bind("timerfd_create", INT, INT, INT);
    private static final MethodHandle TIMERFD_SETTIME =
            Libc.bind("timerfd_settime", INT, INT, INT, POINTER, POINTER);
    private static final MethodHandle TIMERFD_SETTIME_PLAIN =
            Libc.bindPlain(
                    "timerfd_settime", FunctionDescriptor.of(INT, INT, INT, POINTER, POINTER));

    private TimerFd() {}

    /**
     * Creates one that is not armed.
     *
     * @return its descriptor, non-blocking and close-on-exec, the caller's to close
     */
    public static int create() {
        CallState state = CallState.current();
        int result;
        try {
            result =
                    (int)
                            TIMERFD_CREATE.invokeExact(
                                    state.errno, CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            throw new LinuxException(
                    "timerfd_create", state.lastErrno(), "clock=" + CLOCK_MONOTONIC);
        }
        Origins.descriptorOpened(result);
        return result;
    }

    /**
     * Makes it readable after the delay, and unreadable until then. Allocates nothing.
     *
     * @param fd the timer's descriptor
     * @param delayNanos delay, above 0
     */
    public static void arm(int fd, long delayNanos) {
        if (delayNanos <= 0) {
            throw new IllegalArgumentException(
                    "delay is not positive: delayNanos=" + delayNanos + ", timerFd=" + fd);
        }
        set(fd, delayNanos);
    }

    /**
     * Makes it unreadable until it is armed again. Allocates nothing.
     *
     * @param fd the timer's descriptor
     */
    public static void disarm(int fd) {
        set(fd, 0);
    }

    private static void set(int fd, long delayNanos) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_LONG, Abi.ITimerSpec.INTERVAL_SECONDS, 0);
        state.scratch.set(ValueLayout.JAVA_LONG, Abi.ITimerSpec.INTERVAL_NANOS, 0);
        state.scratch.set(
                ValueLayout.JAVA_LONG, Abi.ITimerSpec.SECONDS, delayNanos / NANOS_PER_SECOND);
        state.scratch.set(
                ValueLayout.JAVA_LONG, Abi.ITimerSpec.NANOS, delayNanos % NANOS_PER_SECOND);
        int result;
        try { // without errno first, as in Epoll.await; a failed call is repeated with errno
            result = (int) TIMERFD_SETTIME_PLAIN.invokeExact(fd, 0, state.scratchAddress, 0L);
            if (result != 0) {
                result =
                        (int)
                                TIMERFD_SETTIME.invokeExact(
                                        state.errno, fd, 0, state.scratchAddress, 0L);
            }
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException(
                    "timerfd_settime",
                    state.lastErrno(),
                    "timerFd=" + fd + ", delayNanos=" + delayNanos);
        }
    }
}
