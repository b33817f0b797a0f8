package io.softdpu.perf.comch;

import io.softdpu.linux.text.Text;
import io.softdpu.perf.pair.LineTimes;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.result.Runs;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.SizeText;
import io.softdpu.perf.text.TextStyle;
import io.softdpu.perf.text.TextTable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The result of a measurement as text. */
public final class ComchTable {
    /** Printed instead of a value that was not measured. */
    private static final String NONE = "-";

    private static final String WARMED_UP =
            "measured after a warm-up of the same length in the same processes";

    private ComchTable() {}

    /**
     * The lines: a head and a row with the run of the median rate; below them the spread of several
     * runs, the line times, the warm-up, and notes on what makes the figures meaningless.
     */
    public static List<String> lines(ComchSummary summary, TextStyle style) {
        ComchPlan plan = summary.plan();
        ComchResult result = summary.median();
        IdleFigures idle = result.idle();
        if (idle != null) {
            return idleLines(summary, result, idle, style);
        }
        Percentiles latencies = result.latencies();
        OptionalDouble allocated = result.allocatedBytesPerOperation();
        TextTable table =
                TextTable.ofNumbers(
                        "measurement",
                        "size",
                        "wait",
                        "window",
                        "messages",
                        "data rate",
                        "p50",
                        "p99",
                        "p99.9",
                        "max",
                        "heap",
                        "cores used");
        table.add(
                plan.mode().word(),
                SizeText.rounded(plan.sizeBytes()),
                plan.waiting().word(),
                plan.mode().isOneWay() ? Integer.toString(plan.window()) : NONE,
                Figures.perSecond(result.messagesPerSecond()),
                Figures.gigabytesPerSecond(result.gigabytesPerSecond()),
                latencies == null ? NONE : Figures.time(latencies.p50Nanos()),
                latencies == null ? NONE : Figures.time(latencies.p99Nanos()),
                latencies == null ? NONE : Figures.time(latencies.p999Nanos()),
                latencies == null ? NONE : Figures.time(latencies.maxNanos()),
                allocated.isEmpty() ? NONE : Figures.number(allocated.getAsDouble()) + " B/message",
                Figures.number(result.host().processors() + result.dpu().processors()));
        List<String> lines = new ArrayList<>(table.lines());
        if (plan.repeats() > 1) {
            lines.add(
                    Text.format(
                            "%s of %d runs, which had %s to %s messages per second",
                            Runs.medianName(plan.repeats()),
                            plan.repeats(),
                            Figures.count(summary.min(ComchResult::messagesPerSecond)),
                            Figures.count(summary.max(ComchResult::messagesPerSecond))));
        }
        if (plan.producers() > 1) {
            List<Double> shares = result.shares();
            lines.add(
                    Text.format(
                            "%d producers%s; shares %s to %s",
                            plan.producers(),
                            plan.consumers() > 1 ? ", each to a consumer of its own" : "",
                            Figures.percent(100 * Collections.min(shares)),
                            Figures.percent(100 * Collections.max(shares))));
        }
        if (plan.isStream()) {
            lines.add("messages of a stream, ComchStream, in place of a producer and a consumer");
        }
        addLineTimes(lines, result.lineTimes());
        if (plan.repeats() > 1 && result.lineTimes() != null) {
            lines.add("cache line times of all runs: " + distances(summary));
        }
        lines.add(WARMED_UP);
        summary.notes().forEach(note -> lines.add(style.notable("note: " + note)));
        return lines;
    }

    private static List<String> idleLines(
            ComchSummary summary, ComchResult result, IdleFigures idle, TextStyle style) {
        ComchPlan plan = summary.plan();
        TextTable table =
                TextTable.ofNumbers(
                        "measurement",
                        "clients",
                        "wait",
                        "import",
                        "connects",
                        "connect p50",
                        "p99",
                        "max",
                        "cores used",
                        "resident",
                        "rings");
        table.add(
                plan.mode().word(),
                Integer.toString(plan.clients()),
                plan.waiting().word(),
                plan.importBytes() == 0 ? NONE : SizeText.rounded(plan.importBytes()),
                Figures.count(idle.connects()),
                Figures.time(idle.connectLatencies().p50Nanos()),
                Figures.time(idle.connectLatencies().p99Nanos()),
                Figures.time(idle.connectLatencies().maxNanos()),
                Figures.number(result.host().processors() + result.dpu().processors()),
                SizeText.rounded((long) idle.residentBytesPerConnection()) + "/connection",
                SizeText.rounded(idle.ringBytesPerConnection()) + "/connection");
        List<String> lines = new ArrayList<>(table.lines());
        if (plan.importBytes() > 0) {
            lines.add(
                    Text.format(
                            "memory was imported and released %s times while clients connected and"
                                    + " slept",
                            Figures.count(idle.imports())));
        }
        lines.add(WARMED_UP);
        summary.notes().forEach(note -> lines.add(style.notable("note: " + note)));
        return lines;
    }

    private static void addLineTimes(List<String> lines, @Nullable LineTimes times) {
        if (times != null) {
            lines.add(times.toText());
        }
    }

    /** How many runs were of each class: {@code 2 near, 1 far}. */
    private static String distances(ComchSummary summary) {
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
}
