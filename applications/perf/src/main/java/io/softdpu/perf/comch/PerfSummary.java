package io.softdpu.perf.comch;

import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.result.MeasurementNotes;
import io.softdpu.perf.result.MeasurementNotes.Circumstances;
import io.softdpu.perf.result.Runs;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Results of all runs of a measurement, at least one.
 *
 * @param results in the order of the runs
 */
public record PerfSummary(List<PerfResult> results) {
    /** Copies the list. */
    public PerfSummary {
        results = List.copyOf(results);
    }

    /** The measurement. */
    public PerfPlan plan() {
        return results.getFirst().plan();
    }

    /** The run with the median rate; of an even number the lower of the two in the middle. */
    public PerfResult median() {
        return Runs.median(results, PerfResult::messagesPerSecond);
    }

    /** Circumstances that make the figures meaningless, a sentence each. */
    public List<String> notes() {
        return notes(MeasurementNotes.availableProcessors(), MeasurementNotes.isSanitized());
    }

    List<String> notes(int availableProcessors, boolean isSanitized) {
        PerfPlan plan = plan();
        return MeasurementNotes.of(
                new Circumstances(
                        plan.pollers(),
                        plan.processors(availableProcessors),
                        isSanitized,
                        max(PerfResult::othersProcessors),
                        plan.waiting() == PerfWait.BUSY && plan.mode() != PerfMode.IDLE));
    }

    /** The least value of a figure over all runs. */
    public double min(ToDoubleFunction<PerfResult> figure) {
        return results.stream().mapToDouble(figure).min().orElseThrow();
    }

    /** The greatest value of a figure over all runs. */
    public double max(ToDoubleFunction<PerfResult> figure) {
        return results.stream().mapToDouble(figure).max().orElseThrow();
    }
}
