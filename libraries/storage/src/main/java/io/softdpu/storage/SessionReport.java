package io.softdpu.storage;

import io.softdpu.core.Status;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Report of a role about its session.
 *
 * @param role {@code target}, {@code zero-copy} or {@code initiator}
 * @param status result of the session; SUCCESS also while it runs without a failure
 * @param failure the reason of a failure, else empty
 * @param workers one report per worker
 * @param controlPayloadBytesCopied payload bytes copied by the control thread's engine; 0 is
 *     expected
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

    /** Whether the role looks at the messages: the service passes them on, and counts no kinds. */
    public boolean looksAtMessages() {
        return !role.equals("zero-copy");
    }

    /**
     * Name of the RDMA provider that serves the connections of all workers, or of each; empty
     * before they are connected, and for an initiator, which has none.
     */
    public String provider() {
        return workers.stream()
                .map(WorkerReport::provider)
                .filter(name -> !name.isEmpty())
                .distinct()
                .collect(Collectors.joining(", "));
    }

    /**
     * The lowest path MTU of the connections of all workers in bytes; 0 where {@link #provider} is
     * empty.
     */
    public int pathMtuBytes() {
        return workers.stream()
                .mapToInt(WorkerReport::pathMtuBytes)
                .filter(bytes -> bytes > 0)
                .min()
                .orElse(0);
    }

    /** What that provider has counted for all workers until the end of their data paths. */
    public RdmaCounters counters() {
        return workers.stream()
                .map(WorkerReport::counters)
                .reduce(RdmaCounters.NONE, RdmaCounters::with);
    }

    /** Operations of all workers. */
    public long operations() {
        return sum(WorkerReport::operations);
    }

    /** Completed reads of all workers. */
    public long reads() {
        return sum(WorkerReport::reads);
    }

    /** Completed writes of all workers. */
    public long writes() {
        return sum(WorkerReport::writes);
    }

    /** Payload bytes that the operations of all workers have moved. */
    public long payloadBytes() {
        return sum(WorkerReport::payloadBytes);
    }

    /** Tasks of all workers that a full work queue refused at first. */
    public long refusedSubmissions() {
        return sum(WorkerReport::refusedSubmissions);
    }

    /** Duration of the longest data path; zero before its end. */
    public Duration dataPathDuration() {
        return workers.stream()
                .map(WorkerReport::dataPathDuration)
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    /** Failed operations of all workers. */
    public long errors() {
        return sum(WorkerReport::errors);
    }

    /** Progress rounds of all workers that found work. */
    public long progressHits() {
        return sum(WorkerReport::progressHits);
    }

    /** Progress rounds of all workers that found no work. */
    public long progressMisses() {
        return sum(WorkerReport::progressMisses);
    }

    /** Payload bytes that this role's engines copied, the control thread's included. */
    public long payloadBytesCopied() {
        return controlPayloadBytesCopied + sum(WorkerReport::payloadBytesCopied);
    }

    /**
     * Payload bytes that NICs of this process copied out of packets, which are none of {@link
     * #payloadBytesCopied()}; 0 before the end of the data path.
     */
    public long nicPayloadBytesCopied() {
        return sum(WorkerReport::nicPayloadBytesCopied);
    }

    /** Message bytes that this role's engines copied, the control thread's included. */
    public long messageBytesCopied() {
        return controlMessageBytesCopied + sum(WorkerReport::messageBytesCopied);
    }

    /** Heap bytes that the workers' threads allocated in the data path. */
    public long allocatedBytes() {
        return sum(WorkerReport::allocatedBytes);
    }

    private long sum(ToLongFunction<WorkerReport> field) {
        return workers.stream().mapToLong(field).sum();
    }
}
