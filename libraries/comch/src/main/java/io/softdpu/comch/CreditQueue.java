package io.softdpu.comch;

import io.softdpu.fabric.ring.FastPathProducer;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Queue of the producers of this process that wait for buffers of one consumer of the peer. A
 * posted buffer is kept for each that waits, in the order in which they found none, so that none of
 * them starves however fast the others send.
 *
 * <p>Any thread; takes no lock, and allocates nothing after its creation. A place is the number of
 * a wait; its entry is empty once the buffer is claimed. The queue ends where all places up to the
 * last one are empty.
 */
final class CreditQueue {
    /** {@link CreditWaiter#place} of a producer that does not wait. */
    static final long NO_PLACE = -1;

    /**
     * Time after which a buffer that is kept for a producer may be claimed by others: its thread
     * does something else. More than a thread is normally kept from running by others.
     */
    static final long KEEP_NANOS = 100_000_000L;

    /** Entries: more than there can be producers; a power of two. */
    private static final int ENTRIES = 2 * ConsumerRegistry.MAX_PRODUCERS;

    private final FastPathProducer ring;
    private final LongSupplier nanoClock;
    private final AtomicReferenceArray<@Nullable CreditWaiter> entries =
            new AtomicReferenceArray<>(ENTRIES);
    private final AtomicLong first = new AtomicLong();
    private final AtomicLong next = new AtomicLong();

    /**
     * Creates an empty queue.
     *
     * @param nanoClock as {@link System#nanoTime}
     */
    CreditQueue(FastPathProducer ring, LongSupplier nanoClock) {
        this.ring = ring;
        this.nanoClock = nanoClock;
    }

    /** Whether a producer may claim a buffer now: none of those posted is kept for others. */
    boolean mayClaim(CreditWaiter waiter) {
        while (!isEmpty() && !ring.isClosing()) {
            long available = ring.available();
            if (available > ahead(waiter, available)) {
                return true;
            }
            if (available == 0 || !removedFirst()) {
                return false;
            }
        }
        return true; // a claim tells why there is no buffer
    }

    /** Whether all buffers that are posted are kept for others. */
    boolean isKeptForOthers(CreditWaiter waiter) {
        return ring.available() > 0 && !mayClaim(waiter);
    }

    /** Takes a place at the end; does nothing if the producer has one. The producer's thread. */
    void enter(CreditWaiter waiter) {
        if (isQueued(waiter)) {
            return;
        }
        long place = next.get();
        while (!next.compareAndSet(place, place + 1)) {
            place = next.get();
        }
        if (place - first.get() >= ENTRIES) {
            removeFirst(place - ENTRIES);
        }
        waiter.keptSinceNanos = 0;
        waiter.place = place;
        entries.set(index(place), waiter);
    }

    /** Gives up the place, if there is one. The producer's thread. */
    void leave(CreditWaiter waiter) {
        long place = waiter.place;
        waiter.place = NO_PLACE;
        if (place != NO_PLACE && entries.compareAndSet(index(place), waiter, null)) {
            skipEmpty();
            if (!isEmpty()) {
                wakeWaiters();
            }
        }
    }

    /**
     * Requests a doorbell for the next buffer. The producer's thread, after it has announced its
     * sleep.
     *
     * @return true if it may claim a buffer already
     */
    boolean arm(CreditWaiter waiter) {
        enter(waiter); // others may have removed it
        ring.arm();
        return mayClaim(waiter);
    }

    /** Cancels the request of {@link #arm}, unless others wait too. */
    void disarm() {
        if (next.get() - first.get() > 1) {
            return;
        }
        ring.disarm();
        VarHandle.fullFence();
        if (next.get() - first.get() > 1) { // another one has entered, and may have armed before
            ring.arm();
            wakeWaiters();
        }
    }

    /**
     * Wakes the producers that buffers are kept for, and requests the next doorbell if others wait.
     * After a doorbell, which ends the request of all of them.
     */
    void wakeWaiters() {
        long available;
        do {
            available = ring.isClosing() ? Long.MAX_VALUE : ring.available();
            if (wake(available)) {
                return;
            }
            ring.arm();
        } while (ring.isClosing() || ring.available() > available);
    }

    /** Wakes the first waiters; whether these were all. */
    private boolean wake(long count) {
        skipEmpty();
        long woken = 0;
        long end = next.get();
        for (long place = first.get(); place < end; place++) {
            CreditWaiter waiter = at(place);
            if (waiter != null) {
                if (woken == count) {
                    return false;
                }
                waiter.wake();
                woken++;
            }
        }
        return true;
    }

    /** True if no producer is queued. Any thread. */
    boolean isEmpty() {
        return first.get() == next.get();
    }

    private boolean isQueued(CreditWaiter waiter) {
        long place = waiter.place;
        return place != NO_PLACE && place >= first.get() && at(place) == waiter;
    }

    /** Number of producers that buffers are kept for before this one, counted up to a limit. */
    private long ahead(CreditWaiter waiter, long limit) {
        long end = isQueued(waiter) ? waiter.place : next.get();
        long ahead = 0;
        for (long place = first.get(); place < end && ahead < limit; place++) {
            if (at(place) != null) {
                ahead++;
            }
        }
        return ahead;
    }

    /** Removes the first waiter if it has not claimed its buffer for a long time. */
    private boolean removedFirst() {
        long place = first.get();
        CreditWaiter waiter = at(place);
        if (waiter == null) {
            skipEmpty();
            return true;
        }
        long now = nanoClock.getAsLong();
        long since = waiter.keptSinceNanos;
        if (since == 0) {
            waiter.keptSinceNanos = now == 0 ? 1 : now;
            return false;
        }
        if (now - since < KEEP_NANOS) {
            return false;
        }
        removeFirst(place);
        return true;
    }

    /** Removes the waiter of a place; it takes another one when it is polled or sleeps again. */
    private void removeFirst(long place) {
        CreditWaiter waiter = at(place);
        if (waiter != null) {
            entries.compareAndSet(index(place), waiter, null);
            waiter.wake();
        }
        skipEmpty();
    }

    /** Advances the first place over empty entries. */
    private void skipEmpty() {
        long place = first.get();
        while (place < next.get() && at(place) == null) {
            if (first.compareAndSet(place, place + 1)) {
                CreditWaiter entered = at(place); // after it was seen to be empty: takes another
                if (entered != null) {
                    entered.wake();
                }
            }
            place = first.get();
        }
    }

    private @Nullable CreditWaiter at(long place) {
        CreditWaiter waiter = entries.get(index(place));
        return waiter != null && waiter.place == place ? waiter : null;
    }

    private static int index(long place) {
        return (int) (place & (ENTRIES - 1));
    }
}
