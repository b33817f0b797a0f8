package io.softdpu.perf.rdma;

import io.softdpu.perf.pair.PerfForms;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.PerfSheet;
import io.softdpu.perf.text.SizeText;

/** Table and JSON object of the result of an RDMA measurement. */
public final class RdmaForms extends PerfForms<RdmaPlan, RdmaFigures> {
    @Override
    protected void plan(PerfSheet sheet, RdmaPlan plan) {
        sheet.both("measurement", plan.mode().word())
                .both("operation", plan.operation().word())
                .both("provider", plan.provider().name())
                .column("size", SizeText.rounded(plan.sizeBytes()))
                .key("size_bytes", plan.sizeBytes())
                .both("wait", plan.waiting().word())
                .both("window", plan.mode() == RdmaMode.LATENCY ? null : plan.window());
    }

    @Override
    protected void figures(PerfSheet sheet, RdmaPlan plan, PerfRun<RdmaFigures> run) {
        String unit = "operations/s, round trips/s where the DPU answers";
        sheet.both("provider", run.own().provider())
                .rate("operations", "messages", unit, run)
                .dataRate(plan.sizeBytes(), run)
                .latencies(run)
                .heap("operation", "bytes/operation", run)
                .cores(run)
                .lineTimes(run);
    }
}
