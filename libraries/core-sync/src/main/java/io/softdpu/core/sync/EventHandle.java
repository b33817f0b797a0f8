package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.fabric.memory.SharedSegment;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Counter of a sync event as one handle uses it, and the wake-up of those who wait for it. Any
 * thread. An update costs one atomic operation, two stores of its own and a few loads if no thread
 * sleeps, and neither allocates nor takes a lock.
 */
abstract sealed class EventHandle permits CpuHandle, DpuHandle {
    /** Threads of this process that wait through this handle. */
    final Sleepers sleepers = new Sleepers();

    /** Serialises arming with the arrival of peers and with the requests in their pages. */
    final Object arming = new Object();

    private final MemorySegment counter;
    private final List<CounterAccess> accesses = new CopyOnWriteArrayList<>();

    EventHandle(SharedSegment memory) {
        this.counter = memory.segment();
    }

    /** The counter, for what updates it. */
    final MemorySegment memory() {
        return counter;
    }

    /** The value. */
    final long get() {
        return EventCounter.get(counter);
    }

    // ---- updates, by a CounterAccess ----

    /** Wakes those who wait, after an update. */
    final void updated() {
        if (sleepers.anyArmed()) {
            int _ = sleepers.wakeChanged(get());
        }
        wakePeers();
    }

    /** Wakes threads of other processes, or the process that does. */
    abstract void wakePeers();

    /** Version of the list of peers at whose pages an update looks; written after the list. */
    abstract long peersVersion();

    /** The operations of a thread, until {@link #remove}. */
    final CounterAccess newAccess() {
        return add(new CounterAccess(this));
    }

    /** Adds an access to this handle, as {@link #newAccess}. */
    final <T extends CounterAccess> T add(T added) {
        accesses.add(added);
        return added;
    }

    /** The thread uses the counter no more. */
    final void remove(CounterAccess removed) {
        accesses.remove(removed);
    }

    /**
     * Version of the oldest list of peers that any update may see. Any thread, after it has
     * replaced the list: an update announces, changes the counter, reads the list. If it changes
     * the counter before this reads it, its announcement is seen here, and otherwise it sees the
     * new list. An adapter announces after its change, with a full fence before it reads the list.
     */
    final long oldestAnnounced() {
        long _ = get();
        long oldest = Long.MAX_VALUE;
        for (CounterAccess access : accesses) {
            oldest = Math.min(oldest, access.announced());
        }
        return oldest;
    }

    // ---- for those who wait ----

    /** SUCCESS, or why the handle cannot be used any more: SHUTDOWN or CONNECTION_RESET. */
    abstract Status ended();

    /**
     * Refuses an operation of a handle that has ended.
     *
     * @param event for the message
     * @throws DpuException SHUTDOWN, CONNECTION_RESET
     */
    final void requireUsable(SyncEvent event) {
        Status ended = ended();
        if (ended != Status.SUCCESS) {
            throw new DpuException(ended, endedText(ended, event));
        }
    }

    /** The reason of an ended handle, for messages. */
    static String endedText(Status ended, SyncEvent event) {
        return (ended == Status.SHUTDOWN
                        ? "sync event was destroyed"
                        : "process of the CPU handle has ended")
                + ": event="
                + event;
    }

    /**
     * Requests that a thread, which sleeps next, is woken by the next change of the counter.
     *
     * @param seen the value that it has seen last
     * @return true if the counter has changed already, or the handle has ended: do not sleep
     * @throws DpuException OPERATING_SYSTEM if its doorbells cannot be listened for
     */
    abstract boolean arm(Sleeper sleeper, long seen);

    /** Cancels {@link #arm}. */
    abstract void disarm(Sleeper sleeper);

    /** Listens to handles that were created since, if the thread has slept; in each progress. */
    abstract void refresh(Sleeper sleeper);

    /** Stops listening for a thread that will not sleep any more; on that thread. */
    final void detach(Sleeper sleeper) {
        disarm(sleeper);
        sleepers.remove(sleeper);
        sleeper.links.close();
    }

    /** Releases the counter; no thread uses the handle any more. Once. */
    abstract void close();
}
