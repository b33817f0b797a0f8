package io.softdpu.storage.initiator;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.option.OptionChecks;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.worker.Counter;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.RequestSource;
import java.time.Duration;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

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

    final int worker;
    final RequestSource source;
    final IoType type;
    final int transactions;
    final long operationLimit;
    final long nanosLimit;
    final long paceNanos;
    final boolean endOnError;

    final Histogram latencies;

    /** Latencies from the due times; null in a phase that is not paced. */
    final @Nullable Histogram latenciesSinceDue;

    final Counter operations = new Counter();
    final Counter payloadBytes = new Counter();

    final Counter errors = new Counter();

    long issued;
    private final EngineCounts atBegin = new EngineCounts();
    private final EngineCounts atEnd = new EngineCounts();
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
     * @param worker index of the worker
     * @param latencies the worker's histogram; reset here, after the previous phase
     */
    PhaseRun(int worker, Phase phase, int transactions, RequestSource source, Histogram latencies) {
        latencies.reset();
        this.worker = worker;
        this.latencies = latencies;
        this.source = source;
        this.type = phase.type();
        this.transactions = transactions;
        this.operationLimit = phase.operations();
        this.nanosLimit = OptionChecks.nanos(phase.timeLimit());
        this.paceNanos = phase.pace().toNanos();
        this.endOnError = phase.endOnError();
        this.latenciesSinceDue = paceNanos > 0 ? newLatencies() : null;
    }

    /** Creates a histogram (half a megabyte), which all phases of a worker reuse. */
    static Histogram newLatencies() {
        return new Histogram(1, HIGHEST_LATENCY_NANOS, SIGNIFICANT_DIGITS);
    }

    /** Counts of an engine and its work queues at some time. */
    private static final class EngineCounts {
        long hits;
        long misses;
        long refused;

        void set(ProgressEngine engine, long refusedSubmissions) {
            hits = engine.hits();
            misses = engine.misses();
            refused = refusedSubmissions;
        }
    }

    /** Begins, on the worker's thread. */
    void begin(ProgressEngine engine, long refusedSubmissions) {
        atBegin.set(engine, refusedSubmissions);
        startNanos = System.nanoTime();
    }

    /** Counts what the engine has done until now. On the worker's thread, at the end. */
    void count(ProgressEngine engine, long refusedSubmissions) {
        atEnd.set(engine, refusedSubmissions);
    }

    /**
     * The report of its worker. On the control thread, after the end.
     *
     * @param endNanos the end if the phase was aborted
     */
    CoreReport report(int index, String cpu, long endNanos) {
        return new CoreReport(
                index,
                cpu,
                operations.get(),
                errors.get(),
                payloadBytes.get(),
                atEnd.refused - atBegin.refused,
                atEnd.hits - atBegin.hits,
                atEnd.misses - atBegin.misses,
                Duration.ofNanos((done ? this.endNanos : endNanos) - startNanos),
                LatencySummary.of(latencies),
                latenciesSinceDue == null ? null : LatencySummary.of(latenciesSinceDue));
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

    /** An operation has ended that was begun and due at these times, and moved these bytes. */
    void completed(long nowNanos, long beganNanos, long wasDueNanos, long bytes) {
        operations.add(1);
        payloadBytes.add(bytes);
        latencies.recordValue(recorded(nowNanos - beganNanos));
        if (latenciesSinceDue != null) {
            latenciesSinceDue.recordValue(recorded(nowNanos - wasDueNanos));
        }
    }

    private static long recorded(long latencyNanos) {
        return Math.clamp(latencyNanos, 1, HIGHEST_LATENCY_NANOS);
    }

    /** The operation that has {@link #completed} has failed. */
    void failed(int code, long storageOffset, int sizeBytes) {
        errors.add(1);
        if (errors.get() == 1) {
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
