package io.softdpu.perf.sync;

import io.softdpu.perf.pair.StopSign;

/**
 * One side's part of a run.
 *
 * @param count number of its additions or round trips
 * @param nanos the time that they took
 */
record SyncRun(long count, long nanos) {
    /** Reading the clock takes longer than an addition. */
    private static final int ADDS_PER_CHECK = 256;

    /** The additions of this thread until the time is over. */
    static SyncRun adding(SyncHandle handle, long forNanos, StopSign stop) {
        long begin = System.nanoTime();
        long adds = 0;
        long nanos;
        do {
            for (int i = 0; i < ADDS_PER_CHECK; i++) {
                handle.increment();
            }
            adds += ADDS_PER_CHECK;
            stop.check();
            nanos = System.nanoTime() - begin;
        } while (nanos < forNanos);
        return new SyncRun(adds, nanos);
    }
}
