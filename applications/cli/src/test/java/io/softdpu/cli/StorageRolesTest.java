package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the three storage commands: successful sessions, and wrong data. */
@StartsProcesses
class StorageRolesTest {
    private static final int BLOCK = 4096;

    @TempDir Path fabric;
    @TempDir Path folder;

    private Pipeline pipeline;
    private Peers peers;

    @BeforeEach
    void setUp(Processes processes) {
        pipeline = new Pipeline(processes, fabric);
        peers = new Peers(fabric);
    }

    @AfterEach
    void closePeers() {
        peers.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"read_throughput_test", "write_throughput_test"})
    @Clause("sto-115")
    void shouldMeasureThroughputAndShowStatistics(String strategy) {
        String kinds = strategy.startsWith("read") ? "2000 +0 +0" : "0 +2000 +0";
        ChildProcess target = pipeline.patternTarget();
        ChildProcess service = pipeline.service(target);
        ChildProcess initiator =
                pipeline.initiator(
                        strategy,
                        "--run-limit-operation-count",
                        "2000",
                        "--warm-up",
                        "0",
                        "--transaction-count",
                        "8",
                        "--blocks-per-io",
                        "4");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(service.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(target.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(initiator.outputLines())
                .anyMatch(line -> line.matches("phase .*: operations of 16384 bytes, 8 in flight:"))
                .anyMatch(line -> line.matches("  latency +min +mean +p50 +p90 +p99 +p99.9 +max"))
                .anyMatch(line -> line.matches("  ( +[\\d.]+ [mun]?s){7}"))
                .filteredOn(line -> line.matches("  0 +any .*"))
                .hasSize(2)
                .allMatch(line -> line.matches(row(kinds, "[\\d.]+ GB/s")));
        assertThat(service.outputLines()).anyMatch(line -> line.matches(row("- +- +-", "-")));
        assertThat(service.outputLines())
                .anyMatch(line -> line.startsWith("zero-copy: payload bytes copied 0, "));
        assertThat(target.outputLines())
                .anyMatch(line -> line.matches(row(kinds, "[\\d.]+ GB/s")))
                .anyMatch(line -> line.contains("payload bytes copied " + 2000 * 16384));
        assertThat(service.errorLines())
                .anyMatch(line -> line.contains("Core: 0 running"))
                .anyMatch(line -> line.contains("Core: 0 complete"));
    }

    /** The row of the only core, with 2000 operations. */
    private static String row(String kinds, String dataRate) {
        return "  0 +any +[\\d.]+ s +2000 +"
                + kinds
                + " +"
                + dataRate
                + " +[\\d.]+ MIOP/s +[\\d.]+ % +[1-9]\\d*:\\d+ +\\d+";
    }

    @ParameterizedTest
    @ValueSource(strings = {"read_throughput_test", "write_throughput_test"})
    void shouldMeasureThroughputAfterAWarmUp(String strategy) throws Exception {
        peers.service(peers.target());
        ChildProcess initiator =
                pipeline.initiator(
                        strategy, "--run-limit-operation-count", "100", "--warm-up", "0.1");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        peers.assertAllSucceed();
        assertThat(initiator.outputLines())
                .first()
                .asString()
                .matches("phase warm-up: [\\d.]+( k)? operations in [\\d.]+ s, not measured");
        assertThat(initiator.outputLines())
                .element(1)
                .asString()
                .matches("phase .*: operations of 4096 bytes, 64 in flight:");
        assertThat(initiator.outputLines())
                .element(3)
                .asString()
                .matches("  0 +any +[\\d.]+ s +100 .*");
    }

    @Test
    void shouldRefuseAVolumeAboveTheLimitOfMemoryAndSayHowToRaiseIt() {
        peers.service(peers.target());
        ChildProcess initiator =
                pipeline.initiator("read_write_data_validity_test", "--max-memory", "512KiB");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(initiator.errorLines())
                .contains(
                        "softdpu: NO_MEMORY: memory for the data is above the limit:"
                                + " sizeBytes=1048576, maxMemoryBytes=524288, limitedBy=option"
                                + " --max-memory, expected=a storage that fits, or"
                                + " --max-memory=1048576 or more");
        peers.assertAllFail();
    }

    @Test
    void shouldNameWhoTalksRubbishToATargetsPortAndServeTheServiceThatComesNext()
            throws IOException {
        ChildProcess target = pipeline.patternTarget();
        try (Socket stranger =
                new Socket(InetAddress.getLoopbackAddress(), Pipeline.portOf(target))) {
            stranger.getOutputStream().write("GET / HTTP/1.1".getBytes(StandardCharsets.US_ASCII));
            target.awaitErrorLine(
                    "client refused: client=tcp://127.0.0.1:"
                            + stranger.getLocalPort()
                            + ", reason=wire size is illegal: wireSizeBytes=1195725856");
            ChildProcess service = pipeline.service(target);
            ChildProcess initiator = pipeline.initiator("read_write_data_validity_test");

            assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
            assertThat(service.awaitExit()).isEqualTo(ExitCode.OK.code());
            assertThat(target.awaitExit()).isEqualTo(ExitCode.OK.code());
        }
    }

    @Test
    @Clause({"sto-034", "sto-043", "sto-052"})
    void shouldWriteTheVolumeAndReadBackTheSameBesideAServiceOfAnotherName() {
        ChildProcess other = pipeline.service(pipeline.patternTarget());
        ChildProcess target = pipeline.patternTarget();
        ChildProcess service = pipeline.service(target, "--command-channel-name", "another");
        ChildProcess initiator =
                pipeline.initiator(
                        "read_write_data_validity_test", "--command-channel-name", "another");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(initiator.outputLines())
                .anyMatch(line -> line.matches(" +bytes verified +" + (4 << 20)));
        assertThat(other.isAlive()).isTrue();
        assertThat(service.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(target.awaitExit()).isEqualTo(ExitCode.OK.code());
    }

    @Test
    @Clause({"sto-009", "sto-047", "sto-094"})
    void shouldShowStatisticsOnceItHasShutDown() {
        ChildProcess target = pipeline.patternTarget();
        ChildProcess service = pipeline.serviceWithErrorsInOutput(target, "--log-level", "60");
        ChildProcess initiator =
                pipeline.initiator(
                        "read_throughput_test",
                        "--run-limit-operation-count",
                        "100",
                        "--warm-up",
                        "0");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(service.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(target.awaitExit()).isEqualTo(ExitCode.OK.code());
        String device = "closing: device";
        String statistics = "  0 +any +[\\d.]+ s +\\d+ .*";
        assertThat(
                        service.outputLines().stream()
                                .filter(line -> line.endsWith(device) || line.matches(statistics)))
                .satisfiesExactly(
                        line -> assertThat(line).endsWith(device),
                        line -> assertThat(line).matches("  0 +any +[\\d.]+ s +100 .*"));
    }

    @Test
    @Clause("sto-032")
    @Clause("sto-039")
    void shouldBindItsDataPathThreadToTheCoreThatWasAskedFor() throws IOException {
        ChildProcess target = pipeline.patternTarget();
        // Not the first core, to which a service could be bound whatever it is told.
        int core = allowedCores(ProcessHandle.current().pid(), "").getLast();
        ChildProcess service =
                pipeline.start(
                        ("storage zero-copy -d 03:00.0 -r 0b:00.0 --storage-server 127.0.0.1:"
                                        + Pipeline.portOf(target)
                                        + " --cpu "
                                        + core)
                                .split(" "));
        service.awaitLine("waiting: ");
        pipeline.initiatorUnderLoad();

        assertThat(allowedCores(service.pid(), "softdpu-0-zero-")).containsExactly(core);
        assertThat(dataPathThreads(service)).containsExactly("softdpu-0-zero-");
    }

    @ParameterizedTest
    @ValueSource(strings = {"any,N", "N,any"})
    @Clause({"sto-039", "sto-040", "sto-073"})
    void shouldBindThreadNToTheNthCpu(String order) throws IOException {
        List<Integer> all = allowedCores(ProcessHandle.current().pid(), "");
        String[] cpus = order.replace("N", Integer.toString(all.getLast())).split(",");
        ChildProcess target =
                pipeline.start(
                        ("storage target -d t0 --volume memory:4MiB --listen-port 0 --cpu "
                                        + cpus[0]
                                        + " --cpu "
                                        + cpus[1])
                                .split(" "));
        ChildProcess service =
                pipeline.start(
                        ("storage zero-copy -d 03:00.0 -r 0b:00.0 --storage-server 127.0.0.1:"
                                        + Pipeline.portOf(target)
                                        + " --cpu "
                                        + cpus[0]
                                        + " --cpu "
                                        + cpus[1])
                                .split(" "));
        service.awaitLine("waiting: ");
        ChildProcess initiator =
                pipeline.start(
                        ("storage initiator -d 0b:00.0 --execution-strategy read_throughput_test"
                                        + " --run-limit-operation-count 1000000000000 --cpu "
                                        + String.join(",", cpus))
                                .split(" "));
        initiator.awaitErrorLine("Core: 1 running");

        Map<String, ChildProcess> roles =
                Map.of("zero-copy", service, "target", target, "initiator", initiator);
        for (Map.Entry<String, ChildProcess> role : roles.entrySet()) {
            ChildProcess process = role.getValue();
            for (int n = 0; n < cpus.length; n++) {
                assertThat(allowedCores(process.pid(), threadName(n, role.getKey())))
                        .as("%s, thread %d", role.getKey(), n)
                        .isEqualTo(cpus[n].equals("any") ? all : List.of(all.getLast()));
            }
            assertThat(dataPathThreads(process))
                    .containsExactlyInAnyOrder(
                            threadName(0, role.getKey()), threadName(1, role.getKey()));
        }
    }

    /** The kernel keeps 15 characters. */
    private static String threadName(int index, String role) {
        return ("softdpu-" + index + "-" + role + "       ").substring(0, 15).strip();
    }

    private static List<String> dataPathThreads(ChildProcess process) {
        return process.view().threadNames().stream()
                .filter(name -> name.matches("softdpu-\\d+-.*"))
                .toList();
    }

    @Test
    @Clause({"sto-018", "sto-040"})
    void shouldServeAnInitiatorWithFewerCoresAndCountTheOperationsOfEach() {
        ChildProcess target = pipeline.patternTarget("--cpu", "any,any");
        ChildProcess service = pipeline.service(target, "--cpu", "any", "--cpu", "any");
        ChildProcess initiator =
                pipeline.initiator("read_write_data_validity_test", "--cpu", "any");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(service.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(target.awaitExit()).isEqualTo(ExitCode.OK.code());
        // 1024 blocks, written and read back: half of each by each of the two cores.
        for (ChildProcess process : List.of(initiator, service, target)) {
            assertThat(process.outputLines())
                    .as("the last table, of the data path")
                    .filteredOn(line -> line.matches("  (0|1|total) .* MIOP/s .*"))
                    .satisfies(lines ->
                            assertThat(lines.subList(lines.size() - 3, lines.size()))
                                    .satisfiesExactly(
                                            line -> assertThat(line).matches(row("0 +any", 1024)),
                                            line -> assertThat(line).matches(row("1 +any", 1024)),
                                            line -> assertThat(line).matches(row("total", 2048))));
        }
        for (ChildProcess process : List.of(service, target)) {
            assertThat(process.outputLines())
                    .as("of three")
                    .last()
                    .asString()
                    .endsWith(": no work for [any] of --cpu, since the initiator has 2");
        }
    }

    private static String row(String core, int operations) {
        return "  " + core + " +[\\d.]+ s +" + operations + " .*";
    }

    @Test
    void shouldPrintOneJsonObjectAndNothingElseWhereItIsAskedFor() throws IOException {
        ChildProcess target =
                pipeline.start(
                        ("storage target -d t0 --cpu any,any --listen-port 0 --volume memory:4MiB"
                                        + " --output-format json --provider shm")
                                .split(" "));
        String listening = target.awaitErrorLine("listening: port=");
        ChildProcess service =
                pipeline.start(
                        ("storage zero-copy -d 03:00.0 -r 0b:00.0 --cpu any,any"
                                        + " --output-format json --storage-server 127.0.0.1:"
                                        + listening.replaceAll(".*=", ""))
                                .split(" "));
        service.awaitErrorLine("waiting: ");
        ChildProcess initiator =
                pipeline.start(
                        ("storage initiator -d 0b:00.0 --cpu any,any --output-format json"
                                        + " --execution-strategy read_write_data_validity_test")
                                .split(" "));

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(service.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(target.awaitExit()).isEqualTo(ExitCode.OK.code());
        for (ChildProcess process : List.of(initiator, service, target)) {
            JsonNode document = document(process);
            assertThat(document.get("status").asText()).isEqualTo("SUCCESS");
            assertThat(document.at("/softdpu/options/cpu"))
                    .extracting(JsonNode::asText)
                    .containsExactly("any", "any");
            assertThat(document.at("/softdpu/options/wait").asText()).isEqualTo("adaptive");
            assertThat(document.at("/softdpu/options/provider").asText())
                    .isEqualTo(process == initiator ? "" : process == target ? "shm" : "auto");
            assertThat(document.get("provider").asText())
                    .isEqualTo(process == initiator ? "null" : "shm");
            assertThat(document.at("/softdpu/options/topology").asText()).isEqualTo("default");
            assertThat(document.at("/data_path/operations").asLong()).isEqualTo(2048);
            assertThat(document.at("/data_path/cores"))
                    .extracting(core -> core.get("operations").asLong())
                    .containsExactly(1024L, 1024L);
            assertThat(document.at("/data_path/reads").asText())
                    .isEqualTo(process == service ? "null" : "1024");
        }
        JsonNode phases = document(initiator).get("phases");
        assertThat(phases)
                .extracting(phase -> phase.get("operation").asText())
                .containsExactly("write", "read");
        assertThat(phases.get(1).get("bytes_verified").asLong()).isEqualTo(4 << 20);
    }

    @ParameterizedTest
    @CsvSource({
        "storage target -d t0 --cpu any --listen-port 0 --volume memory:1MiB, 41:00.0",
        "storage zero-copy -d 03:00.0 -r 0b:00.0 --cpu any --storage-server 127.0.0.1:1, 03:00.0"
    })
    void shouldRefuseAProviderThatThereIsNotBeforeItWaits(String arguments, String device) {
        ChildProcess role = pipeline.start((arguments + " --provider ib").split(" "));

        assertThat(role.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(role.errorLines())
                .anyMatch(line ->
                        line.startsWith(
                                "softdpu: NOT_FOUND: no RDMA provider of this name serves the"
                                        + " device: option=--provider, provider=ib, device="
                                        + device
                                        + ", expected=auto or one of [shm, roce]"));
        assertThat(role.outputLines()).isEmpty();
    }

    private static JsonNode document(ChildProcess process) throws IOException {
        return new ObjectMapper().readTree(String.join("\n", process.outputLines()));
    }

    @Test
    void shouldPrintTheJsonOfASessionThatFailed() throws IOException {
        ChildProcess target = pipeline.patternTarget();
        pipeline.service(target);
        ChildProcess initiator =
                pipeline.initiatorUnderLoad("read_throughput_test", "--output-format", "json");

        target.kill();

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        JsonNode document = document(initiator);
        assertThat(document.get("status").asText()).isEqualTo("CONNECTION_RESET");
        assertThat(document.get("failure").asText()).isNotEmpty();
        assertThat(document.at("/phases/0/complete").asBoolean()).isFalse();
    }

    @Test
    void shouldShowProgressWhileDataMoves() {
        ChildProcess target = pipeline.patternTarget("--progress", "0.05");
        ChildProcess service = pipeline.service(target, "--progress", "0.05");
        ChildProcess initiator =
                pipeline.initiatorUnderLoad("read_throughput_test", "--progress", "0.05");
        String rate = "[1-9]\\S*( [kM])? ops, \\S+( [kM])?/s";

        initiator.awaitErrorLine(
                rate + ", \\S+ GB/s, 0 failed, p50 \\S+ [mun]?s, p99 \\S+ [mun]?s");
        target.awaitErrorLine(rate + ", \\S+ GB/s, 0 failed");
        service.awaitErrorLine(rate);
    }

    @Test
    @Clause("sto-062")
    void shouldRefuseAnInitiatorWithMoreCoresThanTheService() {
        ChildProcess target = pipeline.patternTarget("--cpu", "any,any");
        ChildProcess service = pipeline.service(target, "--cpu", "any");
        ChildProcess initiator =
                pipeline.initiator("read_throughput_test", "--cpu", "any", "--cpu", "any");

        for (ChildProcess process : List.of(initiator, service, target)) {
            assertThat(process.awaitExit()).isEqualTo(ExitCode.FAILED.code());
            assertThat(process.errorLines())
                    .anyMatch(line ->
                            line.contains(
                                    "core count exceeds the workers of the service: coreCount=3,"
                                            + " expected=at most 2"));
        }
    }

    /** Of the thread with this name; of the process where it is empty. */
    private static List<Integer> allowedCores(long pid, String thread) throws IOException {
        Path process = Path.of("/proc", Long.toString(pid));
        try (Stream<Path> tasks = Files.list(process.resolve("task"))) {
            for (Path task : tasks.toList()) {
                String status = Files.readString(task.resolve("status"));
                if (status.startsWith("Name:\t" + thread)) {
                    String list =
                            status.lines()
                                    .filter(line -> line.startsWith("Cpus_allowed_list:"))
                                    .findFirst()
                                    .orElseThrow();
                    return Stream.of(list.replaceAll("[^0-9,-]", "").split("[,-]"))
                            .map(Integer::valueOf)
                            .toList(); // of a range its ends
                }
            }
        }
        throw new AssertionError("no such thread: thread=" + thread + ", pid=" + pid);
    }

    @Test
    void shouldFindOneWrongByteAndShowWhereAndWhat(SeededRandom random) throws IOException {
        byte[] content = new byte[9 * BLOCK];
        random.nextBytes(content);
        Path volume = Files.write(folder.resolve("volume"), content);
        int offset = 5 * BLOCK + 77;
        byte right = content[offset];
        content[offset] ^= 0x40;
        Path expected = Files.write(folder.resolve("expected"), content);

        ChildProcess target = pipeline.target("--volume", volume.toString());
        pipeline.service(target);
        ChildProcess initiator =
                pipeline.initiator(
                        "read_only_data_validity_test",
                        "--storage-plain-content",
                        expected.toString());

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.DATA_WRONG.code());
        assertThat(String.join("\n", initiator.errorLines()))
                .containsPattern("softdpu: IO_FAILED: .*" + offset)
                .contains("expected")
                .contains("actual")
                .containsIgnoringCase(Text.format("%02x", right & 0xff))
                .containsIgnoringCase(Text.format("%02x", content[offset] & 0xff));
        assertThat(initiator.errorLines()).noneMatch(line -> line.startsWith("\tat "));
    }

    @Test
    void shouldKeepInAFileWhatIsWrittenForTheNextTarget() throws IOException {
        byte[] written = new byte[1 << 20];
        for (int i = 0; i < written.length; i++) {
            written[i] = (byte) i;
        }
        Path plain = Files.write(folder.resolve("plain"), written);
        Path file = folder.resolve("volume");

        assertAllSucceed("file:" + file + "?create=1MiB&sync", "read_write_data_validity_test");
        assertThat(file).hasBinaryContent(written);

        assertAllSucceed(
                "file:" + file + "?readonly",
                "read_only_data_validity_test",
                "--storage-plain-content",
                plain.toString());
    }

    private void assertAllSucceed(String volume, String strategy, String... more) {
        ChildProcess target = pipeline.target("--volume", volume, "--staging-size", "1MiB");
        ChildProcess service = pipeline.service(target);
        ChildProcess initiator = pipeline.initiator(strategy, more);
        for (ChildProcess process : List.of(initiator, service, target)) {
            assertThat(process.awaitExit()).isEqualTo(ExitCode.OK.code());
        }
    }

    @Test
    void shouldFindBytesThatAVolumeCorrupts() {
        ChildProcess target =
                pipeline.target("--volume", "fault:seed=7,corrupt=read/0.01:memory:64MiB");
        ChildProcess service = pipeline.service(target);
        ChildProcess initiator = pipeline.initiator("read_write_data_validity_test");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.DATA_WRONG.code());
        assertThat(service.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(target.awaitExit()).isEqualTo(ExitCode.OK.code());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldServeABinaryContent(boolean hasHeader, SeededRandom random) throws IOException {
        byte[] content = random.bytes(128 * BLOCK);
        Path plain = Files.write(folder.resolve("plain"), content);
        Path volume =
                Files.write(
                        folder.resolve("volume"),
                        ByteBuffer.allocate(16 + content.length)
                                .putLong(0xDEAD_F00D_1337_FADEL)
                                .putInt(BLOCK)
                                .putInt(128)
                                .put(content)
                                .array());

        ChildProcess target =
                hasHeader // which takes precedence
                        ? pipeline.target(
                                "--binary-content", volume.toString(), "--block-count", "1")
                        : pipeline.target("--binary-content", plain.toString());
        pipeline.service(target);
        ChildProcess initiator =
                pipeline.initiator(
                        "read_only_data_validity_test",
                        "--storage-plain-content",
                        plain.toString());

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(initiator.outputLines())
                .anyMatch(line -> line.matches(" +bytes verified +" + 128 * BLOCK));
    }

    @ParameterizedTest
    @CsvSource({"'', 524288", "--block-count 3, 12288", "--block-size 512, 65536"})
    void shouldServeAVolumeOfTheGuidesSizeWhereNoneIsNamed(String flags, int sizeBytes) {
        String[] more = flags.isEmpty() ? new String[0] : flags.split(" ");
        peers.service(Pipeline.portOf(pipeline.target(more)));
        ChildProcess initiator = pipeline.initiator("read_write_data_validity_test");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(initiator.outputLines())
                .anyMatch(line -> line.matches(" +bytes verified +" + sizeBytes));
    }

    @Test
    void shouldListenAtTheAddressThatIsNamedAlone() throws IOException {
        ChildProcess target = pipeline.patternTarget("--listen-address", "127.0.0.2");
        int port = Pipeline.portOf(target);

        assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
                .isInstanceOf(ConnectException.class);
        ChildProcess service =
                pipeline.start(
                        ("storage zero-copy -d 03:00.0 -r 0b:00.0 --cpu any --storage-server"
                                        + " 127.0.0.2:"
                                        + port)
                                .split(" "));
        service.awaitLine("waiting: ");
        assertThat(pipeline.initiator("read_write_data_validity_test").awaitExit())
                .isEqualTo(ExitCode.OK.code());
    }

    @Test
    void shouldAllocateALocalRegionOfTheSizeThatIsNamed() throws Exception {
        peers.service(peers.target());
        ChildProcess initiator =
                pipeline.initiator(
                        "read_throughput_test",
                        "--local-io-region-size",
                        "64KiB",
                        "--max-memory", // less than the volume
                        "64KiB",
                        "--run-limit-operation-count",
                        "1000");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        peers.assertAllSucceed();
    }

    @Test
    void shouldRefuseALocalRegionThatCannotMirrorTheVolume() {
        peers.service(peers.target());
        ChildProcess initiator =
                pipeline.initiator(
                        "read_write_data_validity_test", "--local-io-region-size", "64KiB");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(initiator.errorLines())
                .anyMatch(line ->
                        line.startsWith(
                                "softdpu: BAD_CONFIG: local memory is too small to mirror the"
                                        + " storage: phase=write, localIoRegionSizeBytes=65536,"));
        peers.assertAllFail();
    }

    @Test
    void shouldAcceptContentThatIsAsExpected(SeededRandom random) throws IOException {
        byte[] content = new byte[9 * BLOCK];
        random.nextBytes(content);
        Path volume = Files.write(folder.resolve("volume"), content);

        ChildProcess target = pipeline.target("--volume", volume.toString());
        pipeline.service(target);
        ChildProcess initiator =
                pipeline.initiator(
                        "read_only_data_validity_test",
                        "--storage-plain-content",
                        volume.toString());

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
    }
}
