package io.softdpu.perf.comch;

import io.softdpu.perf.child.ResourceUse;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Result of one measurement.
 *
 * @param plan the requested measurement
 * @param messages messages that the DPU has received; with {@link PerfMode#LATENCY} round trips
 * @param nanos from the begin of the load until the last of them had arrived
 * @param latencies of a round trip; one way: from submitting a message until the DPU had received
 *     it; null where nothing was timed, since messages of less than 8 bytes carry no time
 * @param host what the process on the host has used meanwhile
 * @param dpu what the process on the DPU has used meanwhile
 */
public record PerfResult(
        PerfPlan plan,
        long messages,
        long nanos,
        @Nullable Percentiles latencies,
        ResourceUse host,
        ResourceUse dpu) {

    /**
     * Messages per second, or round trips per second with {@link PerfMode#LATENCY}; 0 if there were
     * none.
     */
    public double messagesPerSecond() {
        return messages == 0 ? 0 : messages / (nanos / 1e9);
    }

    /** Payload per second in 10^9 bytes, one direction. */
    public double gigabytesPerSecond() {
        return messagesPerSecond() * plan.sizeBytes() / 1e9;
    }

    /**
     * Heap bytes per message that all threads of both processes allocated; empty without messages.
     */
    public OptionalDouble allocatedBytesPerOperation() {
        return messages == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(
                        (double) (host.allocatedBytes() + dpu.allocatedBytes()) / messages);
    }
}
