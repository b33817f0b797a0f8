package io.softdpu.perf.rdma;

import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.LineTimes;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.result.MeasurementNotes;
import io.softdpu.perf.result.MeasurementNotes.Circumstances;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of one measurement.
 *
 * @param plan the requested measurement
 * @param provider that served the connection
 * @param operations completed; round trips where the DPU has answered
 * @param nanos from the begin of the first to the end of the last
 * @param latencies of a round trip, or from submission to completion; null if none was timed
 * @param host what the process on the host has used meanwhile
 * @param dpu what the process on the DPU has used meanwhile
 * @param othersProcessors processors that other processes of the machine used meanwhile; 0 if the
 *     kernel does not tell
 * @param lineTimes before and after; null where they were not measured
 */
public record RdmaResult(
        RdmaPlan plan,
        String provider,
        long operations,
        long nanos,
        @Nullable Percentiles latencies,
        ResourceUse host,
        ResourceUse dpu,
        double othersProcessors,
        @Nullable LineTimes lineTimes) {

    /** The same with line times. */
    RdmaResult with(LineTimes measured) {
        return new RdmaResult(
                plan,
                provider,
                operations,
                nanos,
                latencies,
                host,
                dpu,
                othersProcessors,
                measured);
    }

    /** Operations, or round trips, per second; 0 if there were none. */
    public double operationsPerSecond() {
        return operations == 0 ? 0 : operations / (nanos / 1e9);
    }

    /** Payload per second in 10^9 bytes, one direction. */
    public double gigabytesPerSecond() {
        return operationsPerSecond() * plan.sizeBytes() / 1e9;
    }

    /** Heap bytes per operation that all threads of both processes allocated; 0 without any. */
    public double allocatedBytesPerOperation() {
        return operations == 0
                ? 0
                : (double) (host.allocatedBytes() + dpu.allocatedBytes()) / operations;
    }

    /** Circumstances that make the figures meaningless, a sentence each. */
    public List<String> notes() {
        return notes(MeasurementNotes.availableProcessors(), MeasurementNotes.isSanitized());
    }

    List<String> notes(int availableProcessors, boolean isSanitized) {
        return MeasurementNotes.of(
                new Circumstances(
                        2,
                        plan.processors(availableProcessors),
                        isSanitized,
                        othersProcessors,
                        plan.waiting() == PerfWait.BUSY));
    }
}
