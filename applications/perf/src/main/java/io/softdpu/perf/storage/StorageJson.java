package io.softdpu.perf.storage;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.result.CounterFields;
import io.softdpu.perf.result.JsonFields;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.initiator.CoreReport;
import io.softdpu.storage.initiator.InitiatorReport;
import io.softdpu.storage.initiator.LatencySummary;
import io.softdpu.storage.initiator.PhaseReport;
import io.softdpu.storage.wire.IoType;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The statistics of a storage program for programs: one JSON object, described in {@code
 * docs/json.md}.
 */
public final class StorageJson {
    private StorageJson() {}

    /**
     * The object.
     *
     * @param run the phases; null for another role than the initiator
     * @param options all options of the program with the values that were used
     */
    public static ObjectNode of(
            SessionReport session,
            @Nullable InitiatorReport run,
            ObjectNode options,
            ResultHeader header) {
        JsonFields root = new JsonFields();
        root.node().set(ResultHeader.KEY, header.toJson(options, units()));
        root.put("role", session.role())
                .put("status", session.status().name())
                .put("failure", session.failure().isEmpty() ? null : session.failure())
                .put("provider", session.provider().isEmpty() ? null : session.provider())
                .put("path_mtu_bytes", session.provider().isEmpty() ? null : session.pathMtuBytes())
                .put("counters", CounterFields.of(session.counters()))
                .put(
                        "data_path",
                        figures(new JsonFields(), CoreFigures.total(session))
                                .put(
                                        "cores",
                                        CoreFigures.of(session).stream()
                                                .map(StorageJson::core)
                                                .toList()))
                .put("payload_bytes_copied", session.payloadBytesCopied())
                .put("nic_payload_bytes_copied", session.nicPayloadBytesCopied())
                .put("message_bytes_copied", session.messageBytesCopied());
        if (run != null) {
            root.put("phases", run.phases().stream().map(StorageJson::phase).toList());
        }
        return root.node();
    }

    private static Map<String, String> units() {
        Map<String, String> units = new LinkedHashMap<>();
        units.put("duration_s", "s");
        units.put("iops", "operations/s");
        units.put("gb_per_s", "10^9 bytes/s");
        units.put("hit_rate", "%");
        return units;
    }

    private static JsonFields phase(PhaseReport phase) {
        boolean compared = !phase.expectedSha256().isEmpty();
        JsonFields fields =
                new JsonFields()
                        .put("name", phase.name())
                        .put("complete", phase.complete())
                        .put("operation", phase.operation() == IoType.READ ? "read" : "write")
                        .put("io_size_bytes", phase.ioSizeBytes())
                        .put("in_flight", phase.cores().size() * phase.transactions());
        return figures(fields, CoreFigures.total(phase))
                .put("latency", latency(phase.latency()))
                .put("latency_since_due", latency(phase.latencySinceDue()))
                .put("bytes_verified", phase.bytesVerified())
                .put(
                        "sha256",
                        new JsonFields()
                                .put("expected", compared ? phase.expectedSha256() : null)
                                .put("actual", compared ? phase.actualSha256() : null))
                .put(
                        "cores",
                        phase.cores().stream().map(core -> core(core, phase.operation())).toList());
    }

    private static JsonFields core(CoreReport core, IoType operation) {
        return core(CoreFigures.of(core, operation))
                .put("latency", latency(core.latency()))
                .put("latency_since_due", latency(core.latencySinceDue()));
    }

    private static JsonFields core(CoreFigures figures) {
        return figures(new JsonFields().put("cpu", figures.cpu()), figures);
    }

    private static JsonFields figures(JsonFields fields, CoreFigures figures) {
        return fields.put("duration_s", figures.duration().toNanos() / 1e9)
                .put("operations", figures.operations())
                .put("reads", figures.reads())
                .put("writes", figures.writes())
                .put("errors", figures.errors())
                .put("gb_per_s", figures.gigabytesPerSecond())
                .put("iops", figures.iops())
                .put("hit_rate", figures.hitRatePercent())
                .put("progress_hits", figures.progressHits())
                .put("progress_misses", figures.progressMisses())
                .put("refused_submissions", figures.refusedSubmissions());
    }

    private static @Nullable JsonFields latency(@Nullable LatencySummary latency) {
        return latency == null
                ? null
                : new JsonFields()
                        .put("min_us", latency.minNanos() / 1e3)
                        .put("mean_us", latency.meanNanos() / 1e3)
                        .put("p50_us", latency.p50Nanos() / 1e3)
                        .put("p90_us", latency.p90Nanos() / 1e3)
                        .put("p99_us", latency.p99Nanos() / 1e3)
                        .put("p999_us", latency.p999Nanos() / 1e3)
                        .put("max_us", latency.maxNanos() / 1e3);
    }
}
