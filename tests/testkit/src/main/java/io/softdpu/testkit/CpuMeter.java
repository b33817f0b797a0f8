package io.softdpu.testkit;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Longest CPU time of one piece of a thread's work, such as one progress of an engine: limited by
 * tests of peers that must not determine the work of a thread. Other processes that want the
 * processors do not change it, and what the thread does in the kernel counts.
 *
 * <p>{@link #begin()}, {@link #end()} and {@link #next()} belong to the thread that is measured;
 * any thread may ask.
 */
public final class CpuMeter {

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long beganNanos;
    private boolean begun;
    private volatile long longestNanos;

    /** A meter that has measured nothing. */
    public CpuMeter() {}

    /** A piece of work begins. */
    public void begin() {
        beganNanos = threads.getCurrentThreadCpuTime();
        begun = true;
    }

    /** It ends; without a beginning nothing happens. */
    public void end() {
        if (begun) {
            begun = false;
            longestNanos = Math.max(longestNanos, threads.getCurrentThreadCpuTime() - beganNanos);
        }
    }

    /** Ends a piece and begins the next. */
    public void next() {
        end();
        begin();
    }

    /**
     * The longest piece that has ended.
     *
     * @return nanoseconds of CPU time, in user and kernel mode
     */
    public long longestNanos() {
        return longestNanos;
    }
}
