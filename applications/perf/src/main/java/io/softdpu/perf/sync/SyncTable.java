package io.softdpu.perf.sync;

import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.TextStyle;
import io.softdpu.perf.text.TextTable;
import java.util.ArrayList;
import java.util.List;

/** The result of a measurement as text. */
public final class SyncTable {
    private SyncTable() {}

    /**
     * The lines: a head and a row, the warm-up, and notes on what makes the figures meaningless.
     */
    public static List<String> lines(SyncResult result, TextStyle style) {
        Percentiles latencies = result.latencies();
        SyncAdds adds = result.adds();
        List<String> lines = new ArrayList<>();
        if (latencies != null) {
            lines.addAll(roundTrips(result, latencies));
        }
        if (adds != null) {
            lines.addAll(additions(result, adds));
        }
        lines.add("measured after a warm-up of the same length in the same processes");
        result.notes().forEach(note -> lines.add(style.notable("note: " + note)));
        return lines;
    }

    private static List<String> roundTrips(SyncResult result, Percentiles latencies) {
        SyncPlan plan = result.plan();
        SyncWait waiting = plan.waiting();
        TextTable table =
                TextTable.ofNumbers(
                        "measurement",
                        "wait",
                        "pace",
                        "round trips",
                        "p50",
                        "p99",
                        "p99.9",
                        "max",
                        "heap",
                        "cores used");
        table.add(
                plan.mode().word(),
                waiting == null ? "-" : waiting.word(),
                plan.paceNanos() == 0 ? "-" : Figures.time(plan.paceNanos()),
                Figures.perSecond(result.roundTripsPerSecond()),
                Figures.time(latencies.p50Nanos()),
                Figures.time(latencies.p99Nanos()),
                Figures.time(latencies.p999Nanos()),
                Figures.time(latencies.maxNanos()),
                Figures.number(result.allocatedBytesPerOperation()) + " B/round trip",
                coresUsed(result));
        return table.lines();
    }

    private static List<String> additions(SyncResult result, SyncAdds adds) {
        TextTable table =
                TextTable.ofNumbers(
                        "measurement",
                        "adds of host",
                        "adds of DPU",
                        "value",
                        "rate of host",
                        "rate of DPU",
                        "heap",
                        "cores used");
        table.add(
                result.plan().mode().word(),
                Long.toString(adds.host()),
                Long.toString(adds.dpu()),
                Long.toString(adds.value()),
                Figures.perSecond(adds.hostPerSecond()),
                Figures.perSecond(adds.dpuPerSecond()),
                Figures.number(result.allocatedBytesPerOperation()) + " B/addition",
                coresUsed(result));
        return table.lines();
    }

    private static String coresUsed(SyncResult result) {
        return Figures.number(result.host().processors() + result.dpu().processors());
    }
}
