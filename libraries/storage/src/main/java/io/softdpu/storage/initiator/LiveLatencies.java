package io.softdpu.storage.initiator;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts of latencies that one thread records while others read them: for the progress of a phase,
 * whose exact histogram belongs to the worker until its end. A class of latencies has the highest
 * bit of its values and the four below. Allocates nothing while it records.
 */
final class LiveLatencies {
    private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(long[].class);

    /** Bits below the highest one that distinguish classes. */
    private static final int FINE_BITS = 4;

    private static final int FINE = 1 << FINE_BITS;

    /** Latencies of 2^40 ns, 18 minutes, and more are in the last class. */
    private static final int HIGHEST_BIT = 40;

    private static final int CLASSES = (HIGHEST_BIT - FINE_BITS + 1) * FINE;

    private final long[] counts = new long[CLASSES];

    /** Counts a latency. On the recording thread. */
    void record(long nanos) {
        int index = classOf(nanos);
        // Opaque: compiles to plain accesses, but must not be optimised away.
        COUNTS.setOpaque(counts, index, (long) COUNTS.get(counts, index) + 1);
    }

    /** Adds what has been counted by now to sums of {@link #newSums}. Any thread. */
    void addTo(long[] sums) {
        for (int i = 0; i < CLASSES; i++) {
            sums[i] += (long) COUNTS.getOpaque(counts, i);
        }
    }

    /** Zeros for {@link #addTo}. */
    static long[] newSums() {
        return new long[CLASSES];
    }

    private static int classOf(long nanos) {
        if (nanos < FINE) {
            return (int) Math.max(0, nanos);
        }
        int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos) - FINE_BITS;
        int fine = (int) (nanos >>> shift) - FINE;
        return Math.min((shift + 1) * FINE + fine, CLASSES - 1);
    }

    /** The longest latency of a class, in nanoseconds. */
    static long lastNanosOf(int index) {
        if (index < FINE) {
            return index;
        }
        int shift = index / FINE - 1;
        return ((long) (index % FINE + FINE + 1) << shift) - 1;
    }
}
