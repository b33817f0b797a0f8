package io.softdpu.perf.demo;

import io.softdpu.linux.text.Text;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ChildReport.PhaseResult;
import io.softdpu.perf.result.MeasurementNotes;
import io.softdpu.perf.result.Runs;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.SizeText;
import io.softdpu.perf.text.TextStyle;
import io.softdpu.perf.text.TextTable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalDouble;

/** The results of a demo as text. */
public final class DemoTable {
    private static final String NONE = "-";

    private DemoTable() {}

    /**
     * The lines: a table of phases, a table of processes, one of their cores if each has several,
     * explanations, and notes. A phase or a process of a failed demo that has no result has no row;
     * without any there are no lines.
     */
    public static List<String> lines(DemoOptions options, DemoResult result, TextStyle style) {
        List<DemoPhase> reached =
                DemoPhase.of(options).stream()
                        .filter(phase -> result.phase(phase).isPresent())
                        .toList();
        if (reached.isEmpty()) {
            return List.of();
        }
        List<String> lines = new ArrayList<>(phases(reached, result).lines());
        addRuns(lines, options, reached, result);
        lines.add(
                "The phases up to the warm-up run in new processes, and show whether the data was"
                        + " right; those after it measure.");
        lines.add("");
        lines.addAll(processes(result).lines());
        if (options.cores() > 1) {
            lines.add("");
            lines.addAll(cores(result).lines());
        }
        lines.add(
                "hit rate: the share of calls of the progress engine that found work; the others"
                        + " polled while a process waited for its peers.");
        result.provider()
                .ifPresent(
                        name -> lines.add("RDMA provider between zero-copy and target: " + name));
        addCopies(lines, result);
        result.allocatedBytesPerOperation()
                .ifPresent(bytes ->
                        lines.add(
                                "heap: "
                                        + Figures.number(bytes)
                                        + " B per operation were allocated by all three processes"
                                        + " while they measured."));
        if (result.allocatedBytesPerOperation().orElse(0) > 0) {
            MeasurementNotes.onHeap(result.measuredOperations()).ifPresent(lines::add);
        }
        result.notes().forEach(note -> lines.add(style.notable("note: " + note)));
        return lines;
    }

    private static void addCopies(List<String> lines, DemoResult result) {
        double byNics = result.nicCopies().orElse(0);
        result.payloadCopies()
                .ifPresent(copies ->
                        lines.add(
                                "payload copies: "
                                        + Figures.number(copies)
                                        + ", which is how often each byte was copied by a program"
                                        + " between the memory of the host and the volume"
                                        + (byNics > 0 ? "." : "; 1 is the least possible.")));
        if (byNics > 0) {
            lines.add(
                    "NIC copies: "
                            + Figures.number(byNics)
                            + ", which is how often a NIC has copied each byte out of a packet; 1"
                            + " is the least possible.");
        }
    }

    /** The last line: whether all is right, and what to try next. */
    public static String verdict(DemoResult result, TextStyle style) {
        if (result.valid()) {
            return style.good("all right")
                    + ": "
                    + SizeText.rounded(result.bytesVerified())
                    + " verified, SHA-256 "
                    + result.actualSha256().map(hash -> hash.substring(0, 16)).orElse(NONE)
                    + "...; next: `softdpu demo --volume FILE`, `softdpu perf comch latency`,"
                    + " `softdpu sample --list`";
        }
        return style.bad("not right")
                + ": "
                + result.culprit()
                        .map(outcome -> outcome.name() + " failed, " + outcome.howItEnded())
                        .orElse("data is wrong")
                + "; next: `softdpu doctor`, `softdpu demo --log-level debug`";
    }

    private static TextTable phases(List<DemoPhase> reached, DemoResult result) {
        TextTable table =
                TextTable.ofNumbers(
                        "phase",
                        "I/O size",
                        "in flight",
                        "operations",
                        "rate",
                        "data rate",
                        "p50",
                        "p99",
                        "p99.9",
                        "cores used");
        for (DemoPhase phase : reached) {
            DemoStep step = result.median(phase).orElseThrow();
            PhaseResult found = result.phase(phase).orElseThrow();
            table.add(
                    phase.word(),
                    SizeText.rounded(found.ioSizeBytes()),
                    Integer.toString(found.transactions()),
                    Figures.count(found.operations()),
                    Figures.perSecond(found.iops()),
                    Figures.gigabytesPerSecond(found.gigabytesPerSecond()),
                    Figures.time(found.p50Nanos()),
                    Figures.time(found.p99Nanos()),
                    Figures.time(found.p999Nanos()),
                    number(result.processors(step)));
        }
        return table;
    }

    /** The spread of measurements that were repeated. */
    private static void addRuns(
            List<String> lines, DemoOptions options, List<DemoPhase> reached, DemoResult result) {
        if (options.repeats() == 1) {
            return;
        }
        for (DemoPhase phase : reached) {
            Collection<PhaseResult> runs = result.runs(phase).values();
            if (phase.isMeasured()) {
                lines.add(
                        Text.format(
                                "%s: %s of %d runs, which had %s to %s",
                                phase.word(),
                                Runs.medianName(runs.size()),
                                runs.size(),
                                Figures.perSecond(
                                        runs.stream()
                                                .mapToDouble(PhaseResult::iops)
                                                .min()
                                                .orElseThrow()),
                                Figures.perSecond(
                                        runs.stream()
                                                .mapToDouble(PhaseResult::iops)
                                                .max()
                                                .orElseThrow())));
            }
        }
    }

    private static TextTable processes(DemoResult result) {
        TextTable table =
                TextTable.ofNumbers(
                        "process",
                        "exit",
                        "operations",
                        "hit rate",
                        "payload copied",
                        "messages copied");
        for (ChildOutcome outcome : result.outcomes()) {
            ChildReport report = outcome.report();
            if (report != null && report.operations() > 0) {
                table.add(
                        outcome.name(),
                        Integer.toString(outcome.exitCode()),
                        Figures.count(report.operations()),
                        Figures.percent(report.hitRatePercent()),
                        SizeText.rounded(report.payloadBytesCopied()),
                        SizeText.rounded(report.messageBytesCopied()));
            }
        }
        return table;
    }

    private static TextTable cores(DemoResult result) {
        TextTable table =
                TextTable.ofNumbers(
                        "core",
                        "cpu",
                        "operations",
                        "hit rate",
                        "payload copied",
                        "messages copied");
        for (ChildOutcome outcome : result.outcomes()) {
            ChildReport report = outcome.report();
            List<ChildReport.Core> cores = report == null ? List.of() : report.cores();
            for (int index = 0; index < cores.size(); index++) {
                ChildReport.Core core = cores.get(index);
                table.add(
                        outcome.name() + " " + index,
                        core.cpu(),
                        Figures.count(core.operations()),
                        Figures.percent(core.hitRatePercent()),
                        SizeText.rounded(core.payloadBytesCopied()),
                        SizeText.rounded(core.messageBytesCopied()));
            }
        }
        return table;
    }

    private static String number(OptionalDouble value) {
        return value.isPresent() ? Figures.number(value.getAsDouble()) : NONE;
    }
}
