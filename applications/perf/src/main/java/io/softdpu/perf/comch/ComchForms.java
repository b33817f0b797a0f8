package io.softdpu.perf.comch;

import io.softdpu.linux.text.Text;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfForms;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.PerfSheet;
import io.softdpu.perf.result.Runs;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.SizeText;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Table and JSON object of the results of a Comm Channel measurement. */
public final class ComchForms extends PerfForms<ComchPlan, ComchFigures> {
    @Override
    protected void plan(PerfSheet sheet, ComchPlan plan) {
        boolean idle = plan.mode() == ComchMode.IDLE;
        String waiting = plan.waiting().word();
        Integer window = plan.mode().isOneWay() ? (Integer) plan.window() : null;
        Long imported = plan.importBytes() == 0 ? null : (Long) plan.importBytes();
        sheet.both("measurement", plan.mode().word());
        if (idle) {
            sheet.column("clients", Integer.toString(plan.clients()))
                    .column("wait", waiting)
                    .column("import", imported == null ? null : SizeText.rounded(imported));
            for (String ofConnects : List.of("connects", "connect p50", "p99", "max")) {
                sheet.column(ofConnects, null); // before the others, and filled after them
            }
        } else {
            sheet.column("size", SizeText.rounded(plan.sizeBytes()))
                    .column("wait", waiting)
                    .column("window", window == null ? null : window.toString());
        }
        sheet.key("size_bytes", idle ? null : plan.sizeBytes())
                .key("wait", waiting)
                .key("window", window)
                .key("producers", idle ? null : plan.producers())
                .key("consumers", idle ? null : plan.consumers())
                .key("clients", idle ? plan.clients() : null)
                .key("import_bytes", imported)
                .key("stream", plan.isStream());
    }

    @Override
    protected void figures(PerfSheet sheet, ComchPlan plan, PerfRun<ComchFigures> run) {
        IdleFigures idle = run.own().idle();
        PerfRun<?> messages = idle == null ? run : null;
        String unit = "messages/s, with latency and control round trips/s";
        boolean isOneWay = plan.mode().isOneWay();
        sheet.rate(isOneWay ? "messages" : "round trips", "messages", unit, messages)
                .dataRate(plan.sizeBytes(), messages)
                .latencies(messages)
                .heap(isOneWay ? "message" : "round trip", "bytes/message", messages)
                .cores(run)
                .key("shares", run.own().shares(), "part of 1")
                .lineTimes(run);
        addIdle(sheet, idle);
    }

    private static void addIdle(PerfSheet sheet, @Nullable IdleFigures idle) {
        boolean shown = idle != null;
        Percentiles times = idle == null ? null : idle.connectLatencies();
        Double resident = idle == null ? null : (Double) idle.residentBytesPerConnection();
        Long rings = idle == null ? null : (Long) idle.ringBytesPerConnection();
        sheet.key("connects", idle == null ? null : idle.connects())
                .time(shown ? "connect p50" : null, "connect_p50_ns", times, Percentiles::p50Nanos)
                .time(shown ? "p99" : null, "connect_p99_ns", times, Percentiles::p99Nanos)
                .time(shown ? "max" : null, "connect_max_ns", times, Percentiles::maxNanos)
                .key("resident_bytes_per_connection", resident, "bytes/connection")
                .key("ring_bytes_per_connection", rings, "bytes/connection")
                .key("imports", idle == null ? null : idle.imports());
        if (idle != null && resident != null && rings != null) {
            sheet.column("connects", Figures.count(idle.connects()))
                    .column("resident", SizeText.rounded(resident.longValue()) + "/connection")
                    .column("rings", SizeText.rounded(rings) + "/connection");
        }
    }

    @Override
    protected boolean isRepeated() {
        return true;
    }

    @Override
    protected void addRemarks(List<String> lines, PerfResult<ComchPlan, ComchFigures> result) {
        ComchPlan plan = result.plan();
        ComchFigures own = result.median().own();
        if (plan.repeats() > 1) {
            lines.add(
                    Text.format(
                            "%s of %d runs, which had %s to %s %s per second",
                            Runs.medianName(plan.repeats()),
                            plan.repeats(),
                            Figures.count(result.min(PerfRun::perSecond)),
                            Figures.count(result.max(PerfRun::perSecond)),
                            plan.mode().isOneWay() ? "messages" : "round trips"));
        }
        if (plan.producers() > 1) {
            List<Double> shares = own.shares();
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
        IdleFigures idle = own.idle();
        if (idle != null && plan.importBytes() > 0) {
            lines.add(
                    Text.format(
                            "memory was imported and released %s times while clients connected and"
                                    + " slept",
                            Figures.count(idle.imports())));
        }
    }
}
