package io.softdpu.perf.pair;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/**
 * Runs of a measurement before the first one that counts. They load and allocate what is no
 * operation's. One is enough unless the JIT compilers of this process are busy: beside two threads
 * that poll they have no processor of their own, and with packets took most of a run of two
 * seconds.
 */
public final class WarmUp {
    /** Most runs. */
    public static final int MOST_RUNS = 4;

    /** Time of the compilers, by that of a run, beyond which another run follows. */
    private static final double BUSY_COMPILERS = 0.05;

    private WarmUp() {}

    /**
     * Runs until the compilers have little to do, or {@value #MOST_RUNS} times.
     *
     * @param nanos duration of a run
     */
    public static void repeat(long nanos, Runnable run) {
        repeat(nanos, run, WarmUp::compilationMillis);
    }

    /** With a clock of the compilers, for tests. */
    static void repeat(long nanos, Runnable run, LongSupplier compilationMillis) {
        double restMillis = BUSY_COMPILERS * nanos / 1e6;
        long before = compilationMillis.getAsLong();
        for (int i = 0; i < MOST_RUNS; i++) {
            run.run();
            long after = compilationMillis.getAsLong();
            if (after - before <= restMillis) {
                return;
            }
            before = after;
        }
    }

    /** Time that the compilers of this JVM have taken, all threads together; 0 without one. */
    private static long compilationMillis() {
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        return compilers == null ? 0 : compilers.getTotalCompilationTime();
    }
}
