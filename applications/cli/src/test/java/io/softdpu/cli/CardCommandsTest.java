package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.core.Side;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.topology.json.TopologyJson;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Tests of the commands that show the card: topology, caps and devices. */
@ExtendWith(OwnFabric.class)
class CardCommandsTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir Path folder;

    private int run(String... words) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        CommandLine command = SoftDpu.commandLine(words);
        command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return command.execute(words);
    }

    private JsonNode json() throws Exception {
        return new ObjectMapper().readTree(out.toString());
    }

    private Path limited() throws Exception {
        return limited("comch.max_message_size");
    }

    /** The built-in card with this limit of pf0, on the first line of the limits. */
    private Path limited(String limit) throws Exception {
        return limited(limit, 512);
    }

    private Path limited(String limit, long most) throws Exception {
        String json = TopologyJson.toJson(Topology.builtin());
        int pf0 = json.indexOf("\"interface_name\" : \"pf0\"");
        int end = json.indexOf("\n    }", pf0);
        return Files.writeString(
                folder.resolve("limited.json"),
                json.substring(0, end)
                        + Text.format(", \"limits\": {\"%s\": %d}", limit, most)
                        + json.substring(end));
    }

    @Test
    void shouldDrawTheCard() {
        assertThat(run("topology", "--topology", "default")).isZero();
        assertThat(out.toString().lines())
                .startsWith("topology default, sha256 " + Topology.builtin().sha256Hex())
                .anyMatch(line -> line.matches("host +TYPE +PCI +IBDEV +IPV4 +MAC +RATE +REP.*"))
                .anyMatch(line ->
                        line.matches(
                                "├─ pf0 +PF +0b:00.0 +mlx5_0 +127.11.0.1 .* +200 Gbit/s +hpf0 on"
                                        + " p0 03:00.0"))
                .anyMatch(line -> line.matches("│  ├─ hpf0vf0 +rep +0b:00.2 +→ host/pf0vf0"))
                .anyMatch(line -> line.matches("└─ t0 .*"))
                .noneMatch(line -> line.endsWith(" "));
    }

    @Test
    void shouldPrintTheCardAsAFileThatItReads() throws Exception {
        assertThat(run("topology", "--topology", "storage-guide", "--json")).isZero();
        Path file = Files.writeString(folder.resolve("guide.json"), out.toString());
        assertThat(TopologyJson.read(file)).isEqualTo(TopologyJson.shipped("storage-guide"));
        assertThat(run("topology", "--topology", file.toString())).isZero();
        assertThat(out.toString()).contains("3b:00.0").contains("172.17.0.1");
    }

    @Test
    void shouldSayWhereATopologyFileIsWrong() throws Exception {
        Path file =
                Files.writeString(
                        folder.resolve("wrong.json"),
                        "{\"softdpu_topology\": 1,\n\"name\": \"x\",\n\"functions\": 3}");
        for (String[] words :
                List.of(
                        new String[] {"topology", "--topology", file.toString()},
                        new String[] {"devices", "--topology", file.toString()},
                        new String[] {"caps", "--topology", file.toString()},
                        new String[] {"demo", "--topology", file.toString()})) {
            assertThat(run(words)).isEqualTo(ExitCode.FAILED.code());
            assertThat(err.toString())
                    .startsWith("softdpu: BAD_CONFIG: topology refused: file=" + file)
                    .contains("line=3, field=functions", "expected=an array of objects");
            assertThat(out.toString()).isEmpty();
        }
        assertThat(run("topology", "--topology", folder + "/none.json")).isEqualTo(1);
        assertThat(err.toString()).startsWith("softdpu: NOT_FOUND: ").contains("none.json");
    }

    @Test
    void shouldListTheDevicesOfOneSideOrOfAll() {
        assertThat(run("devices", "--side", "dpu")).isZero();
        assertThat(out.toString().lines())
                .hasSize(5)
                .anyMatch(line -> line.matches("dpu +0000:03:00.0 +mlx5_0 +p0 +PF .*"))
                .noneMatch(line -> line.startsWith("host"));

        assertThat(run("devices")).isZero();
        assertThat(out.toString().lines())
                .anyMatch(line -> line.matches("host +0000:0b:00.0 +mlx5_0 +pf0 +PF .* +hpf0"))
                .anyMatch(line -> line.matches("target .* +t0 .*"));
    }

    @Test
    void shouldListTheDevicesAsJson() throws Exception {
        assertThat(run("devices", "--side", "host", "--json")).isZero();

        JsonNode devices = json();
        assertThat(devices).hasSize(5);
        assertThat(devices.get(0).get("pci_address").asText()).isEqualTo("0000:0b:00.0");
        assertThat(devices.get(0).get("representor").asText()).isEqualTo("hpf0");
        assertThat(devices.get(0).get("mac").asText()).matches("([0-9a-f]{2}:){5}[0-9a-f]{2}");
    }

    @Test
    void shouldListAFunctionThatAProgramHasPluggedIn() {
        try (Machine dpu = Machine.open(Side.DPU);
                Device p0 = dpu.findDevice("p0").open()) {
            p0.plug(
                    PciFunction.builder(Side.HOST, "e0")
                            .ibdevName("ib_e0")
                            .pciAddress("0c:00.0")
                            .parent("p0")
                            .representor("r_e0")
                            .ipv4("127.12.0.1")
                            .macAddress("02:53:44:0c:00:01")
                            .vuid("SDPU-e0")
                            .build());

            assertThat(run("devices", "--side", "host")).isZero();
            assertThat(out.toString().lines())
                    .anyMatch(line -> line.matches("host +0000:0c:00.0 +ib_e0 +e0 +PF .* +r_e0"));
        }
        assertThat(run("devices", "--side", "host")).as("the last program has left").isZero();
        assertThat(out.toString()).doesNotContain("r_e0");
    }

    @Test
    void shouldListTheDevicesOfAnotherTopology() {
        assertThat(run("devices", "--side", "host", "--topology", "storage-guide")).isZero();
        assertThat(out.toString()).contains("0000:3b:00.0").doesNotContain("0b:00.0 ");
    }

    @Test
    void shouldPrintWhatEachLibraryCanDoOnEachDevice() throws Exception {
        assertThat(run("caps", "--json")).isZero();
        JsonNode devices = json();
        assertThat(devices).hasSize(10);
        for (JsonNode device : devices) {
            assertThat(
                            StreamSupport.stream(
                                    ((Iterable<String>) () -> device.get("libraries").fieldNames())
                                            .spliterator(),
                                    false))
                    .startsWith("core")
                    .contains("comch", "comch-producer", "comch-consumer", "dma", "rdma", "sha");
        }
        JsonNode p0 = device(devices, "dpu", "p0").get("libraries");
        assertThat(p0.at("/comch/server/value").asBoolean()).isTrue();
        assertThat(p0.at("/comch/server/unit").asText()).isEqualTo("support");
        assertThat(p0.at("/comch/max_message_size/value").asInt()).isEqualTo(4080);
        assertThat(p0.at("/comch/max_message_size/unit").asText()).isEqualTo("bytes");
        assertThat(p0.at("/rdma/task_send/value").asBoolean()).isTrue();
        assertThat(p0.at("/dma/max_buffer_size/value").asLong()).isPositive();
        JsonNode sub = device(devices, "dpu", "p0s0").get("libraries");
        assertThat(sub.at("/comch/server/value").asBoolean()).isFalse();
        assertThat(sub.at("/comch/max_message_size/value").asInt()).isZero();
    }

    private static JsonNode device(JsonNode devices, String side, String name) {
        for (JsonNode device : devices) {
            if (device.get("side").asText().equals(side)
                    && device.get("interface_name").asText().equals(name)) {
                return device;
            }
        }
        throw new AssertionError("not listed: " + side + " " + name);
    }

    @Test
    @Clause("core-266")
    void shouldPrintTheLimitsOfTheTopology() throws Exception {
        String file = limited().toString();
        assertThat(run("caps", "--topology", file, "-d", "pf0", "--library", "comch")).isZero();
        assertThat(out.toString().lines())
                .startsWith("host 0b:00.0 mlx5_0 pf0")
                .anyMatch(line -> line.matches("  comch +max_message_size +512 +bytes"))
                .anyMatch(line -> line.matches("  comch +client +yes"))
                .anyMatch(line -> line.matches("  comch +server +no"))
                .noneMatch(line -> line.contains("rdma"));
        assertThat(run("topology", "--topology", file)).isZero();
        assertThat(out.toString()).contains("hpf0 on p0 03:00.0 [comch.max_message_size=512]");
    }

    @Test
    @Clause("cc-061")
    void shouldPrintThatADeviceDoesNotSupportWhatItHasNoTasksFor() throws Exception {
        String file = limited("comch-producer.max_tasks", 0).toString();
        assertThat(run("caps", "--topology", file, "-d", "pf0", "--library", "comch-producer"))
                .isZero();
        assertThat(out.toString().lines())
                .anyMatch(line -> line.matches("  comch-producer +task_send +no *"))
                .anyMatch(line -> line.matches("  comch-producer +max_tasks +0 *"));
        assertThat(run("topology", "--topology", file)).isZero();
        assertThat(out.toString()).contains("[comch-producer.max_tasks=0]");
        String other = limited("comch.max_clients", 0).toString();
        assertThat(run("caps", "--topology", other)).isEqualTo(ExitCode.FAILED.code());
        assertThat(err.toString())
                .contains("limits.comch.max_clients", "value=0", "a whole number from 1");
    }

    @Test
    @Clause("core-266")
    void shouldPrintEachCapabilityOfSha() throws Exception {
        assertThat(run("caps", "--library", "sha", "--device", "pf0")).isZero();
        assertThat(out.toString().lines().skip(2).map(line -> line.strip().replaceAll(" +", " ")))
                .containsExactly(
                        "sha task_hash_sha1 yes",
                        "sha task_partial_hash_sha1 yes",
                        "sha task_hash_sha256 yes",
                        "sha task_partial_hash_sha256 yes",
                        "sha task_hash_sha512 yes",
                        "sha task_partial_hash_sha512 yes",
                        "sha hardware no",
                        "sha max_tasks 16384",
                        "sha max_source_buffer_size 2147483648 bytes",
                        "sha max_buffer_list_length 64",
                        "sha min_destination_buffer_size_sha1 20 bytes",
                        "sha partial_hash_block_size_sha1 64 bytes",
                        "sha min_destination_buffer_size_sha256 32 bytes",
                        "sha partial_hash_block_size_sha256 64 bytes",
                        "sha min_destination_buffer_size_sha512 64 bytes",
                        "sha partial_hash_block_size_sha512 128 bytes");
        String file = limited("sha.max_tasks", 0).toString();
        assertThat(run("caps", "--topology", file, "-d", "pf0", "--library", "sha")).isZero();
        assertThat(out.toString().lines())
                .anyMatch(line -> line.matches("  sha +task_hash_sha256 +no *"))
                .anyMatch(line -> line.matches("  sha +max_tasks +0 *"));
    }

    @Test
    void shouldPrintTheCapabilitiesOfOneProvider() throws Exception {
        assertThat(run("caps", "--device", "p0", "--library", "rdma")).isZero();
        String any = out.toString();
        assertThat(run("caps", "--device", "p0", "--library", "rdma", "--provider", "auto"))
                .isZero();
        assertThat(out.toString()).isEqualTo(any);
        for (String provider : List.of("shm", "roce")) {
            assertThat(run("caps", "--device", "p0", "--library", "rdma", "--provider", provider))
                    .isZero();
            assertThat(out.toString().lines())
                    .as(provider)
                    .startsWith("dpu 03:00.0 mlx5_0 p0")
                    .filteredOn(line -> line.matches("  rdma +task_\\w+ +yes *"))
                    .hasSize(RdmaTaskType.values().length);
        }
        assertThat(run("caps", "--provider", "shm", "--json")).isZero();
        assertThat(json()).as("beside the other libraries").hasSize(10);
        assertThat(device(json(), "dpu", "p0").at("/libraries/rdma/task_send/value").asBoolean())
                .isTrue();
    }

    @Test
    void shouldRefuseAnUnknownProviderAndOneOfAnotherLibrary() {
        assertThat(run("caps", "--device", "p0", "--provider", "ib")).isEqualTo(1);
        assertThat(err.toString())
                .startsWith(
                        "softdpu: NOT_FOUND: no RDMA provider of this name serves the device:"
                                + " option=--provider, provider=ib, device=03:00.0,"
                                + " expected=auto or one of [shm, roce]");
        assertThat(out.toString()).isEmpty();
        assertThat(run("caps", "--library", "comch", "--provider", "shm"))
                .isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString())
                .startsWith(
                        "softdpu: library has no RDMA providers: option=--provider, provider=shm,"
                                + " library=comch, expected=--library rdma, or no library");
    }

    @Test
    void shouldRefuseALimitThatItsLibraryDoesNotHave() throws Exception {
        String file = limited("comch.max_message").toString();
        for (String[] words :
                List.of(
                        new String[] {"topology", "--topology", file},
                        new String[] {"topology", "--json", "--topology", file},
                        new String[] {"devices", "--topology", file},
                        new String[] {"caps", "--topology", file})) {
            assertThat(run(words)).isEqualTo(ExitCode.FAILED.code());
            assertThat(err.toString())
                    .startsWith("softdpu: BAD_CONFIG: topology refused: file=" + file)
                    .contains("comch.max_message,", "reason=unknown limit")
                    .contains("expected=a limit of comch, one of [", "comch.max_message_size");
            assertThat(out.toString()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "comhc.max_clients,comch.max_clients",
        "comch.max_clinets,comch.max_clients",
        "cmch.max_client,comch.max_clients",
        "comch-prodcuer.max_tasks,comch-producer.max_tasks",
        "rmda.max_send_tasks,rdma.max_send_tasks",
        "syncevent.max_wait_tasks,sync-event.max_wait_tasks"
    })
    void shouldNameTheLimitThatIsProbablyMeant(String limit, String meant) throws Exception {
        String file = limited(limit, 4).toString();
        for (String command : List.of("topology", "devices", "caps")) {
            assertThat(run(command, "--topology", file)).isEqualTo(ExitCode.FAILED.code());
            assertThat(err.toString())
                    .startsWith("softdpu: BAD_CONFIG: topology refused: file=" + file + ", line=")
                    .contains("limits." + limit + ",", "; did you mean " + meant + "?");
            assertThat(out.toString()).isEmpty();
        }
    }

    @Test
    void shouldTakeNoLibraryForAMisspellingOfAnother() {
        for (String library : Capabilities.libraries()) {
            assertThat(Capabilities.libraries())
                    .as(library)
                    .noneMatch(other -> Suggestions.isMisspelling(library, other));
        }
    }

    @Test
    void shouldRefuseALimitOfAnUnknownLibraryOnlyWhereACardIsLookedOver() throws Exception {
        String file = limited("compress.max_message_size").toString();
        for (String[] words :
                List.of(
                        new String[] {"topology", "--topology", file},
                        new String[] {"topology", "--json", "--topology", file})) {
            assertThat(run(words)).isEqualTo(ExitCode.FAILED.code());
            assertThat(err.toString())
                    .startsWith("softdpu: BAD_CONFIG: topology limits an unknown library: ")
                    .contains(
                            "function=host/pf0, limit=compress.max_message_size, library=compress")
                    .contains("comch-consumer", "dma", "rdma");
            assertThat(out.toString()).isEmpty();
        }
        assertThat(run("caps", "--topology", file, "-d", "pf0", "--library", "comch")).isZero();
        assertThat(out.toString().lines())
                .anyMatch(line -> line.matches("  comch +max_message_size +4080 +bytes"));
        assertThat(run("topology", "--topology", limited("dam.max_tasks").toString())).isEqualTo(1);
        assertThat(err.toString()).contains("library=dam, available=", "; did you mean dma?");
    }

    @Test
    void shouldShowDevicesThatCanDoTheSameTogether() {
        assertThat(run("caps", "--side", "dpu", "--library", "core")).isZero();
        assertThat(out.toString().lines().toList())
                .startsWith("dpu 03:00.0 mlx5_0 p0", "dpu 03:00.1 mlx5_1 p1")
                .contains("dpu 03:00.0 mlx5_2 p0s0")
                .filteredOn(line -> line.contains("LIBRARY"))
                .hasSize(2);
    }

    @Test
    void shouldAnswerAnUnknownDeviceOrLibraryWithThoseThatThereAre() {
        assertThat(run("caps", "--device", "pf9")).isEqualTo(ExitCode.FAILED.code());
        assertThat(err.toString())
                .startsWith("softdpu: NOT_FOUND: no such device: device=pf9")
                .contains("host 0b:00.0 mlx5_0 pf0", "dpu 03:00.0 mlx5_0 p0", "target 41:00.0");
        assertThat(run("caps", "--side", "host", "--device", "p0")).isEqualTo(1);
        assertThat(err.toString()).contains("device=p0").doesNotContain("dpu 03:00.0");
        assertThat(err.toString()).doesNotContain("Machine.open");
        assertThat(run("caps", "--library", "warp")).isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString())
                .startsWith(
                        "softdpu: no such library: option=--library, library=warp, expected=one of"
                                + " [core, ")
                .contains("comch-consumer", "rdma")
                .doesNotContain("artefact", "did you mean");
        assertThat(run("caps", "--library", "sync_event")).isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).contains("; did you mean sync-event?");
        assertThat(run("caps", "--side", "moon")).isEqualTo(ExitCode.USAGE.code());
    }

    /** As the commands that measure. */
    @ParameterizedTest
    @ValueSource(strings = {"devices", "caps", "topology"})
    void shouldTakeJsonWithAndWithoutAFile(String command) throws Exception {
        assertThat(run(command)).isZero();
        String table = out.toString();
        assertThat(run(command, "--json")).isZero();
        String json = out.toString();
        assertThat(json).startsWith(command.equals("topology") ? "{" : "[").endsWith("\n");
        assertThat(run(command, "--json", "-")).isZero();
        assertThat(out.toString()).isEqualTo(json);
        Path file = folder.resolve("written.json");
        assertThat(run(command, "--json", file.toString())).isZero();
        assertThat(out.toString()).isEqualTo(table);
        assertThat(file).hasContent(json);
        assertThat(run(command, "--json", folder.toString())).isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).contains("option=--json, file=" + folder);
    }

    @Test
    void shouldSayThatASideHasNoDevices() throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode plain = (ObjectNode) mapper.readTree(TopologyJson.toJson(Topology.builtin()));
        ArrayNode targets = mapper.createArrayNode();
        plain.get("functions")
                .forEach(function -> {
                    if (function.get("side").asText().equals("target")) {
                        targets.add(function);
                    }
                });
        plain.set("functions", targets);
        Path file = Files.writeString(folder.resolve("plain.json"), plain.toString());
        assertThat(run("caps", "--topology", file.toString(), "--side", "target")).isZero();
        assertThat(run("caps", "--topology", file.toString(), "--side", "host")).isEqualTo(1);
        assertThat(err.toString()).contains("topology has no devices there: side=host");
    }
}
