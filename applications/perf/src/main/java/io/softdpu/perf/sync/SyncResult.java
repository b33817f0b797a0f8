package io.softdpu.perf.sync;

import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.result.MeasurementNotes;
import io.softdpu.perf.result.MeasurementNotes.Circumstances;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of one measurement.
 *
 * @param plan the requested measurement
 * @param roundTrips their number; 0 with {@link SyncMode#RATE}
 * @param nanos from the begin of the first to the end of the last
 * @param latencies of round trips; null with {@link SyncMode#RATE}
 * @param adds additions; null with {@link SyncMode#LATENCY}
 * @param host what the process of the CPU handle has used meanwhile
 * @param dpu what the process of the DPU handle has used meanwhile
 * @param othersProcessors processors that other processes of the machine used meanwhile; 0 if the
 *     kernel does not tell
 */
public record SyncResult(
        SyncPlan plan,
        long roundTrips,
        long nanos,
        @Nullable Percentiles latencies,
        @Nullable SyncAdds adds,
        ResourceUse host,
        ResourceUse dpu,
        double othersProcessors) {

    /** Round trips per second. */
    public double roundTripsPerSecond() {
        return nanos == 0 ? 0 : roundTrips / (nanos / 1e9);
    }

    /** Heap bytes per round trip or addition that all threads of both processes allocated. */
    public double allocatedBytesPerOperation() {
        SyncAdds added = adds;
        long operations = added == null ? roundTrips : added.host() + added.dpu();
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
                        plan.waiting() == SyncWait.BUSY));
    }
}
