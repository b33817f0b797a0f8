package io.softdpu.core.sync;

import io.softdpu.core.sync.wire.EventCounter;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Operations of one thread on a counter; each update wakes those who wait. Allocates nothing.
 *
 * <p>An update looks at the pages of other processes, which leave at any time. So it announces the
 * version of their list first, and the pages of that list stay mapped until it has looked: the JVM
 * sets the interrupt flag of a thread that accesses memory whose arena another thread closes, also
 * where the access succeeds.
 */
class CounterAccess {
    private static final long NONE = Long.MAX_VALUE;
    private static final VarHandle ANNOUNCED;
    private static final VarHandle BUSY;

    static {
        try {
            ANNOUNCED =
                    MethodHandles.lookup()
                            .findVarHandle(CounterAccess.class, "announced", long.class);
            BUSY = MethodHandles.lookup().findVarHandle(CounterAccess.class, "busy", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventHandle handle;

    /** The counter, which an operation reaches without the handle. */
    private final MemorySegment counter;

    /** Version of the oldest list that the update may see, or {@link #NONE} between updates. */
    private volatile long announced = NONE;

    /** Whether a thread is in {@link #changed}. */
    @SuppressWarnings("unused") // through BUSY
    private volatile boolean busy;

    CounterAccess(EventHandle handle) {
        this.handle = handle;
        this.counter = handle.memory();
    }

    final EventHandle handle() {
        return handle;
    }

    /** The value. */
    long get() {
        return EventCounter.get(counter);
    }

    /** Sets the value and wakes those who wait. */
    void set(long value) {
        announce();
        try {
            EventCounter.set(counter, value);
            handle.updated();
        } finally {
            ANNOUNCED.setRelease(this, NONE);
        }
    }

    /** Adds to the value, wakes those who wait, and returns the value before. */
    long add(long increment) {
        announce();
        try {
            long before = EventCounter.add(counter, increment);
            handle.updated();
            return before;
        } finally {
            ANNOUNCED.setRelease(this, NONE);
        }
    }

    /**
     * Wakes those who wait, after an adapter has changed the counter, perhaps by a plain store. Any
     * thread; not used beside {@link #set} and {@link #add} of the same access.
     *
     * @return false, without effect, while another thread is in this call
     */
    boolean changed() {
        if (!BUSY.compareAndSet(this, false, true)) {
            return false;
        }
        announce();
        // The change and the announcement come before the requests and the list are read.
        VarHandle.fullFence();
        try {
            handle.updated();
        } finally {
            ANNOUNCED.setRelease(this, NONE);
            BUSY.setRelease(this, false);
        }
        return true;
    }

    /**
     * Needs no fence of its own: the update of the counter follows, before the list is read. See
     * {@link EventHandle#oldestAnnounced}.
     */
    private void announce() {
        ANNOUNCED.setRelease(this, handle.peersVersion());
    }

    /** Version of the oldest list of peers that an update which has begun may see. Any thread. */
    long announced() {
        return announced;
    }
}
