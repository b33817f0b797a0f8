package io.softdpu.perf.demo;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ChildReport.PhaseResult;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.Figures;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * The results of a demo for programs: one JSON object, described in {@code docs/json.md}. Missing
 * results of a failed demo are null; {@code valid} is true only if everything is there and right.
 */
public final class DemoJson {
    private DemoJson() {}

    /**
     * The object.
     *
     * @param cpus what target, service and initiator were bound to
     */
    public static ObjectNode of(
            DemoOptions options, List<String> cpus, DemoResult result, ResultHeader header) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.set(ResultHeader.KEY, header.toJson(options(options, cpus), units()));
        root.put("valid", result.valid());
        root.putObject("sha256")
                .put("expected", result.expectedSha256())
                .put("actual", result.actualSha256().orElse(null));
        root.put("bytes_verified", result.bytesVerified());
        root.put("payload_copies", rounded(result.payloadCopies()));
        root.put("allocated_bytes_per_op", rounded(result.allocatedBytesPerOperation()));
        for (DemoPhase phase : DemoPhase.of(options)) {
            if (phase.isMeasured()) {
                root.set(
                        phase.key(),
                        result.median(phase).map(step -> phase(step, result)).orElse(null));
            }
        }
        ArrayNode processes = root.putArray("processes");
        result.outcomes().forEach(outcome -> processes.add(process(outcome)));
        ArrayNode notes = root.putArray("notes");
        result.notes().forEach(notes::add);
        return root;
    }

    private static ObjectNode options(DemoOptions options, List<String> cpus) {
        ObjectNode node =
                JsonNodeFactory.instance
                        .objectNode()
                        .put(
                                "volume",
                                options.volumeFile() == null
                                        ? null
                                        : options.volumeFile().toString())
                        .put("size_bytes", options.sizeBytes())
                        .put("block_size_bytes", options.blockSizeBytes())
                        .put("seconds", options.measureNanos() / 1e9);
        ArrayNode measured = node.putArray("measure");
        DemoPhase.of(options).stream()
                .filter(DemoPhase::isMeasured)
                .forEach(phase -> measured.add(phase.key()));
        node.put("repeat", options.repeats());
        node.put("cores", options.cores());
        ObjectNode cpu = node.putObject("cpu");
        for (DemoRole role : DemoRole.values()) {
            cpu.put(role.id(), cpus.get(role.index()));
        }
        return node.put("topology", options.devices().topology().name());
    }

    private static Map<String, String> units() {
        Map<String, String> units = new LinkedHashMap<>();
        units.put("payload_copies", "copies/byte");
        units.put("allocated_bytes_per_op", "bytes/operation");
        units.put("cores_used", "processors");
        units.put("iops", "operations/s");
        units.put("gb_per_s", "10^9 bytes/s");
        units.put("p50_us", "us");
        units.put("p99_us", "us");
        units.put("p999_us", "us");
        units.put("hit_rate", "%");
        return units;
    }

    private static ObjectNode phase(DemoStep median, DemoResult result) {
        Map<DemoStep, PhaseResult> runs = result.runs(median.phase());
        PhaseResult found = Objects.requireNonNull(runs.get(median), "one of the runs");
        ObjectNode node = figures(median, found, result);
        ArrayNode all = node.putArray("runs");
        runs.forEach((step, each) -> all.add(figures(step, each, result)));
        return node;
    }

    private static ObjectNode figures(DemoStep step, PhaseResult found, DemoResult result) {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        ObjectNode cores = node.putObject("cores_used");
        ObjectNode allocated = node.putObject("allocated_bytes");
        for (ChildOutcome outcome : result.outcomes()) {
            ResourceUse used = result.used(step, outcome.name());
            cores.put(
                    outcome.name(),
                    used == null ? null : (Double) Figures.rounded(used.processors()));
            allocated.put(outcome.name(), used == null ? null : (Long) used.allocatedBytes());
        }
        return node.put("io_size_bytes", found.ioSizeBytes())
                .put("in_flight", found.transactions())
                .put("operations", found.operations())
                .put("iops", Figures.rounded(found.iops()))
                .put("gb_per_s", Figures.rounded(found.gigabytesPerSecond()))
                .put("p50_us", Figures.rounded(found.p50Nanos() / 1e3))
                .put("p99_us", Figures.rounded(found.p99Nanos() / 1e3))
                .put("p999_us", Figures.rounded(found.p999Nanos() / 1e3));
    }

    private static ObjectNode process(ChildOutcome outcome) {
        ChildReport report = outcome.report();
        boolean started = outcome.exitCode() != ChildOutcome.NOT_STARTED;
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        node.put("name", outcome.name())
                .put("exit", started ? (Integer) outcome.exitCode() : null)
                .put("operations", report == null ? null : (Long) report.operations())
                .put(
                        "payload_bytes_copied",
                        report == null ? null : (Long) report.payloadBytesCopied())
                .put(
                        "message_bytes_copied",
                        report == null ? null : (Long) report.messageBytesCopied())
                .put(
                        "hit_rate",
                        report == null ? null : (Double) Figures.rounded(report.hitRatePercent()));
        ArrayNode cores = node.putArray("cores");
        if (report != null) {
            report.cores().forEach(core -> cores.add(core(core)));
        }
        return node;
    }

    private static ObjectNode core(ChildReport.Core core) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("cpu", core.cpu())
                .put("operations", core.operations())
                .put("payload_bytes_copied", core.payloadBytesCopied())
                .put("message_bytes_copied", core.messageBytesCopied())
                .put("hit_rate", Figures.rounded(core.hitRatePercent()));
    }

    private static @Nullable Double rounded(OptionalDouble value) {
        return value.isPresent() ? (Double) Figures.rounded(value.getAsDouble()) : null;
    }
}
