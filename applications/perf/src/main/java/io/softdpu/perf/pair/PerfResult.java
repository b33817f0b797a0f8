package io.softdpu.perf.pair;

import io.softdpu.perf.result.MeasurementNotes;
import io.softdpu.perf.result.MeasurementNotes.Circumstances;
import io.softdpu.perf.result.Runs;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Results of all runs of a measurement.
 *
 * @param plan the requested measurement
 * @param runs in their order, at least one
 * @param <P> the plan
 * @param <X> figures of this kind of measurement alone
 */
public record PerfResult<P extends PerfPlan, X>(P plan, List<PerfRun<X>> runs) {
    /** Copies the list. */
    public PerfResult {
        runs = List.copyOf(runs);
    }

    /** The run with the median rate; of an even number the lower of the two in the middle. */
    public PerfRun<X> median() {
        return Runs.median(runs, PerfRun::perSecond);
    }

    /** Circumstances that make the figures meaningless, a sentence each. */
    public List<String> notes() {
        return notes(MeasurementNotes.availableProcessors(), MeasurementNotes.isSanitized());
    }

    /**
     * As {@link #notes()}, of another machine.
     *
     * @param availableProcessors processors that both processes may use
     * @param isSanitized whether the sanitizer is on
     */
    public List<String> notes(int availableProcessors, boolean isSanitized) {
        return MeasurementNotes.of(
                new Circumstances(
                        plan.pollers(),
                        plan.processors(availableProcessors),
                        isSanitized,
                        max(PerfRun::othersProcessors),
                        plan.isBusy()));
    }

    /** The least value of a figure over all runs. */
    public double min(ToDoubleFunction<PerfRun<X>> figure) {
        return runs.stream().mapToDouble(figure).min().orElseThrow();
    }

    /** The greatest value of a figure over all runs. */
    public double max(ToDoubleFunction<PerfRun<X>> figure) {
        return runs.stream().mapToDouble(figure).max().orElseThrow();
    }
}
