package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.FixedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Queue of the copies in flight on one thread, served round-robin: each pass copies at most a
 * slice, and an unfinished copy is moved to the end of the queue, so that small ones do not wait
 * for a large one. Belongs to that thread; allocates nothing.
 */
final class CopyQueue {
    /**
     * Minimum size that a copy is counted with, so that a pass of many small ones is bounded, too.
     */
    private static final long MIN_COUNTED_BYTES = 256;

    private final FixedQueue<Copy> copies;

    /**
     * Creates an empty queue.
     *
     * @param capacity limit of copies in flight
     */
    CopyQueue(int capacity) {
        this.copies = new FixedQueue<>(capacity);
    }

    boolean isEmpty() {
        return copies.isEmpty();
    }

    /** Adds a copy that has begun; the queue is not full. */
    void add(Copy copy) {
        copies.add(copy);
    }

    /**
     * Copies a slice, and completes finished copies; a failed copy ends the pass.
     *
     * @return the failed copy, which the caller ends; null if none
     */
    @Nullable Copy progress(Copier copier) {
        int turns = copies.size(); // copies submitted by a callback wait for the next pass
        long budget = Copier.SLICE_BYTES;
        while (turns > 0 && budget > 0) {
            turns--;
            Copy copy = copies.remove();
            long copied = copy.advance(copier, budget);
            if (copied == Copy.FAILED) {
                return copy;
            }
            budget -= Math.max(copied, MIN_COUNTED_BYTES);
            if (copy.isDone()) {
                copy.end();
                if (!copy.owner().copied(Status.SUCCESS)) {
                    return null;
                }
            } else {
                copies.add(copy);
            }
        }
        return null;
    }

    /** Completes all with this failure. */
    void flush(Status status) {
        while (!copies.isEmpty()) {
            Copy copy = copies.remove();
            copy.end();
            copy.owner().copied(status); // its result is ignored: nothing is copied any more
        }
    }
}
