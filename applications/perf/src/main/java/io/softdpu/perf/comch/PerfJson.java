package io.softdpu.perf.comch;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.OptionalDouble;

/** The result of a measurement for programs: one JSON object; a missing figure is null. */
public final class PerfJson {
    private PerfJson() {}

    /** The object. */
    public static ObjectNode of(PerfResult result) {
        PerfPlan plan = result.plan();
        Percentiles latencies = result.latencies();
        OptionalDouble allocated = result.allocatedBytesPerOperation();
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("measurement", plan.mode().word())
                .put("size_bytes", plan.sizeBytes())
                .put("wait", plan.waiting().word())
                .put("messages", result.messages())
                .put("messages_per_s", result.messagesPerSecond())
                .put("gb_per_s", result.gigabytesPerSecond())
                .put("p50_ns", latencies == null ? null : (Long) latencies.p50Nanos())
                .put("p99_ns", latencies == null ? null : (Long) latencies.p99Nanos())
                .put("p999_ns", latencies == null ? null : (Long) latencies.p999Nanos())
                .put(
                        "allocated_bytes_per_op",
                        allocated.isEmpty() ? null : (Double) allocated.getAsDouble());
        root.putObject("cores_used")
                .put("host", result.host().processors())
                .put("dpu", result.dpu().processors());
        return root;
    }
}
