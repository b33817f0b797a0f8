package io.softdpu.perf.rdma;

import io.softdpu.perf.pair.LineTimes;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.SizeText;
import io.softdpu.perf.text.TextStyle;
import io.softdpu.perf.text.TextTable;
import java.util.ArrayList;
import java.util.List;

/** The result of a measurement as text. */
public final class RdmaTable {
    /** Printed instead of a value that was not measured. */
    private static final String NONE = "-";

    private RdmaTable() {}

    /**
     * The lines: a head and a row; below them the line times, the warm-up, and notes on what makes
     * the figures meaningless.
     */
    public static List<String> lines(RdmaResult result, TextStyle style) {
        RdmaPlan plan = result.plan();
        Percentiles latencies = result.latencies();
        TextTable table =
                TextTable.ofNumbers(
                        "measurement",
                        "operation",
                        "provider",
                        "size",
                        "wait",
                        "window",
                        "operations",
                        "data rate",
                        "p50",
                        "p99",
                        "p99.9",
                        "max",
                        "heap",
                        "cores used");
        table.add(
                plan.mode().word(),
                plan.operation().word(),
                result.provider(),
                SizeText.rounded(plan.sizeBytes()),
                plan.waiting().word(),
                plan.mode() == RdmaMode.LATENCY ? NONE : Integer.toString(plan.window()),
                Figures.perSecond(result.operationsPerSecond()),
                Figures.gigabytesPerSecond(result.gigabytesPerSecond()),
                latencies == null ? NONE : Figures.time(latencies.p50Nanos()),
                latencies == null ? NONE : Figures.time(latencies.p99Nanos()),
                latencies == null ? NONE : Figures.time(latencies.p999Nanos()),
                latencies == null ? NONE : Figures.time(latencies.maxNanos()),
                Figures.number(result.allocatedBytesPerOperation()) + " B/operation",
                Figures.number(result.host().processors() + result.dpu().processors()));
        List<String> lines = new ArrayList<>(table.lines());
        LineTimes times = result.lineTimes();
        if (times != null) {
            lines.add(times.toText());
        }
        lines.add("measured after a warm-up of the same length in the same processes");
        result.notes().forEach(note -> lines.add(style.notable("note: " + note)));
        return lines;
    }
}
