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
        return of(summary, CpuBinding.availableProcessors() == 1, Sanitizer.current() != null);
    }

    static List<String> of(PerfSummary summary, boolean isOneProcessor, boolean isSanitized) {
        List<String> notes = new ArrayList<>();
        PerfCpus cpus = summary.plan().cpus();
        if (isOneProcessor || (cpus != null && cpus.isShared())) {
            notes.add("both sides share one processor: the figures are those of its scheduler");
        }
        if (isSanitized) {
            notes.add("the sanitizer is on: it delays and checks each call");
        }
        double others = summary.max(PerfResult::othersProcessors);
        if (others > OTHERS_LIMIT) {
            notes.add(
                    String.format(
                            Locale.ROOT,
                            "other processes used up to %.1f processors during a run",
                            others));
        }
        return notes;
    }
}
