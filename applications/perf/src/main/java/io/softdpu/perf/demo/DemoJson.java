package io.softdpu.perf.demo;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ChildReport.PhaseResult;
import io.softdpu.perf.child.ResourceUse;
import java.util.List;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * The results of a demo for programs: one JSON object. Missing results of a failed demo are null;
 * {@code valid} is true only if everything is there and right.
 */
public final class DemoJson {
    private DemoJson() {}

    /** The object. */
    public static ObjectNode of(List<DemoPhase> plan, DemoResult result) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("valid", result.valid());
        root.putObject("sha256")
                .put("expected", result.expectedSha256())
                .put("actual", result.actualSha256().orElse(null));
        root.put("bytes_verified", result.bytesVerified());
        root.put("payload_copies", rounded(result.payloadCopies()));
        root.put("allocated_bytes_per_op", rounded(result.allocatedBytesPerOperation()));
        for (DemoPhase phase : plan) {
            if (phase.isMeasured()) {
                root.set(
                        phase.key(),
                        result.phase(phase).map(found -> phase(phase, found, result)).orElse(null));
            }
        }
        for (ChildOutcome outcome : result.outcomes()) {
            root.withArray("processes").add(process(outcome));
        }
        return root;
    }

    private static ObjectNode phase(DemoPhase phase, PhaseResult found, DemoResult result) {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        ObjectNode cores = node.putObject("cores_used");
        ObjectNode allocated = node.putObject("allocated_bytes");
        for (ChildOutcome outcome : result.outcomes()) {
            ResourceUse used = result.used(phase, outcome.name());
            cores.put(outcome.name(), used == null ? null : (Double) rounded(used.processors()));
            allocated.put(outcome.name(), used == null ? null : (Long) used.allocatedBytes());
        }
        return node.put("io_size_bytes", found.ioSizeBytes())
                .put("in_flight", found.transactions())
                .put("operations", found.operations())
                .put("iops", rounded(found.iops()))
                .put("gib_per_s", rounded(found.gibPerSecond()))
                .put("p50_us", rounded(found.p50Nanos() / 1e3))
                .put("p99_us", rounded(found.p99Nanos() / 1e3))
                .put("p999_us", rounded(found.p999Nanos() / 1e3));
    }

    private static ObjectNode process(ChildOutcome outcome) {
        ChildReport report = outcome.report();
        boolean started = outcome.exitCode() != ChildOutcome.NOT_STARTED;
        return JsonNodeFactory.instance
                .objectNode()
                .put("name", outcome.name())
                .put("exit", started ? (Integer) outcome.exitCode() : null)
                .put("operations", report == null ? null : (Long) report.operations())
                .put(
                        "payload_bytes_copied",
                        report == null ? null : (Long) report.payloadBytesCopied())
                .put(
                        "message_bytes_copied",
                        report == null ? null : (Long) report.messageBytesCopied())
                .put("hit_rate", report == null ? null : (Double) rounded(report.hitRatePercent()));
    }

    private static @Nullable Double rounded(OptionalDouble value) {
        return value.isPresent() ? (Double) rounded(value.getAsDouble()) : null;
    }

    /** Six decimals are more than any of the figures is worth. */
    private static double rounded(double value) {
        return Math.round(value * 1e6) / 1e6;
    }
}
