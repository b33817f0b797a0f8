package io.softdpu.perf.comch;

import io.softdpu.perf.text.SizeText;
import io.softdpu.perf.text.TextTable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The result of a measurement as text. */
public final class PerfTable {
    /** Printed instead of a value that was not measured. */
    private static final String NONE = "-";

    private PerfTable() {}

    /**
     * The lines: a head and a row with the run of the median rate; below them the spread of several
     * runs, the line times, and notes on what makes the figures meaningless.
     */
    public static List<String> lines(PerfSummary summary) {
        PerfPlan plan = summary.plan();
        PerfResult result = summary.median();
        Percentiles latencies = result.latencies();
        OptionalDouble allocated = result.allocatedBytesPerOperation();
        TextTable table =
                TextTable.ofNumbers(
                        "measurement",
                        "size",
                        "wait",
                        "window",
                        "messages/s",
                        "GB/s",
                        "p50 ns",
                        "p99 ns",
                        "p99.9 ns",
                        "B/op",
                        "cores used");
        table.add(
                plan.mode().word(),
                SizeText.format(plan.sizeBytes()),
                plan.waiting().word(),
                plan.mode() == PerfMode.LATENCY ? NONE : Integer.toString(plan.window()),
                number("%.0f", result.messagesPerSecond()),
                number("%.3f", result.gigabytesPerSecond()),
                latencies == null ? NONE : Long.toString(latencies.p50Nanos()),
                latencies == null ? NONE : Long.toString(latencies.p99Nanos()),
                latencies == null ? NONE : Long.toString(latencies.p999Nanos()),
                allocated.isEmpty() ? NONE : number("%.4f", allocated.getAsDouble()),
                number("%.3f", result.host().processors() + result.dpu().processors()));
        List<String> lines = new ArrayList<>(table.lines());
        if (plan.repeats() > 1) {
            lines.add(
                    "%s of %d runs; messages/s %.0f to %.0f"
                            .formatted(
                                    plan.repeats() % 2 == 0
                                            ? "lower of the two in the middle"
                                            : "median",
                                    plan.repeats(),
                                    summary.min(PerfResult::messagesPerSecond),
                                    summary.max(PerfResult::messagesPerSecond)));
        }
        if (plan.producers() > 1) {
            List<Double> shares = result.shares();
            lines.add(
                    String.format(
                            Locale.ROOT,
                            "%d producers; shares %.1f %% to %.1f %%",
                            plan.producers(),
                            100 * Collections.min(shares),
                            100 * Collections.max(shares)));
        }
        addLineTimes(lines, result.lineTimes());
        if (plan.repeats() > 1 && result.lineTimes() != null) {
            lines.add("cache line times of all runs: " + distances(summary));
        }
        PerfNotes.of(summary).forEach(note -> lines.add("note: " + note));
        return lines;
    }

    private static void addLineTimes(List<String> lines, @Nullable LineTimes times) {
        if (times != null) {
            lines.add(
                    "round trip of a cache line: %d ns before, %d ns after (%s)"
                            .formatted(
                                    times.beforeNanos(),
                                    times.afterNanos(),
                                    times.distance().word()));
        }
    }

    /** How many runs were of each class: {@code 2 near, 1 far}. */
    private static String distances(PerfSummary summary) {
        Map<LineTimes.Distance, Long> counts =
                summary.results().stream()
                        .map(result -> Objects.requireNonNull(result.lineTimes(), "measured"))
                        .collect(
                                Collectors.groupingBy(
                                        LineTimes::distance,
                                        () -> new EnumMap<>(LineTimes.Distance.class),
                                        Collectors.counting()));
        return counts.entrySet().stream()
                .map(each -> each.getValue() + " " + each.getKey().word())
                .collect(Collectors.joining(", "));
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
