package io.softdpu.perf.comch;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/** The result of a measurement for programs: one JSON object; a missing figure is null. */
public final class PerfJson {
    private PerfJson() {}

    /** The object: the plan, the run with the median rate, and all runs. */
    public static ObjectNode of(PerfSummary summary) {
        PerfPlan plan = summary.plan();
        PerfCpus cpus = plan.cpus();
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("measurement", plan.mode().word())
                .put("size_bytes", plan.sizeBytes())
                .put("wait", plan.waiting().word())
                .put("window", plan.mode() == PerfMode.LATENCY ? null : (Integer) plan.window())
                .put("producers", plan.producers())
                .put("cpu", cpus == null ? null : cpus.toString());
        putFigures(root, summary.median());
        ArrayNode runs = root.putArray("runs");
        summary.results().forEach(result -> putFigures(runs.addObject(), result));
        PerfNotes.of(summary).forEach(root.putArray("notes")::add);
        return root;
    }

    private static void putFigures(ObjectNode node, PerfResult result) {
        Percentiles latencies = result.latencies();
        OptionalDouble allocated = result.allocatedBytesPerOperation();
        node.put("messages", result.messages())
                .put("messages_per_s", result.messagesPerSecond())
                .put("gb_per_s", result.gigabytesPerSecond())
                .put("p50_ns", latencies == null ? null : (Long) latencies.p50Nanos())
                .put("p99_ns", latencies == null ? null : (Long) latencies.p99Nanos())
                .put("p999_ns", latencies == null ? null : (Long) latencies.p999Nanos())
                .put(
                        "allocated_bytes_per_op",
                        allocated.isEmpty() ? null : (Double) allocated.getAsDouble());
        node.putObject("cores_used")
                .put("host", result.host().processors())
                .put("dpu", result.dpu().processors());
        result.shares().forEach(node.putArray("shares")::add);
        putLineTimes(node, result.lineTimes());
    }

    private static void putLineTimes(ObjectNode node, @Nullable LineTimes times) {
        node.put("line_before_ns", times == null ? null : (Long) times.beforeNanos())
                .put("line_after_ns", times == null ? null : (Long) times.afterNanos())
                .put("distance", times == null ? null : times.distance().word());
    }
}
