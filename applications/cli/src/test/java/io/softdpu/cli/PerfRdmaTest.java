package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.softdpu.linux.Affinity;
import io.softdpu.rdma.roce.capture.Analysis;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the RDMA measurement with two real processes. */
@StartsProcesses
class PerfRdmaTest extends PerfFixture {
    private static final List<String> KEYS =
            List.of(
                    "softdpu",
                    "measurement",
                    "operation",
                    "provider",
                    "impair",
                    "pcap",
                    "size_bytes",
                    "wait",
                    "window",
                    "cpu",
                    "path_mtu_bytes",
                    "messages",
                    "messages_per_s",
                    "gb_per_s",
                    "p50_ns",
                    "p99_ns",
                    "p999_ns",
                    "max_ns",
                    "allocated_bytes_per_op",
                    "cores_used",
                    "line_before_ns",
                    "line_after_ns",
                    "distance",
                    "counters",
                    "notes");

    @TempDir Path folder;

    PerfRdmaTest() {
        super("rdma", 2);
    }

    @ParameterizedTest
    @CsvSource({
        "latency, write, 1, busy",
        "latency, fetch-add, 8, event",
        "rate, send, 32, adaptive",
        "bandwidth, write-imm, 100000, adaptive"
    })
    void shouldMeasureWhatTheUserAsksFor(
            String measurement, String operation, long size, String wait) throws IOException {
        JsonNode found =
                measured(
                        perf(
                                measurement,
                                "--op",
                                operation,
                                "--size",
                                "" + size,
                                "--wait",
                                wait,
                                "--seconds",
                                "0.05",
                                "--json",
                                "-"));

        assertThat(found.fieldNames()).toIterable().containsExactlyElementsOf(KEYS);
        assertThat(found.get("measurement").asText()).isEqualTo(measurement);
        assertThat(found.get("operation").asText()).isEqualTo(operation);
        assertThat(found.get("provider").asText()).isEqualTo("shm");
        assertThat(found.get("size_bytes").asLong()).isEqualTo(size);
        assertThat(found.get("wait").asText()).isEqualTo(wait);
        assertThat(found.get("window").isNull()).isEqualTo(measurement.equals("latency"));
        assertThat(found.get("messages").asLong()).isPositive();
        assertNothingLeft();
    }

    @Test
    void shouldUseTheWindowTheProcessorsAndTheTopologyThatTheUserAsksFor() throws IOException {
        int[] allowed = Affinity.allowed().stream().toArray();
        int host = allowed[allowed.length - 1];
        int dpu = allowed[0];
        JsonNode found =
                measured(
                        perf(
                                "rate",
                                "--op",
                                "write",
                                "--window",
                                "16",
                                "--cpu",
                                host + "," + dpu,
                                "--seconds",
                                "0.05",
                                "--topology",
                                "storage-guide",
                                "--json",
                                "-"));

        assertThat(found.get("window").asInt()).isEqualTo(16);
        assertThat(found.get("wait").asText()).isEqualTo("adaptive");
        assertThat(found.get("cpu").asText()).isEqualTo(host + "," + dpu);
        assertThat(found.at("/softdpu/options/topology").asText()).isEqualTo("storage-guide");
        if (host == dpu) {
            assertThat(found.get("distance").isNull()).as("one processor").isTrue();
        } else {
            assertThat(found.get("line_before_ns").asLong()).isPositive();
            assertThat(found.get("line_after_ns").asLong()).isPositive();
            assertThat(found.get("distance").asText()).isIn("near", "far", "mixed");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "roce"})
    void shouldUseTheProviderThatTheUserAsksFor(String provider) throws IOException {
        JsonNode found =
                measured(
                        perf(
                                "rate",
                                "--op",
                                "send",
                                "--seconds",
                                "0.05",
                                "--provider",
                                provider,
                                "--json",
                                "-"));

        assertThat(found.get("provider").asText()).isEqualTo(provider);
        assertThat(found.at("/softdpu/options/provider").asText()).isEqualTo(provider);
    }

    @Test
    void shouldImpairAndCaptureThePacketsAndCountThem() throws IOException {
        Path capture = folder.resolve("out.pcap");
        JsonNode found =
                measured(
                        perf(
                                "latency",
                                "--op",
                                "send",
                                "--seconds",
                                "0.2",
                                "--provider",
                                "roce",
                                "--impair",
                                "loss=0.03,dup=0.03,reorder=0.03,corrupt=0.03,seed=7",
                                "--pcap",
                                capture.toString(),
                                "--json",
                                "-"));

        assertThat(found.at("/softdpu/options/impair").asText()).startsWith("loss=0.03");
        assertThat(found.at("/softdpu/options/pcap").asText()).isEqualTo(capture.toString());
        JsonNode host = found.at("/counters/host");
        assertThat(host.at("/connections/packets_sent").asLong()).isPositive();
        assertThat(found.at("/counters/dpu/connections/packets_sent").asLong()).isPositive();
        for (String done : List.of("lost", "duplicated", "reordered", "corrupted")) {
            assertThat(host.at("/device/impair_" + done).asLong()).as(done).isPositive();
        }
        assertThat(host.at("/device/capture_written").asLong()).isPositive();
        assertThat(host.at("/device/capture_lost").asLong()).isZero();
        String page = Files.readString(Path.of("../../docs/json.md"));
        host.at("/device")
                .properties()
                .forEach(each -> assertThat(page).contains("`" + each.getKey() + "`"));
        try (InputStream input = Files.newInputStream(capture)) {
            Analysis analysis = new Analysis(input);
            Set<String> sources = new HashSet<>();
            while (analysis.next()) {
                sources.add(analysis.source());
            }
            assertThat(sources).as("both directions").hasSize(2);
            // With another port than 4791, which another run may hold, damaged ones are no packets.
            assertThat(analysis.badIcrc() + analysis.malformed() + analysis.otherFrames())
                    .isPositive();
        }
        assertNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "read", "send", "write-imm", "fetch-add", "cmp-swap"})
    void shouldMeasureEachOperationAndCaptureItSoThatEachIcrcIsRight(String operation)
            throws IOException {
        Path capture = folder.resolve("out.pcap");
        JsonNode found =
                measured(
                        perf(
                                "latency",
                                "--op",
                                operation,
                                "--seconds",
                                "0.05",
                                "--provider",
                                "roce",
                                "--pcap",
                                capture.toString(),
                                "--json",
                                "-"));

        assertThat(found.get("p50_ns").asLong()).isPositive();
        assertThat(found.get("allocated_bytes_per_op").isNumber()).isTrue();
        for (String side : List.of("host", "dpu")) {
            JsonNode counters = found.at("/counters/" + side);
            assertThat(counters.at("/connections/packets_sent").asLong()).as(side).isPositive();
            assertThat(counters.get("device").has("impair_lost")).isFalse();
        }
        try (InputStream input = Files.newInputStream(capture)) {
            Analysis analysis = new Analysis(input);
            while (analysis.next()) {
                assertThat(analysis.isIcrcRight()).isTrue();
            }
            assertThat(analysis.packets()).isGreaterThan(10);
        }
        assertThat(Run.of("packets", capture.toString()).exit()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--impair loss=0.1|option=--impair, provider=auto, expected=--provider roce",
                "--provider shm --pcap x|option=--pcap, provider=shm, expected=--provider roce",
                "--provider roce --impair loss=2|option=--impair, loss=2, expected=a probability",
                "--provider roce --pcap /no/folder/x|IO_FAILED: capture cannot be written:"
                        + " file=/no/folder/x, failure=it"
            })
    void shouldRefuseOptionsOfTheNetworkThatAreIllegalOrHaveNoEffect(
            String options, String reason) {
        for (String command : List.of("rdma latency --op send", "rdma-idle --fabric " + folder)) {
            String all = command + " " + options;
            List<String> words = List.of(all.split(" "));
            ChildProcess perf =
                    perfOf(words.getFirst(), words.subList(1, words.size()).toArray(String[]::new));

            assertThat(perf.awaitExit()).isNotEqualTo(ExitCode.OK.code());
            assertThat(perf.errorLines()).anyMatch(line -> line.contains(reason));
        }
        assertNothingLeft();
    }

    @ParameterizedTest
    @CsvSource({"rdma, latency --op send", "rdma-idle, --connections 1 --fabric FOLDER"})
    void shouldNameTheProvidersThatThereAreForAnother(String command, String arguments) {
        String all = arguments.replace("FOLDER", folder.toString()) + " --provider shn";
        ChildProcess perf = perfOf(command, all.split(" "));

        assertThat(perf.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(perf.errorLines())
                .anyMatch(line ->
                        line.startsWith("softdpu: NOT_FOUND: ")
                                && line.contains("option=--provider, provider=shn, device=")
                                && line.contains("expected=auto or one of [shm, roce]")
                                && line.endsWith("; did you mean shm?"));
        assertNothingLeft();
    }

    @Test
    void shouldMeasureTheMemoryOfIdleConnections() {
        ChildProcess perf =
                processes.start(
                        Pipeline.command("perf", "rdma-idle")
                                .withArguments("--connections", "16", "--fabric", folder + ""));

        assertThat(perf.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(perf.outputLines().getFirst()).matches("resident_bytes_per_connection -?\\d+");
        assertThat(perf.outputLines().getLast()).startsWith("ring_bytes_per_connection ");
        long rings = Long.parseLong(perf.outputLines().getLast().split(" ")[1]);
        assertThat(rings)
                .as("two rings, in whole pages")
                .isPositive()
                .matches(bytes -> bytes % 8192 == 0);
    }

    @Test
    void shouldPrintATableAndWriteTheJsonBesideIt() throws IOException {
        Path json = folder.resolve("perf.json");
        ChildProcess perf =
                perf("latency", "--op", "write", "--seconds", "0.05", "--json", json.toString());

        assertThat(perf.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(perf.outputLines().getFirst()).startsWith("measurement").contains("p50  ");
        assertThat(perf.outputLines().get(1))
                .matches("latency +write +shm +64 B +busy +- .* [num]s .* B/operation .*");
        assertThat(perf.outputLines().get(2)).startsWith("measured after one or more warm-ups");
        assertThat(new ObjectMapper().readTree(json.toFile()).get("operation").asText())
                .isEqualTo("write");
    }

    @ParameterizedTest
    @CsvSource({
        "latency, write, busy",
        "latency, read, event",
        "rate, send, adaptive",
        "rate, fetch-add, busy"
    })
    void shouldEndWhereItsOtherHalfIsKilled(String measurement, String operation, String wait) {
        ChildProcess perf =
                perf(measurement, "--op", operation, "--wait", wait, "--seconds", "3600");
        assertEndsAfterAKill(perf, "CONNECTION_RESET: process of the DPU has ended: exit=137");
    }

    /** A frozen other half neither answers nor sees the SIGTERM: it has to be killed. */
    @ParameterizedTest
    @CsvSource({"latency, write, busy", "rate, send, event"})
    void shouldEndAfterASignalThoughItsOtherHalfIsFrozen(
            String measurement, String operation, String wait) {
        ChildProcess perf =
                perf(measurement, "--op", operation, "--wait", wait, "--seconds", "3600");
        assertEndsAfterASignalThoughFrozen(perf);
    }
}
