package io.softdpu.perf.comch;

import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.Sanitizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Circumstances that make the figures of a measurement meaningless, a sentence each. */
final class PerfNotes {
    /** What the kernel and a shell need stays below this. */
    private static final double OTHERS_LIMIT = 0.25;

    private PerfNotes() {}

    /** The notes on a measurement that this process has made. */
    static List<String> of(PerfSummary summary) {
        return of(summary, CpuBinding.availableProcessors(), Sanitizer.current() != null);
    }

    static List<String> of(PerfSummary summary, int availableProcessors, boolean isSanitized) {
        List<String> notes = new ArrayList<>();
        PerfPlan plan = summary.plan();
        int processors = plan.processors(availableProcessors);
        if (processors == 1) {
            notes.add("both sides share one processor: the figures are those of its scheduler");
        } else if (processors < plan.pollers()) {
            notes.add(
                    "%d threads share %d processors: the figures are those of their scheduler"
                            .formatted(plan.pollers(), processors));
        }
        if (isSanitized) {
            notes.add("the sanitizer is on: it delays and checks each call");
        }
        double others = summary.max(PerfResult::othersProcessors);
        if (others > OTHERS_LIMIT) {
            notes.add(
                    String.format(
                            Locale.ROOT,
                            "other processes used up to %.1f processors during a run%s",
                            others,
                            plan.waiting() == PerfWait.BUSY
                                    ? "; threads that always poll suffer most from them"
                                    : ""));
        }
        return notes;
    }
}
