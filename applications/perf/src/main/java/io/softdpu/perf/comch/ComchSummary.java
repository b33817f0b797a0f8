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
public record ComchSummary(List<ComchResult> results) {
    /** Copies the list. */
    public ComchSummary {
        results = List.copyOf(results);
    }

    /** The measurement. */
    public ComchPlan plan() {
        return results.getFirst().plan();
    }

    /** The run with the median rate; of an even number the lower of the two in the middle. */
    public ComchResult median() {
        return Runs.median(results, ComchResult::messagesPerSecond);
    }

    /** Circumstances that make the figures meaningless, a sentence each. */
    public List<String> notes() {
        return notes(MeasurementNotes.availableProcessors(), MeasurementNotes.isSanitized());
    }

    List<String> notes(int availableProcessors, boolean isSanitized) {
        ComchPlan plan = plan();
        return MeasurementNotes.of(
                new Circumstances(
                        plan.pollers(),
                        plan.processors(availableProcessors),
                        isSanitized,
                        max(ComchResult::othersProcessors),
                        plan.waiting() == PerfWait.BUSY && plan.mode() != ComchMode.IDLE));
    }

    /** The least value of a figure over all runs. */
    public double min(ToDoubleFunction<ComchResult> figure) {
        return results.stream().mapToDouble(figure).min().orElseThrow();
    }

    /** The greatest value of a figure over all runs. */
    public double max(ToDoubleFunction<ComchResult> figure) {
        return results.stream().mapToDouble(figure).max().orElseThrow();
    }
}
