package io.softdpu.perf.block;

import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfForms;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.PerfSheet;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.SizeText;
import java.util.List;

/** Table and JSON object of the result of a measurement of a block device. */
public final class BlockForms extends PerfForms<BlockPlan, BlockFigures> {
    @Override
    protected void plan(PerfSheet sheet, BlockPlan plan) {
        Long size = plan.load() == BlockLoad.FLUSH ? null : (Long) plan.sizeBytes();
        sheet.both("measurement", plan.mode().word())
                .both("operation", plan.load().word())
                .key("volume", plan.volume())
                .column("size", size == null ? null : SizeText.rounded(size.longValue()))
                .key("size_bytes", size)
                .both("depth", plan.depth())
                .both("threads", plan.threads())
                .both("wait", plan.waiting().word())
                .key("random", plan.random())
                .key("fua", plan.fua())
                .key("overwrite", plan.overwrite());
    }

    @Override
    protected void figures(PerfSheet sheet, BlockPlan plan, PerfRun<BlockFigures> run) {
        Percentiles found = run.latencies();
        double cpuNanos = (double) run.host().cpuNanos() / Math.max(1, run.operations());
        sheet.key("description", run.own().description())
                .both("method", run.own().method())
                .rate("operations", "operations", "operations/s", run)
                .dataRate(plan.sizeBytes(), plan.load() == BlockLoad.FLUSH ? null : run)
                .time("p50", "p50_ns", found, Percentiles::p50Nanos)
                .time("p90", "p90_ns", found, _ -> run.own().p90Nanos())
                .time("p99", "p99_ns", found, Percentiles::p99Nanos)
                .time("p99.9", "p999_ns", found, Percentiles::p999Nanos)
                .time("max", "max_ns", found, Percentiles::maxNanos)
                .column("CPU", Figures.time(cpuNanos) + "/operation")
                .key("cpu_ns_per_op", cpuNanos, "ns/operation")
                .heap("operation", "bytes/operation", run)
                .column("cores used", Figures.number(run.processors()))
                .key("cores_used", run.processors(), "processors");
    }

    @Override
    protected void addRemarks(List<String> lines, PerfResult<BlockPlan, BlockFigures> result) {
        lines.add("volume: " + result.median().own().description());
    }
}
