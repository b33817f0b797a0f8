package io.softdpu.storage.worker;

import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.RdmaCounters;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.wire.IoType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Counters of a worker and their report. {@link #report} may be called from any thread; the rest
 * belongs to the worker's thread.
 */
final class WorkerStatistics {
    private final WorkerSlot slot;
    final Counter errors = new Counter();
    final Counter refusedSubmissions = new Counter();
    private final Counter operations = new Counter();
    private final Counter reads = new Counter();
    private final Counter writes = new Counter();
    private final Counter payloadBytes = new Counter();

    private long startHits;
    private long startMisses;
    private long startAllocated;
    private long startNanos;

    /** Set after the fields above, which other threads read after it. */
    private volatile boolean begun;

    private volatile @Nullable WorkerReport dataPath;
    private volatile String provider = "";
    private volatile int pathMtuBytes;

    WorkerStatistics(WorkerSlot slot) {
        this.slot = slot;
    }

    /** Counts a completed operation; RESULT for one that is neither a read nor a write. */
    void completed(IoType type, long movedBytes) {
        operations.add(1);
        switch (type) {
            case READ -> reads.add(1);
            case WRITE -> writes.add(1);
            case RESULT -> {}
        }
        payloadBytes.add(movedBytes);
    }

    /**
     * Records the name of the RDMA provider that serves the connections.
     *
     * @param lowestPathMtuBytes of the connections
     */
    void servedBy(String providerName, int lowestPathMtuBytes) {
        provider = providerName;
        pathMtuBytes = lowestPathMtuBytes;
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
        dataPath = report(engine, allocated, Duration.ofNanos(System.nanoTime() - startNanos));
    }

    /** Adds what the RDMA provider has counted to the report of the data path, which has ended. */
    void counted(RdmaCounters counters) {
        WorkerReport last = dataPath;
        if (last != null) {
            dataPath = last.with(counters);
        }
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
        return report(engine, 0, Duration.ZERO);
    }

    private WorkerReport report(
            @Nullable ProgressEngine engine, long allocatedBytes, Duration duration) {
        return new WorkerReport(
                slot.index(),
                slot.cpu().toString(),
                operations.get(),
                reads.get(),
                writes.get(),
                errors.get(),
                payloadBytes.get(),
                refusedSubmissions.get(),
                engine == null || !begun ? 0 : engine.hits() - startHits,
                engine == null || !begun ? 0 : engine.misses() - startMisses,
                engine == null ? 0 : engine.payloadBytesCopied(),
                engine == null ? 0 : engine.messageBytesCopied(),
                allocatedBytes,
                duration,
                provider,
                pathMtuBytes,
                RdmaCounters.NONE);
    }
}
