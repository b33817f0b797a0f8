package io.softdpu.core.internal.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Bounded queue of work that users post to an engine: a ring without locks, which allocates nothing
 * after it was created. Any thread offers; the engine's thread takes, in the order of the offers.
 */
final class PostedWork {
    /** Limit of work that waits: far more than an engine that makes progress leaves. */
    static final int CAPACITY = 1024;

    /** Results of {@link #offer}. */
    enum Offer {
        ACCEPTED,
        FULL,
        CLOSED
    }

    private static final int MASK = CAPACITY - 1;
    private static final long CLOSED = Long.MIN_VALUE;

    private final AtomicReferenceArray<@Nullable Runnable> slots =
            new AtomicReferenceArray<>(CAPACITY);

    /** Number of the next offer, and {@link #CLOSED}. */
    private final AtomicLong tail = new AtomicLong();

    /** Number of the next piece to take; its slot is empty again before this passes it. */
    private final AtomicLong head = new AtomicLong();

    /** Adds work, unless the queue is full or closed. Any thread. */
    Offer offer(Runnable work) {
        long at;
        do {
            at = tail.get();
            if (at < 0) {
                return Offer.CLOSED;
            }
            if (at - head.get() >= CAPACITY) {
                return Offer.FULL;
            }
        } while (!tail.compareAndSet(at, at + 1));
        slots.set((int) at & MASK, work);
        return Offer.ACCEPTED;
    }

    /** Whether nothing can be taken now: two reads. */
    boolean isEmpty() {
        return slots.get((int) head.getPlain() & MASK) == null;
    }

    /** Number of pieces that were offered and not yet taken. */
    int size() {
        return (int) ((tail.get() & ~CLOSED) - head.get());
    }

    /** Takes the next piece; null if there is none, or its offer is not complete. */
    @Nullable Runnable take() {
        long at = head.getPlain();
        int slot = (int) at & MASK;
        Runnable work = slots.get(slot);
        if (work != null) {
            slots.setRelease(slot, null);
            head.setRelease(at + 1);
        }
        return work;
    }

    /** Refuses offers from now on. What was accepted can be taken until {@link #size} is 0. */
    void close() {
        tail.getAndUpdate(at -> at | CLOSED);
    }
}
