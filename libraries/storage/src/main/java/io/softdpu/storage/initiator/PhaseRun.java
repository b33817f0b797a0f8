package io.softdpu.storage.initiator;

import io.softdpu.core.Status;
import io.softdpu.storage.option.OptionChecks;
import io.softdpu.storage.worker.Counter;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.RequestSource;
import org.HdrHistogram.Histogram;

/**
 * State of a phase on one worker, shared with the control thread. All memory for the data path is
 * allocated here, before the phase begins.
 *
 * <p>Fields other than the counters belong to the worker from {@code runPhase} to {@link #done},
 * whose volatile store publishes them to the control thread.
 */
final class PhaseRun {
    /** Upper bound of recorded latencies: one minute. */
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

    /** Set by the control thread to end the phase. */
    volatile boolean stop;

    /** Set by the worker when the phase has ended and nothing is in flight. */
    volatile boolean done;

    /**
     * Creates a run that has not begun.
     *
     * @param latencies the worker's histogram; reset here, after the previous phase
     */
    PhaseRun(Phase phase, int transactions, RequestSource source, Histogram latencies) {
        latencies.reset();
        this.latencies = latencies;
        this.source = source;
        this.transactions = transactions;
        this.operationLimit = phase.operations();
        this.nanosLimit = OptionChecks.nanos(phase.timeLimit());
        this.paceNanos = phase.pace().toNanos();
        this.endOnError = phase.endOnError();
    }

    /** Creates a histogram (half a megabyte), which all phases of a worker reuse. */
    static Histogram newLatencies() {
        return new Histogram(1, HIGHEST_LATENCY_NANOS, SIGNIFICANT_DIGITS);
    }

    /** Whether another request may be sent at this time. */
    boolean mayIssue(long nowNanos) {
        return !closed
                && !stop
                && issued < operationLimit
                && (nanosLimit == Long.MAX_VALUE || nowNanos - startNanos < nanosLimit);
    }

    /** End of a transaction's pause: its due time, or the end of the phase if that is earlier. */
    long pauseEndNanos(long dueNanos) {
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
