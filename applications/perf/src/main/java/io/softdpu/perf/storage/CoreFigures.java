package io.softdpu.perf.storage;

import io.softdpu.perf.text.Figures;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.initiator.CoreReport;
import io.softdpu.storage.initiator.PhaseReport;
import io.softdpu.storage.wire.IoType;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Figures of a data path thread, or of all threads of a program.
 *
 * @param core index of the thread, or {@code total}
 * @param cpu CPU affinity of the thread; empty for the total
 * @param duration of the data path, or of the phase
 * @param operations completed operations, failed ones included
 * @param reads those that read; null for a service, which does not look at the messages
 * @param writes those that write; null for a service
 * @param errors failed operations; null for a service
 * @param payloadBytes bytes that the successful ones have moved; null for a service
 * @param progressHits calls of the progress engine that found work
 * @param progressMisses calls of the progress engine that found no work
 * @param refusedSubmissions tasks that a full work queue refused at first
 */
record CoreFigures(
        String core,
        String cpu,
        Duration duration,
        long operations,
        @Nullable Long reads,
        @Nullable Long writes,
        @Nullable Long errors,
        @Nullable Long payloadBytes,
        long progressHits,
        long progressMisses,
        long refusedSubmissions) {

    private static final String TOTAL = "total";

    /** The threads of a program in their data path. */
    static List<CoreFigures> of(SessionReport session) {
        boolean relay = !session.looksAtMessages();
        return session.workers().stream().map(worker -> of(worker, relay)).toList();
    }

    private static CoreFigures of(WorkerReport worker, boolean relay) {
        return new CoreFigures(
                Integer.toString(worker.index()),
                worker.cpu(),
                worker.dataPathDuration(),
                worker.operations(),
                relay ? null : (Long) worker.reads(),
                relay ? null : (Long) worker.writes(),
                relay ? null : (Long) worker.errors(),
                relay ? null : (Long) worker.payloadBytes(),
                worker.progressHits(),
                worker.progressMisses(),
                worker.refusedSubmissions());
    }

    /** All threads of a program in their data path. */
    static CoreFigures total(SessionReport session) {
        boolean relay = !session.looksAtMessages();
        return new CoreFigures(
                TOTAL,
                "",
                session.dataPathDuration(),
                session.operations(),
                relay ? null : (Long) session.reads(),
                relay ? null : (Long) session.writes(),
                relay ? null : (Long) session.errors(),
                relay ? null : (Long) session.payloadBytes(),
                session.progressHits(),
                session.progressMisses(),
                session.refusedSubmissions());
    }

    /** A thread of an initiator in a phase of reads or writes. */
    static CoreFigures of(CoreReport core, IoType type) {
        return new CoreFigures(
                Integer.toString(core.index()),
                core.cpu(),
                core.duration(),
                core.operations(),
                type == IoType.READ ? core.operations() : 0,
                type == IoType.WRITE ? core.operations() : 0,
                core.errors(),
                core.payloadBytes(),
                core.progressHits(),
                core.progressMisses(),
                core.refusedSubmissions());
    }

    /** All threads of an initiator in a phase. */
    static CoreFigures total(PhaseReport phase) {
        return new CoreFigures(
                TOTAL,
                "",
                phase.duration(),
                phase.operations(),
                phase.operation() == IoType.READ ? phase.operations() : 0,
                phase.operation() == IoType.WRITE ? phase.operations() : 0,
                phase.errors(),
                phase.payloadBytes(),
                phase.cores().stream().mapToLong(CoreReport::progressHits).sum(),
                phase.cores().stream().mapToLong(CoreReport::progressMisses).sum(),
                phase.cores().stream().mapToLong(CoreReport::refusedSubmissions).sum());
    }

    /** Operations per second; 0 without a duration. */
    double iops() {
        return duration.isZero() ? 0 : operations * 1e9 / duration.toNanos();
    }

    /** Payload per second in 10^9 bytes, 0 without a duration; null for a service. */
    @Nullable Double gigabytesPerSecond() {
        if (payloadBytes == null) {
            return null;
        }
        return duration.isZero() ? 0 : (double) payloadBytes / duration.toNanos();
    }

    /** Percentage of calls of the progress engine that found work; 0 without a call. */
    double hitRatePercent() {
        return Figures.sharePercent(progressHits, progressMisses);
    }
}
