package io.softdpu.linux;

import com.sun.management.ThreadMXBean;
import io.softdpu.testkit.Patience;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/** Meter of the heap allocation of an operation after it was compiled. */
public final class AllocationMeter {
    /** Operations of one round. */
    public static final int OPERATIONS = 10_000;

    private static final int ROUNDS = 40;

    private AllocationMeter() {}

    /**
     * The least that any round allocated for an operation: what the call needs, without what the
     * JVM does in a round while it still interprets.
     */
    public static double bytesPerOperation(Runnable operation) {
        return bytesPerOperation(Patience.LIMIT.dividedBy(2), operation);
    }

    /** The same with another time; an operation that always allocates takes all of it. */
    static double bytesPerOperation(Duration timeout, Runnable operation) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        double least = Double.MAX_VALUE;
        long begin = System.nanoTime();
        for (int round = 0;
                least >= 1 && (round < ROUNDS || System.nanoTime() - begin < timeout.toNanos());
                round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < OPERATIONS; i++) {
                operation.run();
            }
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            least = Math.min(least, (double) allocated / OPERATIONS);
        }
        return least;
    }
}
