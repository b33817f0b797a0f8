package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.softdpu.linux.Affinity;
import io.softdpu.perf.pair.WarmUp;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the Comm Channel measurement with two real processes. */
@StartsProcesses
class PerfComchTest extends PerfFixture {
    private static final List<String> KEYS =
            List.of(
                    "softdpu",
                    "measurement",
                    "size_bytes",
                    "wait",
                    "window",
                    "producers",
                    "consumers",
                    "clients",
                    "import_bytes",
                    "stream",
                    "cpu",
                    "messages",
                    "messages_per_s",
                    "gb_per_s",
                    "p50_ns",
                    "p99_ns",
                    "p999_ns",
                    "max_ns",
                    "allocated_bytes_per_op",
                    "cores_used",
                    "shares",
                    "line_before_ns",
                    "line_after_ns",
                    "distance",
                    "connects",
                    "connect_p50_ns",
                    "connect_p99_ns",
                    "connect_max_ns",
                    "resident_bytes_per_connection",
                    "ring_bytes_per_connection",
                    "imports",
                    "runs",
                    "notes");

    @TempDir Path folder;

    PerfComchTest() {
        super("comch", 3);
    }

    @ParameterizedTest
    @CsvSource({
        "latency, 64, adaptive, ''",
        "bandwidth, 300000, busy, ''",
        "control, 1, event, ''",
        "rate, 32, event, --stream",
        "rate, 32, adaptive, --stream=false"
    })
    void shouldMeasureWhatTheUserAsksFor(String measurement, int size, String wait, String path)
            throws IOException {
        JsonNode found =
                measured(
                        perf(
                                words(
                                        measurement,
                                        "--size " + size,
                                        "--wait " + wait,
                                        path,
                                        "--seconds 0.05 --json -")));

        assertThat(found.fieldNames()).toIterable().containsExactlyElementsOf(KEYS);
        assertThat(found.get("measurement").asText()).isEqualTo(measurement);
        assertThat(found.get("size_bytes").asInt()).isEqualTo(size);
        assertThat(found.get("wait").asText()).isEqualTo(wait);
        assertThat(found.get("stream").asBoolean()).isEqualTo(path.equals("--stream"));
        assertThat(found.at("/softdpu/options/stream").asBoolean())
                .isEqualTo(path.equals("--stream"));
        assertThat(found.get("messages").asLong()).isPositive();
        assertNothingLeft();
    }

    @ParameterizedTest
    @CsvSource({"adaptive, 0", "event, 16777216"})
    void shouldMeasureConnectionsWithoutMessages(String wait, long importBytes) throws IOException {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "idle",
                                "--clients",
                                "8",
                                "--wait",
                                wait,
                                "--seconds",
                                "0.2",
                                "--json",
                                "-"));
        if (importBytes > 0) {
            arguments.addAll(List.of("--import", "" + importBytes));
        }
        JsonNode found = measured(perf(arguments.toArray(String[]::new)));

        assertThat(found.fieldNames()).toIterable().containsExactlyElementsOf(KEYS);
        assertThat(found.get("clients").asInt()).isEqualTo(8);
        assertThat(found.get("connects").asLong()).isGreaterThanOrEqualTo(8);
        assertThat(found.get("connects").asLong() % 8).as("all, each time").isZero();
        assertThat(found.get("connect_p50_ns").asLong())
                .isPositive()
                .isLessThanOrEqualTo(found.get("connect_p99_ns").asLong());
        assertThat(found.get("connect_max_ns").asLong())
                .isGreaterThanOrEqualTo(found.get("connect_p99_ns").asLong());
        assertThat(found.get("ring_bytes_per_connection").asLong())
                .as("two rings for 64 messages of 4080 bytes and more, in whole pages")
                .isGreaterThan(2 * 64 * 4080)
                .matches(bytes -> bytes % 8192 == 0);
        assertThat(found.get("resident_bytes_per_connection").isNumber()).isTrue();
        assertThat(found.get("imports").asLong() > 0).isEqualTo(importBytes > 0);
        assertThat(found.get("import_bytes").isNull()).isEqualTo(importBytes == 0);
        assertThat(List.of(found.get("messages"), found.get("size_bytes"), found.get("producers")))
                .allMatch(JsonNode::isNull);
        assertNothingLeft();
    }

    @Test
    @Smoke
    void shouldRunAsOftenAndWithTheWindowThatTheUserAsksFor() throws IOException {
        JsonNode found =
                measured(
                        perf(
                                "rate",
                                "--window",
                                "16",
                                "--repeat",
                                "3",
                                "--seconds",
                                "0.05",
                                "--json",
                                "-"));

        assertThat(found.get("window").asInt()).isEqualTo(16);
        assertThat(found.get("runs")).hasSize(3);
        assertThat(found.get("distance").isNull()).as("not pinned").isTrue();
    }

    @Test
    void shouldPinBothSidesAndTimeACacheLineBetweenThem() throws IOException {
        int[] allowed = Affinity.allowed().stream().toArray();
        int host = allowed[allowed.length - 1];
        int dpu = allowed[0];
        JsonNode found =
                measured(
                        perf(
                                "latency",
                                "--wait",
                                "busy",
                                "--cpu",
                                host + "," + dpu,
                                "--seconds",
                                "0.05",
                                "--json",
                                "-"));

        assertThat(found.get("cpu").asText()).isEqualTo(host + "," + dpu);
        if (host == dpu) {
            assertThat(found.get("distance").isNull()).as("one processor").isTrue();
        } else {
            assertThat(found.get("line_before_ns").asLong()).isPositive();
            assertThat(found.get("line_after_ns").asLong()).isPositive();
            assertThat(found.get("distance").asText()).isIn("near", "far", "mixed");
        }
    }

    @Test
    void shouldMeasureBetweenTheDevicesOfTheTopologyThatTheUserChooses() throws IOException {
        JsonNode found =
                measured(
                        perf(
                                "latency",
                                "--cpu",
                                "any",
                                "--seconds",
                                "0.05",
                                "--topology",
                                "storage-guide",
                                "--json",
                                "-"));

        assertThat(found.at("/softdpu/options/topology").asText()).isEqualTo("storage-guide");
        assertThat(found.at("/softdpu/options/cpu").asText()).isEqualTo("any");
        assertThat(found.get("messages").asLong()).isPositive();
        assertNothingLeft();
    }

    @Test
    void shouldPrintATableAndWriteTheJsonBesideIt() throws IOException {
        Path json = folder.resolve("perf.json");
        ChildProcess perf = perf("latency", "--seconds", "0.05", "--json", json.toString());

        assertThat(perf.awaitExit()).isEqualTo(ExitCode.OK.code());

        assertThat(perf.outputLines().getFirst()).startsWith("measurement").contains("p50  ");
        assertThat(perf.outputLines().get(1)).matches("latency +64 B .* [num]s .* B/round trip .*");
        assertThat(perf.outputLines().get(2)).startsWith("measured after one or more warm-ups");
        assertThat(perf.outputLines().stream().skip(3))
                .as("notes, and one on the heap of few operations")
                .allMatch(line -> line.matches("(note|heap): .*"));
        assertThat(new ObjectMapper().readTree(json.toFile()).get("size_bytes").asInt())
                .isEqualTo(64);
    }

    @ParameterizedTest
    @CsvSource({
        "latency, adaptive, ''",
        "rate, adaptive, --producers 2 --consumers 2",
        "latency, adaptive, --stream",
        "rate, busy, --stream",
        "control, adaptive, ''",
        "idle, event, --clients 4 --import 1MiB"
    })
    void shouldEndWhereItsOtherHalfIsKilled(String measurement, String wait, String path) {
        ChildProcess perf = perf(words(measurement, "--wait " + wait, "--seconds 3600", path));
        assertEndsAfterAKill(perf, "CONNECTION_RESET: ");
    }

    @Test
    void shouldNotEndBeforeAFrozenOtherHalfHasReceivedAll() throws IOException {
        double seconds = 0.1;
        // On a busy machine all may be over before the signal has come: then it measures longer.
        while (!waitsForAFrozenOtherHalf(seconds)) {
            seconds *= 4;
            assertThat(seconds).as("ended without it, seconds").isLessThan(30);
        }
    }

    /** Freezes the other half; whether the measurement goes on until that one does. */
    private boolean waitsForAFrozenOtherHalf(double seconds) throws IOException {
        ChildProcess perf = perf("rate", "--seconds", "" + seconds, "--json", "-");
        ProcessHandle parent = ProcessHandle.of(perf.pid()).orElseThrow();
        Await.until("both are there", () -> sockets() > 2 || !perf.isAlive());
        Optional<ProcessHandle> dpu = parent.children().findFirst();
        boolean stopped = dpu.map(process -> trySignal(process, "STOP")).orElse(false);
        // Each warm-up takes as long as the measurement.
        double mostSeconds = (WarmUp.MOST_RUNS + 1) * seconds;
        Duration longer = Duration.ofMillis((long) (mostSeconds * 1000) + 2000);
        boolean waits = stopped && !Await.holdsWithin(longer, () -> !perf.isAlive());
        dpu.ifPresent(process -> trySignal(process, "CONT"));

        assertThat(measured(perf).get("messages").asLong()).isPositive();
        assertNothingLeft();
        return waits;
    }

    /** A frozen other half neither sees the end nor the SIGTERM: it has to be killed. */
    @Test
    void shouldSayItsLastWordsAfterASignalThoughItsOtherHalfIsFrozen() {
        ChildProcess perf = perf("latency", "--seconds", "3600");
        assertEndsAfterASignalThoughFrozen(perf);
    }

    @Test
    void shouldLeaveNothingAfterCtrlC() {
        ChildProcess perf = perf("rate", "--seconds", "3600");
        ProcessHandle dpu = otherHalf(perf);

        perf.signal("INT");

        assertThat(perf.awaitExit()).isEqualTo(ExitCode.INTERRUPTED.code());
        assertThat(perf.errorLines()).contains("softdpu: CONNECTION_ABORTED: User requested abort");
        Await.until("the other half has ended", () -> !dpu.isAlive());
        assertNothingLeft();
    }

    /** The words of all parts, some of which have none. */
    private static String[] words(String... parts) {
        return String.join(" ", parts).trim().split(" +");
    }
}
