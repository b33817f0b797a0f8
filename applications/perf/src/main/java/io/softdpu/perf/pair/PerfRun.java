package io.softdpu.perf.pair;

import io.softdpu.perf.child.ResourceUse;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Result of one run.
 *
 * @param operations number of those that came to their end: messages, round trips or additions
 * @param nanos from the begin of the first to the end of the last
 * @param latencies of the operations that were timed; null if none was
 * @param host what the process of the host has used meanwhile
 * @param dpu what the process of the DPU has used meanwhile
 * @param othersProcessors processors that other processes of the machine used meanwhile; 0 if the
 *     kernel does not tell
 * @param lineTimes before and after; null where they were not measured
 * @param own what only this kind of measurement has
 * @param <X> the type of that
 */
public record PerfRun<X>(
        long operations,
        long nanos,
        @Nullable Percentiles latencies,
        ResourceUse host,
        ResourceUse dpu,
        double othersProcessors,
        @Nullable LineTimes lineTimes,
        X own) {

    /** The same with line times. */
    public PerfRun<X> with(LineTimes measured) {
        return new PerfRun<>(
                operations, nanos, latencies, host, dpu, othersProcessors, measured, own);
    }

    /** Operations per second; 0 if there were none. */
    public double perSecond() {
        return operations == 0 ? 0 : operations / (nanos / 1e9);
    }

    /** Payload per second in 10^9 bytes, one direction, of operations of a size. */
    public double gigabytesPerSecond(long sizeBytes) {
        return perSecond() * sizeBytes / 1e9;
    }

    /** Heap bytes per operation that all threads of both processes allocated; empty without any. */
    public OptionalDouble allocatedBytesPerOperation() {
        return operations == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(
                        (double) (host.allocatedBytes() + dpu.allocatedBytes()) / operations);
    }

    /** Processors that both processes used. */
    public double processors() {
        return host.processors() + dpu.processors();
    }
}
