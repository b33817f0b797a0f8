package io.softdpu.perf.result;

import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.text.Figures;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Circumstances that make the figures of a measurement meaningless, a sentence each. */
public final class MeasurementNotes {
    /** What the kernel and a shell need stays below this. */
    private static final double OTHERS_LIMIT = 0.25;

    /**
     * Circumstances of a measurement.
     *
     * @param pollers threads that wait for each other
     * @param processors processors that they may use
     * @param isSanitized whether the sanitizer is on
     * @param othersProcessors the most processors that other processes used during a run
     * @param isBusy whether the threads always poll
     */
    public record Circumstances(
            int pollers,
            int processors,
            boolean isSanitized,
            double othersProcessors,
            boolean isBusy) {}

    /** From this many operations on, what a run allocates once is less than a byte of each. */
    private static final long MANY_OPERATIONS = 100_000;

    private MeasurementNotes() {}

    /**
     * A line below a table with the heap per operation, where there are few: what is allocated once
     * per run is in it.
     */
    public static Optional<String> onHeap(long operations) {
        return operations >= MANY_OPERATIONS
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "heap: few operations, %s, share what is allocated once at the"
                                        + " start and end of a run",
                                Figures.count(operations)));
    }

    /** Processors that this process and its children may use. */
    public static int availableProcessors() {
        return CpuBinding.availableProcessors();
    }

    /** Whether the sanitizer is on in this process, and so in its children. */
    public static boolean isSanitized() {
        return Sanitizer.current() != null;
    }

    /** The notes. */
    public static List<String> of(Circumstances found) {
        List<String> notes = new ArrayList<>();
        if (found.processors() < found.pollers()) {
            notes.add(
                    found.processors() == 1
                            ? found.pollers()
                                    + " threads share one processor: the figures are those of its"
                                    + " scheduler"
                            : found.pollers()
                                    + " threads share "
                                    + found.processors()
                                    + " processors: the figures are those of their scheduler");
        }
        if (found.isSanitized()) {
            notes.add("the sanitizer is on: it delays and checks each call");
        }
        if (found.othersProcessors() > OTHERS_LIMIT) {
            notes.add(
                    String.format(
                            Locale.ROOT,
                            "other processes used up to %.1f processors during a run%s",
                            found.othersProcessors(),
                            found.isBusy()
                                    ? "; threads that always poll suffer most from them"
                                    : ""));
        }
        return notes;
    }
}
