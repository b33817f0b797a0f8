package io.softdpu.core.sync;

import io.softdpu.core.Status;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Waits in flight on one engine or work queue, in the order of submission. A pass loads the value
 * once, and compares only if that has changed or a wait was added. Allocates nothing. Belongs to
 * the thread.
 */
final class PendingWaits {
    private final @Nullable PendingWait[] waits;
    private final @Nullable PendingWait[] due;
    private int count;
    private long seen;
    private boolean added;

    PendingWaits(int capacity) {
        waits = new @Nullable PendingWait[capacity];
        due = new @Nullable PendingWait[capacity];
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Adds a wait; there are fewer than the capacity. */
    void add(PendingWait wait) {
        waits[count++] = wait;
        added = true;
    }

    /** Whether a wait was added that no value has been compared with. */
    boolean hasNew() {
        return added;
    }

    /** The value that all were compared with last. */
    long seen() {
        return seen;
    }

    /**
     * Completes those that a value ends; the callbacks of tasks run here, and may add waits.
     *
     * @return whether there were any
     */
    boolean progress(long value) {
        if (value == seen && !added) {
            return false;
        }
        seen = value;
        added = false;
        int kept = 0;
        int ended = 0;
        for (int i = 0; i < count; i++) {
            PendingWait wait = Objects.requireNonNull(waits[i], "no gaps");
            if (wait.isMet(value)) {
                due[ended++] = wait;
            } else {
                waits[kept++] = wait;
            }
        }
        Arrays.fill(waits, kept, count, null);
        count = kept;
        for (int i = 0; i < ended; i++) {
            PendingWait wait = Objects.requireNonNull(due[i], "was put here");
            due[i] = null;
            wait.met(value);
        }
        return ended > 0;
    }

    /** Completes all with a failure; the callbacks of tasks run here. */
    void flush(Status how) {
        int ended = count;
        System.arraycopy(waits, 0, due, 0, ended);
        Arrays.fill(waits, 0, ended, null);
        count = 0;
        for (int i = 0; i < ended; i++) {
            PendingWait wait = Objects.requireNonNull(due[i], "was put here");
            due[i] = null;
            wait.failed(how);
        }
    }
}
