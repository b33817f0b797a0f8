package io.softdpu.block.spi;

import io.softdpu.core.Status;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Completions that other threads report to the thread of an engine, and the end of its sleep. Any
 * number of threads adds; the engine's thread takes.
 *
 * <p>A request is its own place in the queue, which so has room for all of them, and allocates
 * nothing: the newest is at the head of a chain that the engine's thread takes as a whole.
 */
public final class CompletionQueue {
    private static final VarHandle NEWEST;
    private static final VarHandle ARMED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            NEWEST = lookup.findVarHandle(CompletionQueue.class, "newest", BlockRequest.class);
            ARMED = lookup.findVarHandle(CompletionQueue.class, "armed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Runnable wake;

    private volatile @Nullable BlockRequest newest;

    /** Whether the engine's thread may be asleep, or about to be. */
    private volatile boolean armed;

    /**
     * Requests that were taken and are not completed yet, the oldest first. The engine's thread.
     */
    private @Nullable BlockRequest oldest;

    /** Requests that were handed over and are not completed yet. The engine's thread. */
    private int inFlight;

    /**
     * Creates an empty queue.
     *
     * @param wake ends the sleep of the engine, {@link io.softdpu.core.spi.ContextServices#wake()
     *     services::wake}; called by any thread
     */
    public CompletionQueue(Runnable wake) {
        this.wake = wake;
    }

    /** Counts a request that was handed over to another thread. The engine's thread. */
    public void handedOver() {
        inFlight++;
    }

    /**
     * Number of requests that were handed over and are not completed yet: while there is one, a
     * channel has not stopped. The engine's thread.
     */
    public int inFlight() {
        return inFlight;
    }

    /**
     * Reports the end of a request that was handed over, once. Any thread; afterwards this thread
     * does not use the request or its memory. Takes no lock.
     *
     * <p>The compare-and-set and the load of the flag are volatile, as are the store of the flag
     * and the load of the head in {@link #arm()}: of a thread that adds and one that arms at the
     * same time, one sees the other.
     */
    public void add(BlockRequest request, Status result) {
        request.result = result;
        BlockRequest before;
        do {
            before = newest;
            request.next = before;
        } while (!NEWEST.compareAndSet(this, before, request));
        if (armed && ARMED.compareAndSet(this, true, false)) {
            wake.run();
        }
    }

    /**
     * Completes the requests that were reported, in the order of the reports. The engine's thread,
     * inside progress.
     *
     * @return whether there was any
     */
    public boolean complete() {
        if (oldest == null) {
            take();
        }
        boolean any = oldest != null;
        for (BlockRequest request = oldest; request != null; request = oldest) {
            oldest = request.next;
            inFlight--;
            request.next = null; // its callback may submit it again, and it may end at once
            request.complete(request.result);
        }
        return any;
    }

    private void take() {
        if (newest == null) {
            return;
        }
        BlockRequest request = (BlockRequest) NEWEST.getAndSet(this, null);
        while (request != null) {
            BlockRequest older = request.next;
            request.next = oldest;
            oldest = request;
            request = older;
        }
    }

    /**
     * Asks for the end of the sleep that begins now, for the next report. The engine's thread.
     *
     * @return true if there is a report already: do not sleep
     */
    public boolean arm() {
        armed = true;
        return newest != null || oldest != null;
    }

    /** Reverts {@link #arm()}. The engine's thread. */
    public void disarm() {
        armed = false;
    }
}
