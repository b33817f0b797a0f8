package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.spi.Copier;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The copies in flight on one thread, served in turn: each pass moves a slice at most, and a copy
 * that is not done by then goes to the end of the queue, so that small ones do not wait for a large
 * one. Belongs to that thread; allocates nothing.
 */
@SuppressWarnings("ReferenceEquality") // copies are objects, not values
final class CopyQueue {
    /** What the smallest copy is counted as, so that many small ones make a bounded pass, too. */
    private static final long LEAST_BYTES = 256;

    private final @Nullable Copy[] ring;
    private final int mask;
    private int head;
    private int queued;

    /**
     * An empty queue.
     *
     * @param capacity how many copies can be in flight
     */
    CopyQueue(int capacity) {
        int slots = capacity == 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
        this.ring = new @Nullable Copy[slots];
        this.mask = slots - 1;
    }

    boolean isEmpty() {
        return queued == 0;
    }

    /** Takes a copy that has begun; there is room for as many as the capacity says. */
    void add(Copy copy) {
        int slot = (head + queued) & mask;
        if (ring[slot] != copy) { // cheaper than a store of a reference, and mostly so
            ring[slot] = copy;
        }
        queued++;
    }

    /**
     * Copies a slice, and ends what is done; ends the pass where one has failed.
     *
     * @return the copy that has failed, which is still begun; null if none has
     */
    @Nullable Copy progress(Copier copier) {
        int turns = queued; // what a callback submits waits for the next pass
        long budget = Copier.SLICE_BYTES;
        while (turns > 0 && budget > 0) {
            turns--;
            Copy copy = take();
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
                add(copy);
            }
        }
        return null;
    }

    /** Ends all with this failure. */
    void flush(Status status) {
        while (queued > 0) {
            Copy copy = take();
            copy.end();
            copy.owner().copied(status); // all the same what it says: nothing is copied any more
        }
    }

    private Copy take() {
        Copy copy = Objects.requireNonNull(ring[head], "a queue without holes");
        head = (head + 1) & mask;
        queued--;
        return copy;
    }
}
