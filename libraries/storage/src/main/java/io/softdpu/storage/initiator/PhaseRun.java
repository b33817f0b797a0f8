package io.softdpu.storage.initiator;

import io.softdpu.core.Status;
import io.softdpu.storage.worker.Counter;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.RequestSource;
import org.HdrHistogram.Histogram;

/**
 * A phase on one core: what the control thread hands over and gets back. Everything that the data
 * path needs is allocated here, before it begins.
 *
 * <p>The fields that are no counters belong to the worker from {@code runPhase} until {@link
 * #done}; that volatile store publishes them to the control thread.
 */
final class PhaseRun {
    /** Latencies above this count as this: nothing that is still alive takes a minute. */
    private static final long HIGHEST_LATENCY_NANOS = 60_000_000_000L;

    private static final int SIGNIFICANT_DIGITS = 3;

    final RequestSource source;
    final int transactions;
    final long operationLimit;
    final long nanosLimit;
    final long paceNanos;
    final boolean endOnError;

    final Histogram latencies;
    final Counter operations = new Counter();
    final Counter payloadBytes = new Counter();

    long issued;
    long errors;
    int firstErrorCode;
    long firstErrorOffset;
    int firstErrorSize;
    boolean closed;
    long startNanos;
    long endNanos;

    /** Set by the control thread: no more requests. */
    volatile boolean stop;

    /** Set by the worker: nothing is in flight any more. */
    volatile boolean done;

    /**
     * A run that has not begun.
     *
     * @param latencies the worker's; emptied here, since its phase before this one is over
     */
    PhaseRun(Phase phase, int transactions, RequestSource source, Histogram latencies) {
        latencies.reset();
        this.latencies = latencies;
        this.source = source;
        this.transactions = transactions;
        this.operationLimit = phase.operations();
        this.nanosLimit = phase.nanos();
        this.paceNanos = phase.paceNanos();
        this.endOnError = phase.endOnError();
    }

    /** A histogram for one phase after the other: a new one each time would be half a megabyte. */
    static Histogram newLatencies() {
        return new Histogram(1, HIGHEST_LATENCY_NANOS, SIGNIFICANT_DIGITS);
    }

    /** Whether another request may be sent at this moment. */
    boolean mayIssue(long nowNanos) {
        return !closed
                && !stop
                && issued < operationLimit
                && (nanosLimit == Long.MAX_VALUE || nowNanos - startNanos < nanosLimit);
    }

    /** When a transaction that rests is looked at again: at its turn, or at the phase's end. */
    long restEndNanos(long dueNanos) {
        return nanosLimit == Long.MAX_VALUE || dueNanos - startNanos < nanosLimit
                ? dueNanos
                : startNanos + nanosLimit;
    }

    void completed(long latencyNanos, long bytes) {
        operations.add(1);
        payloadBytes.add(bytes);
        latencies.recordValue(Math.clamp(latencyNanos, 1, HIGHEST_LATENCY_NANOS));
    }

    void failed(long latencyNanos, int code, long storageOffset, int sizeBytes) {
        completed(latencyNanos, 0);
        if (errors++ == 0) {
            firstErrorCode = code;
            firstErrorOffset = storageOffset;
            firstErrorSize = sizeBytes;
        }
        if (endOnError) {
            closed = true;
        }
    }

    Status firstError() {
        return Status.ofCode(firstErrorCode);
    }
}
