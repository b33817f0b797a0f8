package io.softdpu.perf.comch;

import java.util.Comparator;
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
        return results.stream()
                .sorted(Comparator.comparingDouble(PerfResult::messagesPerSecond))
                .skip((results.size() - 1) / 2)
                .findFirst()
                .orElseThrow();
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
