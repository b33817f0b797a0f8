package io.softdpu.perf.comch;

import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.LineTimes;
import io.softdpu.perf.pair.Percentiles;
import java.util.List;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Result of one measurement.
 *
 * @param plan the requested measurement
 * @param messages messages that the DPU has received; with {@link ComchMode#LATENCY} round trips
 * @param nanos from the begin of the load until the last of them had arrived
 * @param latencies of a round trip; one way: from submitting a message until the DPU had received
 *     it; null where nothing was timed, since messages of less than 8 bytes carry no time
 * @param host what the process on the host has used meanwhile
 * @param dpu what the process on the DPU has used meanwhile
 * @param othersProcessors processors that other processes of the machine used meanwhile; 0 if the
 *     kernel does not tell
 * @param sentByProducer messages that each producer of the host has sent; with {@link
 *     ComchMode#LATENCY} round trips of the one
 * @param lineTimes before and after; null where they were not measured
 * @param idle figures of connections without messages; null in all modes but {@link ComchMode#IDLE}
 */
public record ComchResult(
        ComchPlan plan,
        long messages,
        long nanos,
        @Nullable Percentiles latencies,
        ResourceUse host,
        ResourceUse dpu,
        double othersProcessors,
        List<Long> sentByProducer,
        @Nullable LineTimes lineTimes,
        @Nullable IdleFigures idle) {

    /** Copies the list. */
    public ComchResult {
        sentByProducer = List.copyOf(sentByProducer);
    }

    /** The result of a measurement with messages. */
    public ComchResult(
            ComchPlan plan,
            long messages,
            long nanos,
            @Nullable Percentiles latencies,
            ResourceUse host,
            ResourceUse dpu,
            double othersProcessors,
            List<Long> sentByProducer,
            @Nullable LineTimes lineTimes) {
        this(
                plan,
                messages,
                nanos,
                latencies,
                host,
                dpu,
                othersProcessors,
                sentByProducer,
                lineTimes,
                null);
    }

    /** The result of a measurement without messages. */
    static ComchResult idle(
            ComchPlan plan,
            IdleFigures figures,
            ResourceUse host,
            ResourceUse dpu,
            double othersProcessors) {
        return new ComchResult(
                plan, 0, 0, null, host, dpu, othersProcessors, List.of(), null, figures);
    }

    /** The same with line times. */
    ComchResult with(LineTimes measured) {
        return new ComchResult(
                plan,
                messages,
                nanos,
                latencies,
                host,
                dpu,
                othersProcessors,
                sentByProducer,
                measured);
    }

    /**
     * Messages per second, or round trips per second with {@link ComchMode#LATENCY}; 0 if there
     * were none.
     */
    public double messagesPerSecond() {
        return messages == 0 ? 0 : messages / (nanos / 1e9);
    }

    /**
     * Shares of the producers in all messages sent, 0 to 1, in the order of the producers; zeros if
     * none was sent.
     */
    public List<Double> shares() {
        long all = sentByProducer.stream().mapToLong(Long::longValue).sum();
        return sentByProducer.stream().map(each -> all == 0 ? 0 : (double) each / all).toList();
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
