package io.softdpu.linux.event;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Queue of the timers that are set: a binary heap in which each timer knows its index, so that any
 * can be moved or removed in logarithmic time, and a list of those that are due.
 */
final class TimerQueue {
    private static final int INITIAL_CAPACITY = 16;

    private @Nullable Timer[] heap = new @Nullable Timer[INITIAL_CAPACITY];
    private int size;
    private long sequence;
    private @Nullable Timer firstDue;
    private @Nullable Timer lastDue;

    /** Whether the heap is empty. */
    boolean isEmpty() {
        return size == 0;
    }

    /** The nearest timer of the heap; there must be one. */
    Timer first() {
        return at(0);
    }

    /** Adds or moves a timer. */
    void set(Timer timer, long deadlineNanos) {
        if (timer.place == Timer.DUE) {
            unlink(timer);
        }
        timer.deadlineNanos = deadlineNanos;
        timer.sequence = ++sequence;
        if (timer.place >= 0) {
            settle(timer, timer.place);
            return;
        }
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        rise(timer, size++);
    }

    /** Removes a timer from heap or list. */
    void cancel(Timer timer) {
        if (timer.place == Timer.DUE) {
            unlink(timer);
        } else if (timer.place >= 0) {
            remove(timer);
        }
    }

    /** Moves due timers from the heap to the list, in the order of running. */
    void takeDue(long nowNanos) {
        while (size > 0 && first().deadlineNanos - nowNanos <= 0) {
            Timer timer = first();
            remove(timer);
            link(timer);
        }
    }

    /** Removes the next timer from the list. */
    @Nullable Timer nextDue() {
        Timer timer = firstDue;
        if (timer != null) {
            unlink(timer);
        }
        return timer;
    }

    private void link(Timer timer) {
        Timer last = lastDue;
        timer.place = Timer.DUE;
        timer.previous = last;
        lastDue = timer;
        if (last == null) {
            firstDue = timer;
        } else {
            last.next = timer;
        }
    }

    private void unlink(Timer timer) {
        Timer previous = timer.previous;
        Timer next = timer.next;
        if (previous == null) {
            firstDue = next;
        } else {
            previous.next = next;
        }
        if (next == null) {
            lastDue = previous;
        } else {
            next.previous = previous;
        }
        timer.previous = null;
        timer.next = null;
        timer.place = Timer.IDLE;
    }

    private void remove(Timer timer) {
        int hole = timer.place;
        timer.place = Timer.IDLE;
        Timer last = at(--size);
        heap[size] = null;
        if (hole != size) {
            settle(last, hole);
        }
    }

    /** Restores the heap order for a timer, from an index whose timer was removed or changed. */
    private void settle(Timer timer, int from) {
        if (from > 0 && timer.isBefore(at((from - 1) / 2))) {
            rise(timer, from);
        } else {
            sink(timer, from);
        }
    }

    private void rise(Timer timer, int from) {
        int place = from;
        while (place > 0) {
            int parent = (place - 1) / 2;
            Timer above = at(parent);
            if (!timer.isBefore(above)) {
                break;
            }
            put(above, place);
            place = parent;
        }
        put(timer, place);
    }

    private void sink(Timer timer, int from) {
        int place = from;
        while (2 * place + 1 < size) {
            int child = 2 * place + 1;
            Timer below = at(child);
            if (child + 1 < size && at(child + 1).isBefore(below)) {
                below = at(++child);
            }
            if (!below.isBefore(timer)) {
                break;
            }
            put(below, place);
            place = child;
        }
        put(timer, place);
    }

    private void put(Timer timer, int place) {
        heap[place] = timer;
        timer.place = place;
    }

    private Timer at(int place) {
        return Objects.requireNonNull(heap[place], "heap has no holes");
    }
}
