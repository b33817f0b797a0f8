package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.FixedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The copies in flight on one thread, served in turn: each pass moves a slice at most, and a copy
 * that is not done by then goes to the end of the queue, so that small ones do not wait for a large
 * one. Belongs to that thread; allocates nothing.
 */
final class CopyQueue {
    /** What the smallest copy is counted as, so that many small ones make a bounded pass, too. */
    private static final long LEAST_BYTES = 256;

    private final FixedQueue<Copy> copies;

    /**
     * An empty queue.
     *
     * @param capacity how many copies can be in flight
     */
    CopyQueue(int capacity) {
        this.copies = new FixedQueue<>(capacity);
    }

    boolean isEmpty() {
        return copies.isEmpty();
    }

    /** Takes a copy that has begun; there is room for as many as the capacity says. */
    void add(Copy copy) {
        copies.add(copy);
    }

    /**
     * Copies a slice, and ends what is done; ends the pass where one has failed.
     *
     * @return the copy that has failed, which is still begun; null if none has
     */
    @Nullable Copy progress(Copier copier) {
        int turns = copies.size(); // what a callback submits waits for the next pass
        long budget = Copier.SLICE_BYTES;
        while (turns > 0 && budget > 0) {
            turns--;
            Copy copy = copies.remove();
            long copied = copy.advance(copier, budget);
            if (copied == Copy.FAILED) {
                return copy;
            }
            budget -= Math.max(copied, LEAST_BYTES);
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

    /** Ends all with this failure. */
    void flush(Status status) {
        while (!copies.isEmpty()) {
            Copy copy = copies.remove();
            copy.end();
            copy.owner().copied(status); // all the same what it says: nothing is copied any more
        }
    }
}
