package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.FixedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Queue of the operations in flight on one thread, served round-robin: each pass processes at most
 * a slice, and an unfinished operation is moved to the end of the queue, so that small ones do not
 * wait for a large one. Belongs to that thread; allocates nothing.
 */
final class OperationQueue {
    /**
     * Minimum size that an operation is counted with, so that a pass of many small ones is bounded,
     * too.
     */
    private static final long MIN_COUNTED_BYTES = 256;

    private final FixedQueue<BufOperation> operations;
    private final long sliceBytes;

    /**
     * Creates an empty queue.
     *
     * @param capacity limit of operations in flight
     * @param sliceBytes limit of bytes per pass
     */
    OperationQueue(int capacity, long sliceBytes) {
        this.operations = new FixedQueue<>(capacity);
        this.sliceBytes = sliceBytes;
    }

    boolean isEmpty() {
        return operations.isEmpty();
    }

    /** Adds an operation that has begun; the queue is not full. */
    void add(BufOperation operation) {
        operations.add(operation);
    }

    /**
     * Processes a slice, and completes finished operations; a failed one ends the pass.
     *
     * @return the failed operation, which the caller ends; null if none
     */
    @Nullable BufOperation progress(Copier copier) {
        int turns = operations.size(); // those submitted by a callback wait for the next pass
        long budget = sliceBytes;
        while (turns > 0 && budget > 0) {
            turns--;
            BufOperation operation = operations.remove();
            long processed = operation.advance(copier, budget);
            if (processed == BufOperation.FAILED) {
                return operation;
            }
            budget -= Math.max(processed, MIN_COUNTED_BYTES);
            if (operation.isDone()) {
                operation.end();
                if (!operation.owner().ended(Status.SUCCESS)) {
                    return null;
                }
            } else {
                operations.add(operation);
            }
        }
        return null;
    }

    /** Completes all with this failure. */
    void flush(Status status) {
        while (!operations.isEmpty()) {
            BufOperation operation = operations.remove();
            operation.end();
            operation.owner().ended(status); // its result is ignored: nothing more is processed
        }
    }
}
