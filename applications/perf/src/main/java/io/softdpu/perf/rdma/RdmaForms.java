package io.softdpu.perf.rdma;

import io.softdpu.perf.pair.PerfForms;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.PerfSheet;
import io.softdpu.perf.result.CounterFields;
import io.softdpu.perf.result.JsonFields;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.SizeText;
import io.softdpu.perf.text.TextTable;
import io.softdpu.storage.RdmaCounters;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/** Table and JSON object of the result of an RDMA measurement. */
public final class RdmaForms extends PerfForms<RdmaPlan, RdmaFigures> {
    @Override
    protected void plan(PerfSheet sheet, RdmaPlan plan) {
        Path capture = plan.provider().capture();
        sheet.both("measurement", plan.mode().word())
                .both("operation", plan.operation().word())
                .both("provider", plan.provider().name())
                .key("impair", plan.provider().impairment())
                .key("pcap", capture == null ? null : capture.toString())
                .column("size", SizeText.rounded(plan.sizeBytes()))
                .key("size_bytes", plan.sizeBytes())
                .both("wait", plan.waiting().word())
                .both("window", plan.mode() == RdmaMode.LATENCY ? null : plan.window());
    }

    @Override
    protected void figures(PerfSheet sheet, RdmaPlan plan, PerfRun<RdmaFigures> run) {
        String unit = "operations/s, round trips/s where the DPU answers";
        sheet.both("provider", run.own().provider())
                .key("path_mtu_bytes", run.own().pathMtuBytes())
                .rate("operations", "messages", unit, run)
                .dataRate(plan.sizeBytes(), run)
                .latencies(run)
                .heap("operation", "bytes/operation", run)
                .cores(run)
                .lineTimes(run)
                .key("counters", counters(run.own()));
    }

    private static @Nullable JsonFields counters(RdmaFigures figures) {
        JsonFields host = CounterFields.of(figures.host());
        JsonFields dpu = CounterFields.of(figures.dpu());
        return host == null && dpu == null
                ? null
                : new JsonFields().put("host", host).put("dpu", dpu);
    }

    /**
     * A table of what the provider has counted and is not 0. Of the device it has only what is not
     * of connections, since each process has one.
     */
    @Override
    protected void addRemarks(List<String> lines, PerfResult<RdmaPlan, RdmaFigures> result) {
        RdmaFigures figures = result.median().own();
        SequencedMap<String, Long> host = shown(figures.host());
        SequencedMap<String, Long> dpu = shown(figures.dpu());
        if (host.isEmpty() && dpu.isEmpty()) {
            return;
        }
        SequencedSet<String> names = new LinkedHashSet<>(host.keySet());
        names.addAll(dpu.keySet());
        TextTable table = TextTable.ofNumbers("counter", "host", "dpu");
        for (String name : names) {
            long ofHost = host.getOrDefault(name, 0L);
            long ofDpu = dpu.getOrDefault(name, 0L);
            if (ofHost != 0 || ofDpu != 0) {
                table.add(name, Figures.count(ofHost), Figures.count(ofDpu));
            }
        }
        lines.add("");
        lines.addAll(table.lines());
        lines.add("counters that are not 0, since the connection was made");
    }

    private static SequencedMap<String, Long> shown(RdmaCounters counters) {
        SequencedMap<String, Long> shown = new LinkedHashMap<>(counters.connections());
        counters.device().forEach(shown::putIfAbsent);
        return shown;
    }
}
