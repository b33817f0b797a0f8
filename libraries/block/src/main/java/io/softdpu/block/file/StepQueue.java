package io.softdpu.block.file;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Steps that wait for a thread of the device, the oldest first. The engine's thread adds; any
 * number of threads takes. Takes no lock, and allocates nothing after its construction.
 */
final class StepQueue {
    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findVarHandle(StepQueue.class, "head", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final AtomicReferenceArray<@Nullable Slot> places;
    private final int mask;

    /** Number of steps that were taken. */
    private volatile long head;

    /** Number of steps that were added. */
    private volatile long tail;

    /**
     * Creates an empty queue.
     *
     * @param capacity limit of steps that wait at a time, which the caller keeps
     */
    StepQueue(int capacity) {
        int length = capacity <= 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
        places = new AtomicReferenceArray<>(length);
        mask = length - 1;
    }

    /** Adds a step. The engine's thread. */
    void add(Slot slot) {
        long at = tail;
        places.setPlain((int) at & mask, slot);
        tail = at + 1; // publishes the place, and all of the step
    }

    /** Takes the oldest step. Any thread. */
    @Nullable Slot poll() {
        while (true) {
            long at = head;
            if (at >= tail) {
                return null;
            }
            // It is not overwritten before the head has passed it, and then the exchange fails.
            Slot slot = places.getAcquire((int) at & mask);
            if (HEAD.compareAndSet(this, at, at + 1)) {
                return slot;
            }
        }
    }

    /** Number of steps. The engine's thread: the others may take some meanwhile. */
    int size() {
        return (int) (tail - head);
    }

    /** Whether there is no step. Any thread. */
    boolean isEmpty() {
        return head >= tail;
    }
}
