package io.softdpu.perf.rdma;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.pair.JsonFigures;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.Figures;
import java.util.LinkedHashMap;
import java.util.Map;

/** The result of a measurement for programs: one JSON object; a missing figure is null. */
public final class RdmaJson {
    private RdmaJson() {}

    /**
     * The object: the origin, the plan and the figures.
     *
     * @param topology name of the card
     */
    public static ObjectNode of(RdmaResult result, ResultHeader header, String topology) {
        RdmaPlan plan = result.plan();
        PerfCpus cpus = plan.cpus();
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.set(ResultHeader.KEY, header.toJson(options(plan, topology), units()));
        putPlan(root, plan)
                .put("cpu", cpus == null ? null : cpus.toString())
                .put("provider", result.provider())
                .put("messages", result.operations())
                .put("messages_per_s", Figures.rounded(result.operationsPerSecond()))
                .put("gb_per_s", Figures.rounded(result.gigabytesPerSecond()));
        JsonFigures.putLatencies(root, result.latencies());
        root.put("allocated_bytes_per_op", Figures.rounded(result.allocatedBytesPerOperation()));
        JsonFigures.putCores(root, result.host(), result.dpu());
        JsonFigures.putLineTimes(root, result.lineTimes());
        result.notes().forEach(root.putArray("notes")::add);
        return root;
    }

    private static ObjectNode putPlan(ObjectNode node, RdmaPlan plan) {
        return node.put("measurement", plan.mode().word())
                .put("operation", plan.operation().word())
                .put("size_bytes", plan.sizeBytes())
                .put("wait", plan.waiting().word())
                .put("window", plan.mode() == RdmaMode.LATENCY ? null : (Integer) plan.window());
    }

    private static ObjectNode options(RdmaPlan plan, String topology) {
        PerfCpus cpus = plan.cpus();
        return putPlan(JsonNodeFactory.instance.objectNode(), plan)
                .put("seconds", plan.nanos() / 1e9)
                .put("cpu", cpus == null ? PerfCpus.ANY : cpus.toString())
                .put("topology", topology);
    }

    private static Map<String, String> units() {
        Map<String, String> units = new LinkedHashMap<>();
        units.put("messages_per_s", "operations/s, round trips/s where the DPU answers");
        units.put("gb_per_s", "10^9 bytes/s");
        JsonFigures.addLatencyUnits(units);
        units.put("allocated_bytes_per_op", "bytes/operation");
        units.put("cores_used", "processors");
        JsonFigures.addLineUnits(units);
        return units;
    }
}
