package io.softdpu.perf.comch;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.pair.JsonFigures;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.Figures;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/** The result of a measurement for programs: one JSON object; a missing figure is null. */
public final class ComchJson {
    private ComchJson() {}

    /**
     * The object: the origin, the plan, the run with the median rate, and all runs.
     *
     * @param topology name of the card
     */
    public static ObjectNode of(ComchSummary summary, ResultHeader header, String topology) {
        ComchPlan plan = summary.plan();
        PerfCpus cpus = plan.cpus();
        boolean idle = plan.mode() == ComchMode.IDLE;
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.set(ResultHeader.KEY, header.toJson(options(plan, topology), units()));
        root.put("measurement", plan.mode().word())
                .put("size_bytes", idle ? null : (Long) plan.sizeBytes())
                .put("wait", plan.waiting().word())
                .put("window", plan.mode().isOneWay() ? (Integer) plan.window() : null)
                .put("producers", idle ? null : (Integer) plan.producers())
                .put("consumers", idle ? null : (Integer) plan.consumers())
                .put("clients", idle ? (Integer) plan.clients() : null)
                .put("import_bytes", plan.importBytes() == 0 ? null : (Long) plan.importBytes())
                .put("stream", plan.isStream())
                .put("cpu", cpus == null ? null : cpus.toString());
        putFigures(root, summary.median());
        ArrayNode runs = root.putArray("runs");
        summary.results().forEach(result -> putFigures(runs.addObject(), result));
        summary.notes().forEach(root.putArray("notes")::add);
        return root;
    }

    private static ObjectNode options(ComchPlan plan, String topology) {
        PerfCpus cpus = plan.cpus();
        boolean idle = plan.mode() == ComchMode.IDLE;
        return JsonNodeFactory.instance
                .objectNode()
                .put("measurement", plan.mode().word())
                .put("size_bytes", idle ? null : (Long) plan.sizeBytes())
                .put("wait", plan.waiting().word())
                .put("seconds", plan.nanos() / 1e9)
                .put("window", plan.mode().isOneWay() ? (Integer) plan.window() : null)
                .put("producers", idle ? null : (Integer) plan.producers())
                .put("consumers", idle ? null : (Integer) plan.consumers())
                .put("stream", plan.isStream())
                .put("clients", idle ? (Integer) plan.clients() : null)
                .put("import_bytes", plan.importBytes() == 0 ? null : (Long) plan.importBytes())
                .put("repeat", plan.repeats())
                .put("cpu", cpus == null ? PerfCpus.ANY : cpus.toString())
                .put("topology", topology);
    }

    private static Map<String, String> units() {
        Map<String, String> units = new LinkedHashMap<>();
        units.put("messages_per_s", "messages/s, with latency and control round trips/s");
        units.put("gb_per_s", "10^9 bytes/s");
        JsonFigures.addLatencyUnits(units);
        units.put("connect_p50_ns", "ns");
        units.put("connect_p99_ns", "ns");
        units.put("connect_max_ns", "ns");
        units.put("resident_bytes_per_connection", "bytes/connection");
        units.put("ring_bytes_per_connection", "bytes/connection");
        units.put("allocated_bytes_per_op", "bytes/message");
        units.put("cores_used", "processors");
        units.put("shares", "part of 1");
        JsonFigures.addLineUnits(units);
        return units;
    }

    private static void putFigures(ObjectNode node, ComchResult result) {
        OptionalDouble allocated = result.allocatedBytesPerOperation();
        boolean idle = result.idle() != null;
        node.put("messages", idle ? null : (Long) result.messages())
                .put(
                        "messages_per_s",
                        idle ? null : (Double) Figures.rounded(result.messagesPerSecond()))
                .put(
                        "gb_per_s",
                        idle ? null : (Double) Figures.rounded(result.gigabytesPerSecond()));
        JsonFigures.putLatencies(node, result.latencies());
        node.put(
                "allocated_bytes_per_op",
                allocated.isEmpty() ? null : (Double) Figures.rounded(allocated.getAsDouble()));
        JsonFigures.putCores(node, result.host(), result.dpu());
        ArrayNode shares = node.putArray("shares");
        result.shares().forEach(share -> shares.add(Figures.rounded(share)));
        JsonFigures.putLineTimes(node, result.lineTimes());
        putIdle(node, result.idle());
    }

    private static void putIdle(ObjectNode node, @Nullable IdleFigures idle) {
        Percentiles connecting = idle == null ? null : idle.connectLatencies();
        node.put("connects", idle == null ? null : (Long) idle.connects())
                .put("connect_p50_ns", connecting == null ? null : (Long) connecting.p50Nanos())
                .put("connect_p99_ns", connecting == null ? null : (Long) connecting.p99Nanos())
                .put("connect_max_ns", connecting == null ? null : (Long) connecting.maxNanos())
                .put(
                        "resident_bytes_per_connection",
                        idle == null
                                ? null
                                : (Double) Figures.rounded(idle.residentBytesPerConnection()))
                .put(
                        "ring_bytes_per_connection",
                        idle == null ? null : (Long) idle.ringBytesPerConnection())
                .put("imports", idle == null ? null : (Long) idle.imports());
    }
}
