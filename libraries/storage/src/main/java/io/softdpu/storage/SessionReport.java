package io.softdpu.storage;

import io.softdpu.core.Status;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Report of a role on its session.
 *
 * @param role {@code target}, {@code zero-copy} or {@code initiator}
 * @param status how the session ended; SUCCESS also while it runs without a failure
 * @param failure the reason where it failed, else empty
 * @param workers one report a core
 * @param controlPayloadBytesCopied payload copied by the control thread's engine: none is expected
 * @param controlMessageBytesCopied message bytes copied by the control thread's engine
 */
public record SessionReport(
        String role,
        Status status,
        String failure,
        List<WorkerReport> workers,
        long controlPayloadBytesCopied,
        long controlMessageBytesCopied) {

    /** Takes a copy of the list. */
    public SessionReport {
        workers = List.copyOf(workers);
    }

    /** Operations of all workers. */
    public long operations() {
        return sum(WorkerReport::operations);
    }

    /** Failed operations of all workers. */
    public long errors() {
        return sum(WorkerReport::errors);
    }

    /** Rounds with work of all workers. */
    public long progressHits() {
        return sum(WorkerReport::progressHits);
    }

    /** Rounds without work of all workers. */
    public long progressMisses() {
        return sum(WorkerReport::progressMisses);
    }

    /** Payload bytes that this role's engines copied, the control thread's included. */
    public long payloadBytesCopied() {
        return controlPayloadBytesCopied + sum(WorkerReport::payloadBytesCopied);
    }

    /** Message bytes that this role's engines copied, the control thread's included. */
    public long messageBytesCopied() {
        return controlMessageBytesCopied + sum(WorkerReport::messageBytesCopied);
    }

    /** Heap that the workers' threads allocated while in the data path. */
    public long allocatedBytes() {
        return sum(WorkerReport::allocatedBytes);
    }

    private long sum(ToLongFunction<WorkerReport> field) {
        return workers.stream().mapToLong(field).sum();
    }
}
