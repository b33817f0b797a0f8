package io.softdpu.storage.worker;

import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.WorkerReport;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Counters of a worker and their report. {@link #report} may be called from any thread; the rest
 * belongs to the worker's thread.
 */
final class WorkerStatistics {
    private final WorkerSlot slot;
    final Counter operations = new Counter();
    final Counter errors = new Counter();

    private long startHits;
    private long startMisses;
    private long startAllocated;

    private long startNanos;

    /** Set after the fields above, which other threads read after it. */
    private volatile boolean begun;

    private volatile @Nullable WorkerReport dataPath;

    WorkerStatistics(WorkerSlot slot) {
        this.slot = slot;
    }

    /** Records the begin of the data path. */
    void beginDataPath(ProgressEngine engine) {
        startHits = engine.hits();
        startMisses = engine.misses();
        startAllocated = AllocationMeter.currentThreadBytes();
        startNanos = System.nanoTime();
        begun = true;
    }

    /** Records the end of the data path, which fixes the report. */
    void endDataPath(ProgressEngine engine) {
        long allocated = AllocationMeter.currentThreadBytes() - startAllocated;
        dataPath =
                new WorkerReport(
                        slot.index(),
                        slot.cpu().toString(),
                        operations.get(),
                        errors.get(),
                        engine.hits() - startHits,
                        engine.misses() - startMisses,
                        engine.payloadBytesCopied(),
                        engine.messageBytesCopied(),
                        allocated,
                        Duration.ofNanos(System.nanoTime() - startNanos));
    }

    /**
     * The current report.
     *
     * @param engine of the worker; null before it was created and after it was closed
     */
    WorkerReport report(@Nullable ProgressEngine engine) {
        WorkerReport last = dataPath;
        if (last != null) {
            return last;
        }
        boolean runs = engine != null && begun;
        return new WorkerReport(
                slot.index(),
                slot.cpu().toString(),
                operations.get(),
                errors.get(),
                runs ? engine.hits() - startHits : 0,
                runs ? engine.misses() - startMisses : 0,
                engine == null ? 0 : engine.payloadBytesCopied(),
                engine == null ? 0 : engine.messageBytesCopied(),
                0,
                Duration.ZERO);
    }
}
