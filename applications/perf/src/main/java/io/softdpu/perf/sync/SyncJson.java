package io.softdpu.perf.sync;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.pair.JsonFigures;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.Figures;
import java.util.LinkedHashMap;
import java.util.Map;

/** The result of a measurement for programs: one JSON object; a missing figure is null. */
public final class SyncJson {
    private SyncJson() {}

    /**
     * The object: the origin, the plan and the figures.
     *
     * @param topology name of the card
     */
    public static ObjectNode of(SyncResult result, ResultHeader header, String topology) {
        SyncPlan plan = result.plan();
        Percentiles latencies = result.latencies();
        SyncAdds adds = result.adds();
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.set(ResultHeader.KEY, header.toJson(options(plan, topology), units()));
        putPlan(root, plan)
                .put("round_trips", latencies == null ? null : (Long) result.roundTrips())
                .put(
                        "round_trips_per_s",
                        latencies == null
                                ? null
                                : (Double) Figures.rounded(result.roundTripsPerSecond()));
        JsonFigures.putLatencies(root, latencies);
        if (adds == null) {
            root.putNull("adds").putNull("adds_per_s").putNull("value");
        } else {
            root.putObject("adds").put("host", adds.host()).put("dpu", adds.dpu());
            root.putObject("adds_per_s")
                    .put("host", Figures.rounded(adds.hostPerSecond()))
                    .put("dpu", Figures.rounded(adds.dpuPerSecond()));
            root.put("value", adds.value());
        }
        root.put("allocated_bytes_per_op", Figures.rounded(result.allocatedBytesPerOperation()));
        JsonFigures.putCores(root, result.host(), result.dpu());
        result.notes().forEach(root.putArray("notes")::add);
        return root;
    }

    private static ObjectNode putPlan(ObjectNode node, SyncPlan plan) {
        SyncWait waiting = plan.waiting();
        PerfCpus cpus = plan.cpus();
        return node.put("measurement", plan.mode().word())
                .put("wait", waiting == null ? null : waiting.word())
                .put("pace_ns", plan.paceNanos() == 0 ? null : (Long) plan.paceNanos())
                .put("cpu", cpus == null ? null : cpus.toString());
    }

    private static ObjectNode options(SyncPlan plan, String topology) {
        ObjectNode options = putPlan(JsonNodeFactory.instance.objectNode(), plan);
        if (plan.cpus() == null) {
            options.put("cpu", PerfCpus.ANY);
        }
        return options.put("seconds", plan.nanos() / 1e9).put("topology", topology);
    }

    private static Map<String, String> units() {
        Map<String, String> units = new LinkedHashMap<>();
        units.put("round_trips_per_s", "round trips/s");
        JsonFigures.addLatencyUnits(units);
        units.put("adds_per_s", "additions/s");
        units.put("allocated_bytes_per_op", "bytes/round trip, with rate bytes/addition");
        units.put("cores_used", "processors");
        return units;
    }
}
