package io.softdpu.perf.sync;

import io.softdpu.perf.pair.PerfForms;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.PerfSheet;
import io.softdpu.perf.result.JsonFields;
import io.softdpu.perf.text.Figures;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Table and JSON object of the result of a sync event measurement. */
public final class SyncForms extends PerfForms<SyncPlan, Optional<SyncAdds>> {
    @Override
    protected void plan(PerfSheet sheet, SyncPlan plan) {
        SyncWait waiting = plan.waiting();
        String word = waiting == null ? null : waiting.word();
        Long pace = plan.paceNanos() == 0 ? null : (Long) plan.paceNanos();
        sheet.both("measurement", plan.mode().word());
        if (plan.mode() == SyncMode.LATENCY) {
            sheet.column("wait", word)
                    .column("pace", pace == null ? null : Figures.time(pace.longValue()));
        }
        sheet.key("wait", word).key("pace_ns", pace);
    }

    @Override
    protected void figures(PerfSheet sheet, SyncPlan plan, PerfRun<Optional<SyncAdds>> run) {
        SyncAdds adds = run.own().orElse(null);
        PerfRun<?> roundTrips = adds == null ? run : null;
        sheet.rate("round trips", "round_trips", "round trips/s", roundTrips).latencies(roundTrips);
        addAdds(sheet, adds);
        sheet.heap(
                        adds == null ? "round trip" : "addition",
                        "bytes/round trip, with rate bytes/addition",
                        run)
                .cores(run);
    }

    private static void addAdds(PerfSheet sheet, @Nullable SyncAdds adds) {
        if (adds != null) {
            sheet.column("adds of host", Long.toString(adds.host()))
                    .column("adds of DPU", Long.toString(adds.dpu()))
                    .column("value", Long.toString(adds.value()))
                    .column("rate of host", Figures.perSecond(adds.hostPerSecond()))
                    .column("rate of DPU", Figures.perSecond(adds.dpuPerSecond()));
        }
        sheet.key("adds", adds == null ? null : sides(adds.host(), adds.dpu()))
                .key(
                        "adds_per_s",
                        adds == null ? null : sides(adds.hostPerSecond(), adds.dpuPerSecond()),
                        "additions/s")
                .key("value", adds == null ? null : adds.value());
    }

    private static JsonFields sides(Object host, Object dpu) {
        return new JsonFields().put("host", host).put("dpu", dpu);
    }
}
