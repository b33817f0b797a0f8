package io.softdpu.core.internal.wait;

/**
 * Number of polls from one yield to the next, by the time that yields take. One that takes little
 * more than the system call is idle: no other thread was ready on this processor, and polls in its
 * place see work sooner. One that takes longer has let another thread run, perhaps the peer that is
 * waited for. Belongs to the thread that waits.
 */
final class YieldInterval {
    /**
     * Polls after a yield that has let another thread run. Without them two pollers that share a
     * processor change places while neither has work: 115,000 times per second each with 32
     * requests in flight, 40,000 with them.
     */
    static final int LEAST_POLLS = 32;

    /** Polls after several idle yields: about 8 microseconds. */
    static final int MOST_POLLS = 256;

    /**
     * Most time of an idle yield, by that of the shortest one. Two switches of threads and what the
     * other one does take more.
     */
    static final int IDLE_FACTOR = 2;

    /** A shorter yield says nothing, with a coarse clock for example. */
    static final long LEAST_NANOS = 250;

    /**
     * Time of the shortest yield, or more. It never grows: where all yields are long, none is idle.
     */
    private long shortestNanos = Long.MAX_VALUE / IDLE_FACTOR;

    private int polls = LEAST_POLLS;

    /** Records a yield. */
    void yielded(long nanos) {
        shortestNanos = Math.max(Math.min(shortestNanos, nanos), LEAST_NANOS);
        boolean idle = nanos <= IDLE_FACTOR * shortestNanos;
        polls = idle ? Math.min(2 * polls, MOST_POLLS) : LEAST_POLLS;
    }

    /** Time of the shortest yield; at least {@link #LEAST_NANOS}. */
    long shortestNanos() {
        return shortestNanos;
    }

    /** Polls until the next yield, that behind the yield included. */
    int polls() {
        return polls;
    }
}
