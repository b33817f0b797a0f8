package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.softdpu.rdma.roce.capture.Analysis;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of successful demos: three real processes, real data. */
@StartsProcesses
class DemoTest {
    private static final List<String> KEYS =
            List.of(
                    "softdpu",
                    "valid",
                    "provider",
                    "sha256",
                    "bytes_verified",
                    "payload_copies",
                    "nic_copies",
                    "allocated_bytes_per_op",
                    "random_read_4k",
                    "random_write_4k",
                    "random_read_4k_depth1",
                    "random_write_4k_depth1",
                    "sequential_read_1m",
                    "processes",
                    "notes");

    @TempDir Path temporary;
    @TempDir Path folder;

    private Processes processes;

    @BeforeEach
    void setUp(Processes processes) {
        this.processes = processes;
    }

    @Test
    @Clause("sto-002")
    @Clause("sto-020")
    @Clause("sto-022")
    void shouldShowThatAllDataIsRightAndWasCopiedOnce() throws IOException {
        Path json = folder.resolve("demo.json");
        ChildProcess demo = demo("--size", "4MiB", "--seconds", "0.2", "--json", json.toString());

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.OK.code());

        JsonNode document = new ObjectMapper().readTree(json.toFile());
        assertShape(document);
        assertThat(document.get("valid").asBoolean()).isTrue();
        assertThat(document.at("/sha256/actual").asText())
                .matches("[0-9a-f]{64}")
                .isEqualTo(document.at("/sha256/expected").asText());
        assertThat(document.get("bytes_verified").asLong()).isEqualTo(2 * (4 << 20));
        assertThat(document.get("provider").asText()).isEqualTo("shm");
        assertThat(document.get("payload_copies").asDouble()).isBetween(0.99, 1.01);
        assertThat(document.get("nic_copies").asDouble()).isZero();
        assertThat(document.get("processes").findValuesAsText("name"))
                .containsExactly("initiator", "zero-copy", "target");
        assertThat(document.get("processes").findValuesAsText("exit")).containsOnly("0");
        assertThat(document.at("/processes/1/payload_bytes_copied").asLong()).isZero();
        assertThat(document.at("/processes/2/payload_bytes_copied").asLong()).isPositive();
        assertThat(demo.outputLines())
                .anyMatch(line -> line.matches("phase +I/O size +in flight +operations +rate .*"))
                .anyMatch(line ->
                        line.matches("random-read-4k +4 KiB +32 +[\\d.]+( [kM])? .* GB/s .*"))
                .anyMatch(line -> line.matches("sequential-read-1m +1 MiB +4 +[\\d.]+( [kM])? .*"))
                .anyMatch(line -> line.matches("zero-copy +0 +[\\d.]+( [kM])? +[\\d.]+ % +0 B .*"))
                .anyMatch(line -> line.startsWith("hit rate: "))
                .anyMatch(line -> line.startsWith("payload copies: 1"))
                .noneMatch(line -> line.contains("\u001b"))
                .last()
                .asString()
                .matches("all right: 8 MiB verified, SHA-256 [0-9a-f]{16}\\.{3}; next: .*");
        assertThat(demo.errorLines())
                .as("a line a phase where standard error is no terminal")
                .filteredOn(line -> line.startsWith("["))
                .hasSize(9);
        assertNothingLeft();
    }

    /** The service serves the initiator's memory by its NIC, and the target has a copy of none. */
    @Test
    void shouldRunOverTheNetwork() throws IOException {
        ChildProcess demo =
                demo(
                        "--size",
                        "1MiB",
                        "--seconds",
                        "0.1",
                        "--measure",
                        "random-read-4k,random-write-4k",
                        "--provider",
                        "roce",
                        "--json",
                        "-");

        JsonNode document = PerfFixture.measured(demo);
        assertThat(document.get("valid").asBoolean()).isTrue();
        assertThat(document.get("provider").asText()).isEqualTo("roce");
        assertThat(document.get("bytes_verified").asLong()).isEqualTo(2 * (1 << 20));
        assertCopiedByNicsAlone(document);
        assertNothingLeft();
    }

    /** As between two machines: nothing in one folder is seen in the other. */
    @Test
    void shouldReachATargetThatHasAFolderOfItsOwn() throws IOException {
        ChildProcess demo =
                demo(
                        "--size",
                        "1MiB",
                        "--seconds",
                        "0.1",
                        "--measure",
                        "random-write-4k",
                        "--separate-folders",
                        "--json",
                        "-");

        JsonNode document = PerfFixture.measured(demo);
        assertThat(document.get("valid").asBoolean()).isTrue();
        assertThat(document.get("provider").asText()).as("of its own accord").isEqualTo("roce");
        assertThat(document.at("/softdpu/options/provider").asText()).isEqualTo("auto");
        assertThat(document.at("/softdpu/options/separate_folders").asBoolean()).isTrue();
        assertCopiedByNicsAlone(document);
        assertNothingLeft();
    }

    @Test
    void shouldRefuseSeparateFoldersWhereTheEnvironmentNamesAProviderOfOneFolder() {
        ChildProcess demo =
                processes.start(
                        Pipeline.command("demo")
                                .withArguments("--separate-folders")
                                .withEnvironment("SOFTDPU_RDMA_PROVIDER", "shm"));

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.USAGE.code());
        assertThat(demo.errorLines())
                .anyMatch(line ->
                        line.contains(
                                "option=--separate-folders, provider=shm, expected=--provider roce,"
                                        + " or no --separate-folders"));
    }

    @Test
    void shouldNameTheProvidersThatThereAreForAnotherOfTheEnvironment() {
        ChildProcess demo =
                processes.start(
                        Pipeline.command("demo").withEnvironment("SOFTDPU_RDMA_PROVIDER", "ib"));

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(demo.errorLines())
                .anyMatch(line -> line.startsWith("softdpu: NOT_FOUND: "))
                .anyMatch(line ->
                        line.contains("variable=SOFTDPU_RDMA_PROVIDER, provider=ib, device=")
                                && line.contains("expected=auto or one of [shm, roce]"));
    }

    @Test
    void shouldRunWithSeveralCoresInEachProcess() throws IOException {
        Path json = folder.resolve("demo.json");
        ChildProcess demo =
                demo(
                        "--size",
                        "4MiB",
                        "--seconds",
                        "0.1",
                        "--measure",
                        "random-read-4k",
                        "--cores",
                        "2",
                        "--json",
                        json.toString());

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.OK.code());

        JsonNode document = new ObjectMapper().readTree(json.toFile());
        assertThat(document.get("valid").asBoolean()).isTrue();
        assertThat(document.at("/random_read_4k/in_flight").asInt()).isEqualTo(2 * 32);
        for (JsonNode process : document.get("processes")) {
            JsonNode cores = process.get("cores");
            assertThat(cores).hasSize(2);
            assertThat(cores)
                    .extracting(core -> core.get("operations").asLong())
                    .allMatch(operations -> operations > 0);
            assertThat(process.get("operations").asLong())
                    .isEqualTo(
                            cores.get(0).get("operations").asLong()
                                    + cores.get(1).get("operations").asLong());
            for (int core = 0; core < 2; core++) {
                String row = process.get("name").asText() + " " + core + " ";
                assertThat(demo.outputLines()).filteredOn(line -> line.startsWith(row)).hasSize(1);
            }
        }
        assertNothingLeft();
    }

    @Test
    void shouldRepeatMeasurementsOnTheTopologyThatTheUserChooses() throws IOException {
        ChildProcess demo =
                demo(
                        "--size",
                        "1MiB",
                        "--seconds",
                        "0.1",
                        "--measure",
                        "random-read-4k,idle",
                        "--repeat",
                        "3",
                        "--topology",
                        "storage-guide",
                        "--json",
                        "-");

        JsonNode document = PerfFixture.measured(demo);
        for (String phase : List.of("random_read_4k", "idle")) {
            JsonNode runs = document.get(phase).get("runs");
            assertThat(runs)
                    .hasSize(3)
                    .anyMatch(run -> run.get("iops").equals(document.get(phase).get("iops")));
            assertThat(runs)
                    .allMatch(run -> run.at("/cores_used/target").isNumber())
                    .allMatch(run -> run.get("operations").asLong() > 0);
        }
        assertThat(document.at("/softdpu/options/topology").asText()).isEqualTo("storage-guide");
        assertThat(demo.errorLines()).anyMatch(line -> line.contains(", run 3 of 3; "));
        assertNothingLeft();
    }

    @Test
    void shouldMoveTheVolumeOverABadNetworkAndCaptureIt() throws IOException {
        Path capture = folder.resolve("demo.pcap");
        ChildProcess demo =
                demo(
                        "--size",
                        "1MiB",
                        "--seconds",
                        "0.1",
                        "--measure",
                        "random-read-4k",
                        "--provider",
                        "roce",
                        "--impair",
                        "loss=0.01,dup=0.01,reorder=0.01,corrupt=0.01,seed=7",
                        "--pcap",
                        capture.toString(),
                        "--json",
                        "-");

        JsonNode document = PerfFixture.measured(demo);
        assertThat(document.get("valid").asBoolean()).isTrue();
        assertThat(document.at("/softdpu/options/impair").asText()).startsWith("loss=0.01");
        for (JsonNode process : document.get("processes")) {
            JsonNode counters = process.get("counters");
            if (process.get("name").asText().equals("initiator")) {
                assertThat(counters.isNull()).isTrue();
            } else {
                assertThat(counters.at("/connections/packets_sent").asLong()).isPositive();
                for (String done : List.of("lost", "duplicated", "reordered", "corrupted")) {
                    assertThat(counters.at("/device/impair_" + done).asLong())
                            .as(process.get("name") + " " + done)
                            .isPositive();
                }
            }
        }
        Set<String> sources = new HashSet<>();
        try (InputStream input = Files.newInputStream(capture)) {
            Analysis analysis = new Analysis(input);
            while (analysis.next()) {
                sources.add(analysis.source());
            }
        }
        assertThat(sources).as("both directions").hasSize(2);
        assertNothingLeft();
    }

    @Test
    @Smoke
    void shouldMeasureWhatItIsAskedForAndNothingElse() throws IOException {
        ChildProcess demo =
                demo(
                        "--size",
                        "1MiB",
                        "--seconds",
                        "0.3",
                        "--measure",
                        "idle,paced-read-4k",
                        "--provider",
                        "shm",
                        "--json",
                        "-");

        JsonNode document = PerfFixture.measured(demo);
        assertThat(document.fieldNames())
                .toIterable()
                .contains("paced_read_4k", "idle")
                .doesNotContain("random_read_4k");
        assertThat(document.get("provider").asText()).isEqualTo("shm");
        assertThat(document.at("/softdpu/options/provider").asText()).isEqualTo("shm");
        assertThat(document.at("/idle/operations").asLong()).isEqualTo(1);
        // One each 2 ms, of 0.3 s; how many fewer a slow machine makes is its own affair.
        assertThat(document.at("/paced_read_4k/operations").asLong()).isBetween(2L, 151L);
        assertThat(document.at("/paced_read_4k/in_flight").asInt()).isEqualTo(1);
        assertNothingLeft();
    }

    @Test
    void shouldServeAFileLeaveItAsItWasAndPrintNothingButTheJsonDocument(SeededRandom random)
            throws Exception {
        byte[] content = new byte[3 * 4096 * 7];
        random.nextBytes(content);
        Path volume = Files.write(folder.resolve("odd volume, with=signs"), content);

        ChildProcess demo = demo("--volume", volume.toString(), "--seconds", "0.1", "--json", "-");

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.OK.code());
        String output = String.join("\n", demo.outputLines());
        assertThat(output).startsWith("{").endsWith("}");
        JsonNode document = new ObjectMapper().readTree(output);
        assertShape(document);
        assertThat(document.at("/sha256/actual").asText()).isEqualTo(sha256(content));
        assertThat(Files.readAllBytes(volume)).isEqualTo(content);
    }

    @Test
    void shouldRunBesideAnotherDemo() {
        List<ChildProcess> demos = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            demos.add(demo("--size", "1MiB", "--seconds", "0.1"));
        }
        for (ChildProcess demo : demos) {
            assertThat(demo.awaitExit()).isEqualTo(ExitCode.OK.code());
        }
        assertNothingLeft();
    }

    /** Of two NICs: the service's takes what the target writes, the target's what it reads. */
    private static void assertCopiedByNicsAlone(JsonNode document) {
        assertThat(document.get("payload_copies").asDouble()).as("by programs").isZero();
        assertThat(document.get("nic_copies").asDouble()).isEqualTo(1);
        assertThat(document.get("processes").findValuesAsText("name"))
                .containsExactly("initiator", "zero-copy", "target");
        assertThat(document.at("/processes/0/nic_payload_bytes_copied").asLong()).isZero();
        assertThat(document.at("/processes/1/nic_payload_bytes_copied").asLong()).isPositive();
        assertThat(document.at("/processes/2/nic_payload_bytes_copied").asLong()).isPositive();
    }

    private ChildProcess demo(String... arguments) {
        JavaCommand command =
                Pipeline.command("demo")
                        .withArguments(arguments)
                        .withJvmOptions("-Djava.io.tmpdir=" + temporary);
        return processes.start(command);
    }

    private void assertNothingLeft() {
        try (Stream<Path> left = Files.list(temporary)) {
            assertThat(left.filter(path -> path.toString().contains("softdpu-demo"))).isEmpty();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertShape(JsonNode document) {
        assertThat(document.fieldNames()).toIterable().containsExactlyElementsOf(KEYS);
        assertThat(document.get("sha256").fieldNames())
                .toIterable()
                .containsExactly("expected", "actual");
        for (String phase : KEYS.subList(8, 13)) {
            assertThat(document.get(phase).fieldNames())
                    .toIterable()
                    .containsExactly(
                            "cores_used",
                            "allocated_bytes",
                            "io_size_bytes",
                            "in_flight",
                            "operations",
                            "iops",
                            "gb_per_s",
                            "p50_us",
                            "p99_us",
                            "p999_us",
                            "runs");
            assertThat(document.get(phase).get("runs")).hasSize(1);
            assertThat(document.get(phase).get("iops").asDouble()).isPositive();
            for (String used : List.of("cores_used", "allocated_bytes")) {
                assertThat(document.get(phase).get(used).fieldNames())
                        .toIterable()
                        .containsExactly("initiator", "zero-copy", "target");
                assertThat(document.get(phase).get(used)).allMatch(JsonNode::isNumber);
            }
        }
        assertThat(document.get("processes")).hasSize(3);
        for (JsonNode process : document.get("processes")) {
            assertThat(process.fieldNames())
                    .toIterable()
                    .containsExactly(
                            "name",
                            "exit",
                            "operations",
                            "payload_bytes_copied",
                            "nic_payload_bytes_copied",
                            "message_bytes_copied",
                            "hit_rate",
                            "counters",
                            "cores");
            assertThat(process.get("cores")).hasSize(1);
        }
    }

    private static String sha256(byte[] content) throws NoSuchAlgorithmException {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    }
}
