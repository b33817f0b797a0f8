package io.softdpu.perf.pair;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.text.Figures;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Figures that all measurements have in their JSON; a missing one is null. */
public final class JsonFigures {
    private JsonFigures() {}

    /** Puts percentiles and maximum. */
    public static void putLatencies(ObjectNode node, @Nullable Percentiles latencies) {
        node.put("p50_ns", latencies == null ? null : (Long) latencies.p50Nanos())
                .put("p99_ns", latencies == null ? null : (Long) latencies.p99Nanos())
                .put("p999_ns", latencies == null ? null : (Long) latencies.p999Nanos())
                .put("max_ns", latencies == null ? null : (Long) latencies.maxNanos());
    }

    /** Adds the units of {@link #putLatencies}. */
    public static void addLatencyUnits(Map<String, String> units) {
        units.put("p50_ns", "ns");
        units.put("p99_ns", "ns");
        units.put("p999_ns", "ns");
        units.put("max_ns", "ns");
    }

    /** Puts the processors that both sides have used. */
    public static void putCores(ObjectNode node, ResourceUse host, ResourceUse dpu) {
        node.putObject("cores_used")
                .put("host", Figures.rounded(host.processors()))
                .put("dpu", Figures.rounded(dpu.processors()));
    }

    /** Puts the round trips of a cache line, and their class. */
    public static void putLineTimes(ObjectNode node, @Nullable LineTimes times) {
        node.put("line_before_ns", times == null ? null : (Long) times.beforeNanos())
                .put("line_after_ns", times == null ? null : (Long) times.afterNanos())
                .put("distance", times == null ? null : times.distance().word());
    }

    /** Adds the units of {@link #putLineTimes}. */
    public static void addLineUnits(Map<String, String> units) {
        units.put("line_before_ns", "ns");
        units.put("line_after_ns", "ns");
    }
}
