package io.softdpu.rdma.roce.rc;

import java.util.Arrays;

/**
 * Results of the last atomic operations of a peer, by which repeats are answered: an atomic
 * operation is executed once (section 9.4.5). Allocates nothing after its construction.
 */
final class AtomicResults {
    private static final int NO_PSN = -1;

    private final int[] psns;
    private final long[] values;
    private int next;

    AtomicResults(int size) {
        psns = new int[size];
        values = new long[size];
        clear();
    }

    void clear() {
        Arrays.fill(psns, NO_PSN);
        next = 0;
    }

    /** Keeps a result in the place of the oldest one. */
    void put(int psn, long value) {
        psns[next] = psn;
        values[next] = value;
        next = (next + 1) % psns.length;
    }

    /**
     * Place of the result of a request.
     *
     * @return for {@link #value}; negative if it is not kept
     */
    int find(int psn) {
        for (int back = 1; back <= psns.length; back++) {
            int place = Math.floorMod(next - back, psns.length);
            if (psns[place] == psn) {
                return place;
            }
        }
        return NO_PSN;
    }

    /** The value before the operation. */
    long value(int place) {
        return values[place];
    }
}
