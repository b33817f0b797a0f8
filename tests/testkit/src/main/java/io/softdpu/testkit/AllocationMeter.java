package io.softdpu.testkit;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * Meter of the Java heap that work allocates in the calling thread, for work that has to allocate
 * nothing once it has started. What the first use of a class or of a rare branch allocates comes
 * once, at any time on a busy machine; what a round allocates is in each measurement. So the least
 * of several measurements counts, and it has to be zero.
 */
public final class AllocationMeter {
    private static final int MAX_MEASUREMENTS = 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private AllocationMeter() {}

    /**
     * Runs so many rounds without a measurement, then so many with one, up to 20 times until one
     * has allocated nothing.
     *
     * @throws AssertionError each measurement has allocated something; with the least
     */
    public static void assertNone(int rounds, Runnable round) {
        run(rounds, round);
        long least = Long.MAX_VALUE;
        for (int measured = 1; measured <= MAX_MEASUREMENTS; measured++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            run(rounds, round);
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
            if (least == 0) {
                return;
            }
        }
        throw new AssertionError(
                String.format(
                        Locale.ROOT,
                        "rounds allocate: rounds=%d, bytes=%d, expected=0, measurements=%d",
                        rounds,
                        least,
                        MAX_MEASUREMENTS));
    }

    private static void run(int rounds, Runnable round) {
        for (int i = 0; i < rounds; i++) {
            round.run();
        }
    }
}
