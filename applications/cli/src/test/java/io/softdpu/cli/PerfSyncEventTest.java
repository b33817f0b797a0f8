package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.softdpu.linux.Affinity;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the sync event measurement with two real processes. */
@StartsProcesses
class PerfSyncEventTest extends PerfFixture {
    private static final List<String> KEYS =
            List.of(
                    "softdpu",
                    "measurement",
                    "wait",
                    "pace_ns",
                    "cpu",
                    "round_trips",
                    "round_trips_per_s",
                    "p50_ns",
                    "p99_ns",
                    "p999_ns",
                    "max_ns",
                    "adds",
                    "adds_per_s",
                    "value",
                    "allocated_bytes_per_op",
                    "cores_used",
                    "notes");

    @TempDir Path folder;

    PerfSyncEventTest() {
        super("sync-event", 3);
    }

    /** The measurement takes the options: the pace and the time bound the number. */
    @Test
    void shouldMeasureRoundTripsAsTheOptionsSay() throws IOException {
        JsonNode found =
                measured(
                        perf(
                                "latency",
                                "--wait",
                                "event",
                                "--pace",
                                "2ms",
                                "--seconds",
                                "0.2",
                                "--json",
                                "-"));

        assertThat(found.fieldNames()).toIterable().containsExactlyElementsOf(KEYS);
        assertThat(found.get("measurement").asText()).isEqualTo("latency");
        assertThat(found.get("wait").asText()).isEqualTo("event");
        assertThat(found.get("pace_ns").asLong()).isEqualTo(2_000_000);
        assertThat(found.at("/softdpu/options/pace_ns").asLong()).isEqualTo(2_000_000);
        assertThat(found.get("round_trips").asLong()).isBetween(1L, 101L);
        assertThat(found.get("p50_ns").asLong())
                .isPositive()
                .isLessThanOrEqualTo(found.get("p99_ns").asLong());
        assertThat(found.at("/cores_used/host").isNumber()).isTrue();
        assertThat(found.at("/cores_used/dpu").isNumber()).isTrue();
        assertNothingLeft();
    }

    @Test
    void shouldCountTheAddsOfBothProcessesWhoseSumIsTheValue() throws IOException {
        JsonNode found = measured(perf("rate", "--seconds", "0.2", "--json", "-"));

        assertThat(found.fieldNames()).toIterable().containsExactlyElementsOf(KEYS);
        assertThat(found.get("measurement").asText()).isEqualTo("rate");
        long host = found.at("/adds/host").asLong();
        long dpu = found.at("/adds/dpu").asLong();
        assertThat(host).isPositive();
        assertThat(dpu).isPositive();
        assertThat(found.get("value").asLong()).isEqualTo(host + dpu);
        assertNothingLeft();
    }

    @Test
    void shouldPinBothSides() throws IOException {
        int[] allowed = Affinity.allowed().stream().toArray();
        String pair = allowed[allowed.length - 1] + "," + allowed[0];
        JsonNode found =
                measured(
                        perf(
                                "latency",
                                "--wait",
                                "event",
                                "--cpu",
                                pair,
                                "--seconds",
                                "0.05",
                                "--topology",
                                "storage-guide",
                                "--json",
                                "-"));

        assertThat(found.get("cpu").asText()).isEqualTo(pair);
        assertThat(found.at("/softdpu/options/cpu").asText()).isEqualTo(pair);
        assertThat(found.at("/softdpu/options/topology").asText()).isEqualTo("storage-guide");
    }

    @Test
    void shouldPrintATableAndWriteTheJsonBesideIt() throws IOException {
        Path json = folder.resolve("perf.json");
        ChildProcess latency = perf("latency", "--seconds", "0.05", "--json", json.toString());
        assertThat(latency.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(latency.outputLines().getFirst()).startsWith("measurement").contains("p50  ");
        assertThat(latency.outputLines().get(1))
                .matches("latency +busy +- .* [num]s .* B/round trip .*");
        assertThat(latency.outputLines().get(2)).startsWith("measured after one or more warm-ups");
        assertThat(new ObjectMapper().readTree(json.toFile()).get("wait").asText())
                .isEqualTo("busy");

        ChildProcess rate = perf("rate", "--seconds", "0.05");
        assertThat(rate.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(rate.outputLines().getFirst()).contains("adds of host", "adds of DPU", "value");
        assertThat(rate.outputLines().get(1)).matches("rate +\\d+ +\\d+ +\\d+ .* B/addition .*");
    }

    @ParameterizedTest
    @CsvSource({"latency, --wait, busy", "latency, --wait, event", "rate, --cpu, any"})
    void shouldEndWhereItsOtherHalfIsKilled(String measurement, String option, String value) {
        ChildProcess perf = perf(measurement, option, value, "--seconds", "3600");
        assertEndsAfterAKill(perf, "CONNECTION_RESET: process of the DPU has ended: exit=137");
    }

    /** A frozen other half neither answers nor sees the SIGTERM: it has to be killed. */
    @ParameterizedTest
    @ValueSource(strings = {"yield", "event"})
    void shouldEndAfterASignalThoughItsOtherHalfIsFrozen(String wait) {
        ChildProcess perf = perf("latency", "--wait", wait, "--seconds", "3600");
        assertEndsAfterASignalThoughFrozen(perf);
    }
}
