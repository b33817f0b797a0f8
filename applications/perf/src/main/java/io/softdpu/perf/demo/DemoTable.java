package io.softdpu.perf.demo;

import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ChildReport.PhaseResult;
import io.softdpu.perf.text.SizeText;
import io.softdpu.perf.text.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** The results of a demo as text. */
public final class DemoTable {
    private static final String NONE = "-";

    private DemoTable() {}

    /** The lines: a table of phases, a table of processes, and what became of the data. */
    public static List<String> lines(List<DemoPhase> plan, DemoResult result) {
        List<String> lines = new ArrayList<>(phases(plan, result).lines());
        lines.add("");
        lines.addAll(processes(result).lines());
        lines.add("");
        lines.add(
                "data: "
                        + (result.dataRight() ? "right" : "not shown to be right")
                        + ", "
                        + result.bytesVerified()
                        + " bytes verified, SHA-256 "
                        + result.actualSha256().orElse(NONE));
        lines.add(
                "payload copies: "
                        + number("%.3f", result.payloadCopies())
                        + ", heap bytes allocated per operation: "
                        + number("%.3f", result.allocatedBytesPerOperation()));
        return lines;
    }

    private static TextTable phases(List<DemoPhase> plan, DemoResult result) {
        TextTable table =
                TextTable.ofNumbers(
                        "phase",
                        "I/O size",
                        "in flight",
                        "operations",
                        "IOPS",
                        "GiB/s",
                        "p50 us",
                        "p99 us",
                        "p99.9 us",
                        "cores used");
        for (DemoPhase phase : plan) {
            result.phase(phase)
                    .ifPresentOrElse(
                            found -> table.add(row(phase, found, result)),
                            () ->
                                    table.add(
                                            phase.title(),
                                            NONE,
                                            NONE,
                                            NONE,
                                            NONE,
                                            NONE,
                                            NONE,
                                            NONE,
                                            NONE,
                                            NONE));
        }
        return table;
    }

    private static String[] row(DemoPhase phase, PhaseResult found, DemoResult result) {
        return new String[] {
            phase.title(),
            SizeText.format(found.ioSizeBytes()),
            Integer.toString(found.transactions()),
            Long.toString(found.operations()),
            number("%.0f", found.iops()),
            number("%.3f", found.gibPerSecond()),
            number("%.1f", found.p50Nanos() / 1e3),
            number("%.1f", found.p99Nanos() / 1e3),
            number("%.1f", found.p999Nanos() / 1e3),
            number("%.3f", result.processors(phase))
        };
    }

    private static TextTable processes(DemoResult result) {
        TextTable table =
                TextTable.ofNumbers(
                        "process",
                        "exit",
                        "operations",
                        "hit rate %",
                        "payload bytes copied",
                        "message bytes copied");
        for (ChildOutcome outcome : result.outcomes()) {
            ChildReport report = outcome.report();
            String exit =
                    outcome.exitCode() == ChildOutcome.NOT_STARTED
                            ? NONE
                            : Integer.toString(outcome.exitCode());
            if (report == null) {
                table.add(outcome.name(), exit, NONE, NONE, NONE, NONE);
            } else {
                table.add(
                        outcome.name(),
                        exit,
                        Long.toString(report.operations()),
                        number("%.1f", report.hitRatePercent()),
                        Long.toString(report.payloadBytesCopied()),
                        Long.toString(report.messageBytesCopied()));
            }
        }
        return table;
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    private static String number(String format, OptionalDouble value) {
        return value.isPresent() ? number(format, value.getAsDouble()) : NONE;
    }
}
