package io.softdpu.perf.demo;

import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ChildReport.PhaseResult;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.result.MeasurementNotes;
import io.softdpu.perf.result.MeasurementNotes.Circumstances;
import io.softdpu.perf.result.Runs;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Results of a demo.
 *
 * @param sizeBytes bytes of the volume
 * @param expectedSha256 of the volume, computed by the demo itself; null if a process failed before
 *     that was done
 * @param outcomes initiator, zero-copy, target
 * @param use what each process used in each step that came to its end, by its name
 * @param othersProcessors the most processors that other processes of the machine used during a
 *     measurement
 * @param timedOut the wait that has timed out; null if none has
 */
public record DemoResult(
        long sizeBytes,
        @Nullable String expectedSha256,
        List<ChildOutcome> outcomes,
        Map<DemoStep, Map<String, ResourceUse>> use,
        double othersProcessors,
        @Nullable String timedOut) {

    /** Takes copies. */
    public DemoResult {
        outcomes = List.copyOf(outcomes);
        use = Map.copyOf(use);
    }

    /** The initiator's part; empty if it left no report. */
    public Optional<ChildReport.Run> run() {
        return reports().map(ChildReport::initiator).filter(Objects::nonNull).findFirst();
    }

    /** The results of all runs of a phase that came to their ends, by run. */
    public Map<DemoStep, PhaseResult> runs(DemoPhase phase) {
        Map<DemoStep, PhaseResult> runs = new LinkedHashMap<>();
        run().stream()
                .flatMap(run -> run.phases().stream())
                .forEach(result -> {
                    DemoStep step = DemoStep.ofKey(result.name());
                    if (step.phase() == phase) {
                        runs.put(step, result);
                    }
                });
        return runs;
    }

    /** The run of a phase with the median rate; empty if none came to its end. */
    public Optional<DemoStep> median(DemoPhase phase) {
        Map<DemoStep, PhaseResult> runs = runs(phase);
        return runs.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        Runs.median(
                                        List.copyOf(runs.entrySet()),
                                        (Map.Entry<DemoStep, PhaseResult> each) ->
                                                each.getValue().iops())
                                .getKey());
    }

    /** The result of the run of a phase with the median rate; empty if none came to its end. */
    public Optional<PhaseResult> phase(DemoPhase phase) {
        return median(phase).map(runs(phase)::get);
    }

    /** The SHA-256 of what arrived in the initiator's memory; empty if nothing did. */
    public Optional<String> actualSha256() {
        return phase(DemoPhase.VERIFY_READ)
                .map(PhaseResult::actualSha256)
                .filter(hash -> !hash.isEmpty());
    }

    /** Bytes that were compared and right; 0 if it did not come to that. */
    public long bytesVerified() {
        return run().map(ChildReport.Run::bytesVerified).orElse(0L);
    }

    /** True if all data was right: what the volume held, and what was written and read back. */
    public boolean dataRight() {
        return actualSha256().filter(actual -> actual.equals(expectedSha256)).isPresent()
                && phase(DemoPhase.READ_BACK)
                        .filter(result -> !result.actualSha256().isEmpty())
                        .filter(result -> result.actualSha256().equals(result.expectedSha256()))
                        .isPresent()
                && bytesVerified() == 2 * sizeBytes
                && run().stream()
                        .flatMap(run -> run.phases().stream())
                        .allMatch(result -> result.errors() == 0);
    }

    /** True if all data was right and all three processes ended well. */
    public boolean valid() {
        return timedOut == null && outcomes.stream().allMatch(ChildOutcome::ok) && dataRight();
    }

    /**
     * How often the payload was copied on its way: payload bytes that went through the copying
     * class of any of the processes, by the payload moved; empty if a process left no report.
     */
    public OptionalDouble payloadCopies() {
        return perTotal(
                ChildReport::payloadBytesCopied,
                run().map(ChildReport.Run::payloadBytesMoved).orElse(0L));
    }

    /**
     * How often NICs copied the payload out of packets on its way: payload bytes that went through
     * the NICs of any of the processes, by the payload moved; empty if a process left no report.
     */
    public OptionalDouble nicCopies() {
        return perTotal(
                ChildReport::nicPayloadBytesCopied,
                run().map(ChildReport.Run::payloadBytesMoved).orElse(0L));
    }

    /**
     * Heap that all threads of all three processes allocated in the measurements, by their
     * operations; empty if that is not known of all three. The warm-up, in which classes are
     * loaded, is no measurement.
     */
    public OptionalDouble allocatedBytesPerOperation() {
        long bytes = 0;
        for (DemoStep step : measuredRuns().keySet()) {
            Map<String, ResourceUse> used = use.getOrDefault(step, Map.of());
            if (used.size() < outcomes.size()) {
                return OptionalDouble.empty();
            }
            bytes += used.values().stream().mapToLong(ResourceUse::allocatedBytes).sum();
        }
        long operations = measuredOperations();
        return operations == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of((double) bytes / operations);
    }

    /** The RDMA provider that served service and target; empty if no data path began. */
    public Optional<String> provider() {
        return reports().map(ChildReport::provider).filter(name -> !name.isEmpty()).findFirst();
    }

    /** Operations of all measurements that came to their ends. */
    public long measuredOperations() {
        return measuredRuns().values().stream().mapToLong(PhaseResult::operations).sum();
    }

    private Map<DemoStep, PhaseResult> measuredRuns() {
        Map<DemoStep, PhaseResult> all = new LinkedHashMap<>();
        for (DemoPhase phase : DemoPhase.values()) {
            if (phase.isMeasured()) {
                all.putAll(runs(phase));
            }
        }
        return all;
    }

    /** Processors that all three used in a step; empty if it is not known. */
    public OptionalDouble processors(DemoStep step) {
        Map<String, ResourceUse> used = use.getOrDefault(step, Map.of());
        return used.size() < outcomes.size()
                ? OptionalDouble.empty()
                : OptionalDouble.of(
                        used.values().stream().mapToDouble(ResourceUse::processors).sum());
    }

    /** The resource use of a process in a step; null if unknown. */
    public @Nullable ResourceUse used(DemoStep step, String process) {
        return use.getOrDefault(step, Map.of()).get(process);
    }

    /** Circumstances that make the figures meaningless, a sentence each. */
    public List<String> notes() {
        return notes(MeasurementNotes.availableProcessors(), MeasurementNotes.isSanitized());
    }

    List<String> notes(int availableProcessors, boolean isSanitized) {
        return MeasurementNotes.of(
                new Circumstances(
                        outcomes.stream().mapToInt(DemoResult::threadsOf).sum(),
                        availableProcessors,
                        isSanitized,
                        othersProcessors,
                        false));
    }

    /** Data path threads of a process; one that left no report counts as one. */
    private static int threadsOf(ChildOutcome outcome) {
        ChildReport report = outcome.report();
        return report == null ? 1 : report.cores().size();
    }

    /**
     * The process at whose end the others failed, if one failed: one that a signal ended, else one
     * that did not merely lose its peer, else the first that ended.
     */
    public Optional<ChildOutcome> culprit() {
        return outcomes.stream()
                .filter(outcome -> !outcome.ok())
                .min(
                        Comparator.comparing((ChildOutcome o) -> !o.endedBySignal())
                                .thenComparing(ChildOutcome::isVictim)
                                .thenComparingInt(ChildOutcome::order));
    }

    private OptionalDouble perTotal(ToLongFunction<ChildReport> field, long total) {
        return total == 0 || reports().count() < outcomes.size()
                ? OptionalDouble.empty()
                : OptionalDouble.of((double) reports().mapToLong(field).sum() / total);
    }

    private Stream<ChildReport> reports() {
        return outcomes.stream()
                .map(ChildOutcome::report)
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull);
    }
}
