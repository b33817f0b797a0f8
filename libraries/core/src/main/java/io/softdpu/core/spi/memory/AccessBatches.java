package io.softdpu.core.spi.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Batches of packets that one network adapter executes, one after the other: memory is accessed by
 * key inside a batch only, and who withdraws memory waits for the batch under way.
 *
 * <p>One thread at a time begins and ends batches, and the adapter hands over from one to the next.
 * A batch is short and bounded. Inside it nothing waits but for a short lock, no callback of a user
 * runs, and no mmap is stopped or closed. Nothing here allocates.
 */
public final class AccessBatches {
    private static final VarHandle TURN;

    static {
        try {
            TURN = MethodHandles.lookup().findVarHandle(AccessBatches.class, "turn", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A batch of an adapter that polls takes microseconds. */
    private static final int SPINS = 1_000;

    /** For the scheduler, on a machine that has more threads than cores. */
    private static final int YIELDS = 1_000;

    private static final long PARK_NANOS = 100_000;

    /**
     * A minute and more, far beyond each batch: one that lasts longer was never ended, which is a
     * defect. Not a point in time, which passes while the process is stopped.
     */
    private static final int PARKS = 600_000;

    private final String name;

    /** Odd while a batch is under way; changed through TURN. */
    private volatile long turn;

    /** The thread of the batch under way. */
    private volatile @Nullable Thread thread;

    /**
     * Batches of an adapter.
     *
     * @param name of the adapter, for messages
     */
    public AccessBatches(String name) {
        this.name = name;
    }

    /**
     * Begins a batch: memory that was withdrawn before is not found in it.
     *
     * @throws IllegalStateException if one is under way
     */
    public void begin() {
        if (isUnderWay()) {
            throw new IllegalStateException("batch is under way: " + this);
        }
        thread = Thread.currentThread();
        // A full fence follows, so that either the look-ups see a withdrawal, or that sees this.
        TURN.setVolatile(this, turn + 1);
    }

    /**
     * Ends the batch: nothing changes memory that was found in it.
     *
     * @throws IllegalStateException if none is under way
     */
    public void end() {
        if (!isUnderWay()) {
            throw new IllegalStateException("no batch is under way: " + this);
        }
        TURN.setRelease(this, turn + 1);
    }

    /** Whether a batch is under way. An adapter ends one that an error has left so. */
    public boolean isUnderWay() {
        return (turn & 1) != 0;
    }

    /**
     * Waits for the end of the batch under way, if there is one; not for later ones.
     *
     * @throws IllegalStateException if it is that of the calling thread, or does not end
     */
    void awaitEnd() {
        awaitEnd(PARKS);
    }

    @SuppressWarnings({
        "ReferenceEquality", // threads are objects, not values
        "ThreadPriorityCheck" // to let the thread of the batch run
    })
    void awaitEnd(int maxParks) {
        long seen = turn;
        if ((seen & 1) == 0) {
            return;
        }
        if (thread == Thread.currentThread()) {
            throw new IllegalStateException("wait for a batch inside it: " + this);
        }
        for (int looks = 0; turn == seen; looks++) {
            if (looks < SPINS) {
                Thread.onSpinWait();
            } else if (looks < SPINS + YIELDS) {
                Thread.yield();
            } else if (looks - SPINS - YIELDS < maxParks) {
                LockSupport.parkNanos(PARK_NANOS);
            } else {
                throw new IllegalStateException("batch does not end: " + this);
            }
        }
    }

    /** Its name and the thread of the batch under way, for messages. */
    @Override
    public String toString() {
        Thread last = thread;
        return "adapter=" + name + (isUnderWay() && last != null ? ", thread=" + last : "");
    }
}
