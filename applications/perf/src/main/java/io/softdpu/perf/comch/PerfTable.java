package io.softdpu.perf.comch;

import io.softdpu.perf.text.SizeText;
import io.softdpu.perf.text.TextTable;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** The result of a measurement as text. */
public final class PerfTable {
    /** Printed instead of a value that was not measured. */
    private static final String NONE = "-";

    private PerfTable() {}

    /** The lines: a head and a row. */
    public static List<String> lines(PerfResult result) {
        PerfPlan plan = result.plan();
        Percentiles latencies = result.latencies();
        OptionalDouble allocated = result.allocatedBytesPerOperation();
        TextTable table =
                TextTable.ofNumbers(
                        "measurement",
                        "size",
                        "wait",
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
                number("%.0f", result.messagesPerSecond()),
                number("%.3f", result.gigabytesPerSecond()),
                latencies == null ? NONE : Long.toString(latencies.p50Nanos()),
                latencies == null ? NONE : Long.toString(latencies.p99Nanos()),
                latencies == null ? NONE : Long.toString(latencies.p999Nanos()),
                allocated.isEmpty() ? NONE : number("%.4f", allocated.getAsDouble()),
                number("%.3f", result.host().processors() + result.dpu().processors()));
        return table.lines();
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
