package io.softdpu.testkit;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Measures what the machine does to a thread that does nothing: a thread of its own waits for a
 * moment again and again, and the longest that a wait took beyond what was asked for is the longest
 * pause that any thread may have had without being to blame for it: other processes had the
 * processor, or the collector had the JVM.
 *
 * <p>A test that forbids something to take longer than a second forbids it to take longer than
 * {@link #limitNanos(Duration)} of a second. Made before what is measured, closed after. The thread
 * that makes it asks; any number may live at a time.
 */
public final class HiccupMeter implements AutoCloseable {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::watch, "testkit-hiccups");
    private volatile long beganNanos = System.nanoTime();
    private volatile long longestNanos;

    /** Begins to measure. */
    public HiccupMeter() {
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * The longest pause since the beginning, one that goes on included.
     *
     * @return nanoseconds, not negative
     */
    public long longestNanos() {
        long now = System.nanoTime() - beganNanos - PAUSE_NANOS;
        return Math.max(longestNanos, Math.max(0, now));
    }

    /**
     * What may be asked of a machine that makes pauses: so much, and its longest pause twice.
     * Twice, since one pause may come for who waits, and another for whom it waits for.
     *
     * @param limit what is promised where nobody else wants the processors
     * @return nanoseconds, for a time that was measured since the beginning
     */
    public long limitNanos(Duration limit) {
        return limit.toNanos() + 2 * longestNanos();
    }

    /** Ends the thread and waits for that. */
    @Override
    public void close() {
        closed.countDown();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true; // its end is near; the flag is restored
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch() {
        try {
            boolean over = false;
            while (!over) {
                beganNanos = System.nanoTime();
                over = closed.await(PAUSE_NANOS, TimeUnit.NANOSECONDS);
                longestNanos = Math.max(longestNanos, System.nanoTime() - beganNanos - PAUSE_NANOS);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts the meter", e);
        }
    }
}
