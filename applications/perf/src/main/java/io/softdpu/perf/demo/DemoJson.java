package io.softdpu.perf.demo;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ChildReport.PhaseResult;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.result.CounterFields;
import io.softdpu.perf.result.JsonFields;
import io.softdpu.perf.result.ResultHeader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
        JsonFields root = new JsonFields();
        root.node().set(ResultHeader.KEY, header.toJson(options(options, cpus), units()));
        root.put("valid", result.valid())
                .put("provider", result.provider().orElse(null))
                .put(
                        "sha256",
                        new JsonFields()
                                .put("expected", result.expectedSha256())
                                .put("actual", result.actualSha256().orElse(null)))
                .put("bytes_verified", result.bytesVerified())
                .put("payload_copies", result.payloadCopies())
                .put("nic_copies", result.nicCopies())
                .put("allocated_bytes_per_op", result.allocatedBytesPerOperation());
        for (DemoPhase phase : DemoPhase.of(options)) {
            if (phase.isMeasured()) {
                root.put(
                        phase.key(),
                        result.median(phase).map(step -> phase(step, result)).orElse(null));
            }
        }
        return root.put("processes", result.outcomes().stream().map(DemoJson::process).toList())
                .put("notes", result.notes())
                .node();
    }

    private static ObjectNode options(DemoOptions options, List<String> cpus) {
        Path volume = options.volumeFile();
        JsonFields cpu = new JsonFields();
        for (DemoRole role : DemoRole.values()) {
            cpu.put(role.id(), cpus.get(role.index()));
        }
        List<String> measured =
                DemoPhase.of(options).stream()
                        .filter(DemoPhase::isMeasured)
                        .map(DemoPhase::key)
                        .toList();
        return new JsonFields()
                .put("volume", text(volume))
                .put("size_bytes", options.sizeBytes())
                .put("block_size_bytes", options.blockSizeBytes())
                .put("measure", measured)
                .put("repeat", options.repeats())
                .put("cores", options.cores())
                .put("cpu", cpu)
                .put("provider", options.provider().name())
                .put("impair", options.provider().impairment())
                .put("pcap", text(options.provider().capture()))
                .put("separate_folders", options.separateFolders())
                .put("topology", options.devices().topology().name())
                .node()
                .put("seconds", options.measureNanos() / 1e9);
    }

    private static @Nullable String text(@Nullable Path file) {
        return file == null ? null : file.toString();
    }

    private static Map<String, String> units() {
        Map<String, String> units = new LinkedHashMap<>();
        units.put("payload_copies", "copies/byte");
        units.put("nic_copies", "copies/byte");
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

    private static JsonFields phase(DemoStep median, DemoResult result) {
        Map<DemoStep, PhaseResult> runs = result.runs(median.phase());
        PhaseResult found = Objects.requireNonNull(runs.get(median), "one of the runs");
        List<JsonFields> all = new ArrayList<>();
        runs.forEach((step, each) -> all.add(figures(step, each, result)));
        return figures(median, found, result).put("runs", all);
    }

    private static JsonFields figures(DemoStep step, PhaseResult found, DemoResult result) {
        JsonFields cores = new JsonFields();
        JsonFields allocated = new JsonFields();
        for (ChildOutcome outcome : result.outcomes()) {
            ResourceUse used = result.used(step, outcome.name());
            cores.put(outcome.name(), used == null ? null : used.processors());
            allocated.put(outcome.name(), used == null ? null : used.allocatedBytes());
        }
        return new JsonFields()
                .put("cores_used", cores)
                .put("allocated_bytes", allocated)
                .put("io_size_bytes", found.ioSizeBytes())
                .put("in_flight", found.transactions())
                .put("operations", found.operations())
                .put("iops", found.iops())
                .put("gb_per_s", found.gigabytesPerSecond())
                .put("p50_us", found.p50Nanos() / 1e3)
                .put("p99_us", found.p99Nanos() / 1e3)
                .put("p999_us", found.p999Nanos() / 1e3);
    }

    private static JsonFields process(ChildOutcome outcome) {
        ChildReport report = outcome.report();
        boolean started = outcome.exitCode() != ChildOutcome.NOT_STARTED;
        List<ChildReport.Core> cores = report == null ? List.of() : report.cores();
        return new JsonFields()
                .put("name", outcome.name())
                .put("exit", started ? outcome.exitCode() : null)
                .put("operations", report == null ? null : report.operations())
                .put("payload_bytes_copied", report == null ? null : report.payloadBytesCopied())
                .put(
                        "nic_payload_bytes_copied",
                        report == null ? null : report.nicPayloadBytesCopied())
                .put("message_bytes_copied", report == null ? null : report.messageBytesCopied())
                .put("hit_rate", report == null ? null : report.hitRatePercent())
                .put("counters", report == null ? null : CounterFields.of(report.counters()))
                .put("cores", cores.stream().map(DemoJson::core).toList());
    }

    private static JsonFields core(ChildReport.Core core) {
        return new JsonFields()
                .put("cpu", core.cpu())
                .put("operations", core.operations())
                .put("payload_bytes_copied", core.payloadBytesCopied())
                .put("nic_payload_bytes_copied", core.nicPayloadBytesCopied())
                .put("message_bytes_copied", core.messageBytesCopied())
                .put("hit_rate", core.hitRatePercent());
    }
}
