package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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

    /** sizeof(struct timespec): seconds and nanoseconds. */
    private static final long TIMESPEC_BYTES = 16;

    private static final MethodHandle CLOCK_GETTIME = Libc.bind("clock_gettime", INT, INT, POINTER);

    private ProcessTime() {}

    /**
     * Processor time of all threads of this process since its start, ended ones included.
     *
     * @return nanoseconds
     */
    public static long nanos() {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(TIMESPEC_BYTES, Long.BYTES);
            int result =
                    (int) CLOCK_GETTIME.invokeExact(state.errno, PROCESS_CLOCK, time.address());
            if (result < 0) {
                throw new LinuxException(
                        "clock_gettime", state.lastErrno(), "clock=" + PROCESS_CLOCK);
            }
            return TimeUnit.SECONDS.toNanos(time.get(ValueLayout.JAVA_LONG, 0))
                    + time.get(ValueLayout.JAVA_LONG, Long.BYTES);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }
}
