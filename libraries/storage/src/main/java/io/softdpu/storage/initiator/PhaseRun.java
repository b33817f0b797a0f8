package io.softdpu.storage.initiator;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.option.OptionChecks;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.RequestSource;
import java.time.Duration;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * State of a phase on one worker, shared with the control thread. All memory for the data path is
 * allocated here, before the phase begins.
 *
 * <p>Its fields belong to the worker from {@code runPhase} to {@link #done}, whose volatile store
 * publishes them to the control thread. Operations are counted by the worker: those of the phase
 * are the ones since it was created.
 */
final class PhaseRun {
    /** Upper bound of recorded latencies: one minute. */
    private static final long HIGHEST_LATENCY_NANOS = 60_000_000_000L;

    private static final int SIGNIFICANT_DIGITS = 3;

    private final InitiatorWorker worker;
    private final WorkerReport before;
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

    long issued;
    private final EngineCounts atBegin = new EngineCounts();
    private final EngineCounts atEnd = new EngineCounts();

    /** Zero without a failed operation. */
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
     * Creates a run that has not begun, after the previous phase of the worker, whose histogram is
     * reset.
     */
    PhaseRun(InitiatorWorker worker, Phase phase, int transactions, RequestSource source) {
        this.worker = worker;
        this.before = worker.report();
        this.latencies = worker.latencies();
        latencies.reset();
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
    CoreReport report(long endNanos) {
        return new CoreReport(
                before.index(),
                before.cpu(),
                operations(),
                errors(),
                payloadBytes(),
                atEnd.refused - atBegin.refused,
                atEnd.hits - atBegin.hits,
                atEnd.misses - atBegin.misses,
                Duration.ofNanos((done ? this.endNanos : endNanos) - startNanos),
                LatencySummary.of(latencies),
                latenciesSinceDue == null ? null : LatencySummary.of(latenciesSinceDue));
    }

    /** Completed operations, failed ones included. Any thread, as the next two. */
    long operations() {
        return worker.report().operations() - before.operations();
    }

    long payloadBytes() {
        return worker.report().payloadBytes() - before.payloadBytes();
    }

    long errors() {
        return worker.report().errors() - before.errors();
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

    /** An operation has ended that was begun and due at these times. */
    void completed(long nowNanos, long beganNanos, long wasDueNanos) {
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
        if (firstErrorCode == 0) {
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
