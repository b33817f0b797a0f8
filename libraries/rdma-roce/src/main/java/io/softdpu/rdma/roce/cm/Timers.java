package io.softdpu.rdma.roce.cm;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines of connections: a binary heap, in which each timer knows its place, so that a change
 * costs no search. Times are compared by their difference, since the clock may overflow.
 */
final class Timers {
    private static final int FIRST_CAPACITY = 16;

    private @Nullable CmTimer[] heap = new @Nullable CmTimer[FIRST_CAPACITY];
    private int size;

    /** The timer with the earliest deadline; null if there is none. */
    @Nullable CmTimer first() {
        return heap[0];
    }

    int size() {
        return size;
    }

    /** Sets or changes the deadline of a timer. */
    void set(CmTimer timer, long nanos) {
        timer.deadline = nanos;
        int at = timer.index;
        if (at < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, 2 * size);
            }
            at = size++;
            put(timer, at);
        }
        up(timer, at);
        down(timer, timer.index);
    }

    /** Removes the deadline of a timer, if it has one. */
    void cancel(CmTimer timer) {
        int at = timer.index;
        if (at < 0) {
            return;
        }
        timer.index = -1;
        CmTimer last = heap[--size];
        heap[size] = null;
        if (last != null && last != timer) {
            put(last, at);
            up(last, at);
            down(last, last.index);
        }
    }

    private void put(CmTimer timer, int at) {
        heap[at] = timer;
        timer.index = at;
    }

    private void up(CmTimer moved, int from) {
        int at = from;
        while (at > 0) {
            int parent = (at - 1) / 2;
            CmTimer above = heap[parent];
            if (above == null || isBefore(above, moved)) {
                break;
            }
            put(above, at);
            at = parent;
        }
        put(moved, at);
    }

    private void down(CmTimer moved, int from) {
        int at = from;
        while (2 * at + 1 < size) {
            int child = 2 * at + 1;
            CmTimer below = heap[child];
            CmTimer other = child + 1 < size ? heap[child + 1] : null;
            if (below != null && other != null && isBefore(other, below)) {
                below = other;
                child++;
            }
            if (below == null || isBefore(moved, below)) {
                break;
            }
            put(below, at);
            at = child;
        }
        put(moved, at);
    }

    private static boolean isBefore(CmTimer one, CmTimer other) {
        return one.deadline - other.deadline <= 0;
    }
}
