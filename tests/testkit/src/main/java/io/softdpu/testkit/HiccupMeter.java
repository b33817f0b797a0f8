package io.softdpu.testkit;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Measures pauses that the machine causes, independent of the tested code. A thread of its own
 * waits for a short time repeatedly: the longest that a wait took beyond what was asked for shows
 * when other processes had all processors, or the collector had the JVM. But who mostly sleeps is
 * given a processor at once, while who works shares them; so now and then it does a piece of work
 * that is always the same, and how much longer than the fastest of these one took counts as well.
 *
 * <p>A test prints the longest hiccup beside the longest gap that it has seen, for people to
 * compare; what it limits is CPU time ({@link CpuMeter}), which other processes do not change. Made
 * before what is measured, closed after. The thread that makes it asks; any number may live at a
 * time.
 */
public final class HiccupMeter implements AutoCloseable {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /**
     * Steps of a piece of work: some milliseconds, which is more than a scheduler gives at a time.
     * A single millisecond is done before anybody else's turn, however loaded the machine is.
     */
    private static final int WORK = 2_000_000;

    /** Some per cent of a processor are enough to see its load. */
    private static final int WAITS_PER_WORK = 100;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::watch, "testkit-hiccups");
    private volatile Interval now = new Interval(System.nanoTime(), PAUSE_NANOS);
    private volatile long longestNanos;
    private volatile long worked = 1;
    private long bestNanos = Long.MAX_VALUE;

    /** A wait of the thread: its begin, and its length without other load. */
    private record Interval(long beganNanos, long expectedNanos) {
        long hiccupNanos(long untilNanos) {
            return Math.max(0, untilNanos - beganNanos - expectedNanos);
        }
    }

    /** Begins to measure. */
    public HiccupMeter() {
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * The longest hiccup since the beginning, one that goes on included.
     *
     * @return nanoseconds, not negative
     */
    public long longestNanos() {
        // The one that goes on is read first: it is among the ended ones where it ends meanwhile.
        long goesOn = now.hiccupNanos(System.nanoTime());
        return Math.max(longestNanos, goesOn);
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

    /** One wait begins with the timestamp at which the one before ended: no time is lost. */
    private void watch() {
        try {
            boolean over = false;
            for (int waits = 1; !over; waits++) {
                over = closed.await(PAUSE_NANOS, TimeUnit.NANOSECONDS);
                if (waits % WAITS_PER_WORK == 0) {
                    Interval work = next(bestNanos);
                    work();
                    Interval wait = next(PAUSE_NANOS);
                    bestNanos = Math.min(bestNanos, wait.beganNanos() - work.beganNanos());
                } else {
                    next(PAUSE_NANOS);
                }
            }
            next(Long.MAX_VALUE); // pauses after the end do not count
        } catch (InterruptedException e) {
            throw new IllegalStateException("the meter is not interrupted", e);
        }
    }

    /** Ends what is going on and begins the next. */
    private Interval next(long expectedNanos) {
        long nanos = System.nanoTime();
        longestNanos = Math.max(longestNanos, now.hiccupNanos(nanos));
        Interval next = new Interval(nanos, expectedNanos);
        now = next;
        return next;
    }

    /** Each step needs the one before it, and no compiler knows a shorter way. */
    private void work() {
        long value = worked;
        for (int i = 0; i < WORK; i++) {
            value ^= value << 13;
            value ^= value >>> 7;
            value ^= value << 17;
        }
        worked = value;
    }
}
