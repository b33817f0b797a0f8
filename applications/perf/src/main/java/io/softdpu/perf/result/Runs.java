package io.softdpu.perf.result;

import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Choice among the runs of a repeated measurement. */
public final class Runs {
    private Runs() {}

    /** The run with the median rate; of an even number the lower of the two in the middle. */
    public static <T> T median(List<T> runs, ToDoubleFunction<T> rate) {
        return runs.stream()
                .sorted(Comparator.comparingDouble(rate))
                .skip((runs.size() - 1) / 2)
                .findFirst()
                .orElseThrow();
    }

    /** The name of what {@link #median} returns of a number of runs. */
    public static String medianName(int runs) {
        return runs % 2 == 0 ? "lower of the two in the middle" : "median";
    }
}
