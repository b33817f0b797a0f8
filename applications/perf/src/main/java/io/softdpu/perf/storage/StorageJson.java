package io.softdpu.perf.storage;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.Figures;
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
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.set(ResultHeader.KEY, header.toJson(options, units()));
        root.put("role", session.role());
        root.put("status", session.status().name());
        root.put("failure", session.failure().isEmpty() ? null : session.failure());
        ObjectNode dataPath = figures(CoreFigures.total(session));
        ArrayNode cores = dataPath.putArray("cores");
        CoreFigures.of(session).forEach(core -> cores.add(core(core)));
        root.set("data_path", dataPath);
        root.put("payload_bytes_copied", session.payloadBytesCopied());
        root.put("message_bytes_copied", session.messageBytesCopied());
        if (run != null) {
            ArrayNode phases = root.putArray("phases");
            run.phases().forEach(phase -> phases.add(phase(phase)));
        }
        return root;
    }

    private static Map<String, String> units() {
        Map<String, String> units = new LinkedHashMap<>();
        units.put("duration_s", "s");
        units.put("iops", "operations/s");
        units.put("gib_per_s", "2^30 bytes/s");
        units.put("hit_rate", "%");
        return units;
    }

    private static ObjectNode phase(PhaseReport phase) {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        node.put("name", phase.name())
                .put("complete", phase.complete())
                .put("operation", phase.operation() == IoType.READ ? "read" : "write")
                .put("io_size_bytes", phase.ioSizeBytes())
                .put("in_flight", phase.cores().size() * phase.transactions());
        node.setAll(figures(CoreFigures.total(phase)));
        node.set("latency", latency(phase.latency()));
        node.set("latency_since_due", latency(phase.latencySinceDue()));
        node.put("bytes_verified", phase.bytesVerified());
        boolean compared = !phase.expectedSha256().isEmpty();
        node.putObject("sha256")
                .put("expected", compared ? phase.expectedSha256() : null)
                .put("actual", compared ? phase.actualSha256() : null);
        ArrayNode cores = node.putArray("cores");
        for (CoreReport core : phase.cores()) {
            ObjectNode each = core(CoreFigures.of(core, phase.operation()));
            each.set("latency", latency(core.latency()));
            each.set("latency_since_due", latency(core.latencySinceDue()));
            cores.add(each);
        }
        return node;
    }

    private static ObjectNode core(CoreFigures figures) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("cpu", figures.cpu());
        node.setAll(figures(figures));
        return node;
    }

    private static ObjectNode figures(CoreFigures figures) {
        Double rate = figures.gibibytesPerSecond();
        return JsonNodeFactory.instance
                .objectNode()
                .put("duration_s", Figures.rounded(figures.duration().toNanos() / 1e9))
                .put("operations", figures.operations())
                .put("reads", figures.reads())
                .put("writes", figures.writes())
                .put("errors", figures.errors())
                .put("gib_per_s", rate == null ? null : (Double) Figures.rounded(rate))
                .put("iops", Figures.rounded(figures.iops()))
                .put("hit_rate", Figures.rounded(figures.hitRatePercent()))
                .put("progress_hits", figures.progressHits())
                .put("progress_misses", figures.progressMisses())
                .put("refused_submissions", figures.refusedSubmissions());
    }

    private static @Nullable ObjectNode latency(@Nullable LatencySummary latency) {
        if (latency == null) {
            return null;
        }
        return JsonNodeFactory.instance
                .objectNode()
                .put("min_us", Figures.rounded(latency.minNanos() / 1e3))
                .put("mean_us", Figures.rounded(latency.meanNanos() / 1e3))
                .put("p50_us", Figures.rounded(latency.p50Nanos() / 1e3))
                .put("p90_us", Figures.rounded(latency.p90Nanos() / 1e3))
                .put("p99_us", Figures.rounded(latency.p99Nanos() / 1e3))
                .put("p999_us", Figures.rounded(latency.p999Nanos() / 1e3))
                .put("max_us", Figures.rounded(latency.maxNanos() / 1e3));
    }
}
