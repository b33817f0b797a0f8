package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;

/**
 * Processor time of this process in nanoseconds. {@code getProcessCpuTime} of the JDK has steps of
 * 10 ms, which is more than an idle process uses in a second. Any thread.
 */
public final class ProcessTime {
    /** CLOCK_PROCESS_CPUTIME_ID. */
    private static final int PROCESS_CLOCK = 2;

    private static final MethodHandle CLOCK_GETTIME = Libc.bind("clock_gettime", INT, INT, POINTER);

    private ProcessTime() {}

    /**
     * Processor time of all threads of this process since its start, ended ones included.
     *
     * @return nanoseconds
     */
    public static long nanos() {
        CallState state = CallState.current();
        int result;
        try {
            result =
                    (int)
                            CLOCK_GETTIME.invokeExact(
                                    state.errno, PROCESS_CLOCK, state.scratchAddress);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            throw new LinuxException("clock_gettime", state.lastErrno(), "clock=" + PROCESS_CLOCK);
        }
        return TimeUnit.SECONDS.toNanos(state.scratch.get(ValueLayout.JAVA_LONG, 0))
                + state.scratch.get(ValueLayout.JAVA_LONG, Long.BYTES);
    }
}
