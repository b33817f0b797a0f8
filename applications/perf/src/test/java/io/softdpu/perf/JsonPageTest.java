package io.softdpu.perf;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.softdpu.core.device.Topology;
import io.softdpu.perf.block.BlockFigures;
import io.softdpu.perf.block.BlockForms;
import io.softdpu.perf.block.BlockLoad;
import io.softdpu.perf.block.BlockMode;
import io.softdpu.perf.block.BlockPlan;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ChildReport.PhaseResult;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.comch.ComchFigures;
import io.softdpu.perf.comch.ComchForms;
import io.softdpu.perf.comch.ComchMode;
import io.softdpu.perf.comch.ComchPlan;
import io.softdpu.perf.comch.ComchPlans;
import io.softdpu.perf.demo.ChildOutcome;
import io.softdpu.perf.demo.DemoDevices;
import io.softdpu.perf.demo.DemoJson;
import io.softdpu.perf.demo.DemoOptions;
import io.softdpu.perf.demo.DemoPhase;
import io.softdpu.perf.demo.DemoResult;
import io.softdpu.perf.pair.LineTimes;
import io.softdpu.perf.pair.PerfForms;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.rdma.RdmaFigures;
import io.softdpu.perf.rdma.RdmaForms;
import io.softdpu.perf.rdma.RdmaMode;
import io.softdpu.perf.rdma.RdmaOperation;
import io.softdpu.perf.rdma.RdmaPlan;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.storage.StorageFixture;
import io.softdpu.perf.storage.StorageJson;
import io.softdpu.perf.sync.SyncAdds;
import io.softdpu.perf.sync.SyncForms;
import io.softdpu.perf.sync.SyncMode;
import io.softdpu.perf.sync.SyncPlan;
import io.softdpu.storage.RdmaCounters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Compares the keys of JSON results with the page that describes them. */
class JsonPageTest {
    private static final ResultHeader HEADER = ResultHeader.now("1.2.3");
    private static final RdmaCounters COUNTERS =
            new RdmaCounters(
                    new LinkedHashMap<>(Map.of("retransmissions", 5L)),
                    new LinkedHashMap<>(Map.of("impair_lost", 6L)));

    @Test
    void shouldDescribeEachKeyOfTheDemo() throws IOException {
        Set<String> keys = keysOf(demo());

        assertThat(keys).contains("softdpu", "processor_model", "paced_read_4k", "hit_rate");
        assertAllOnPage(keys);
    }

    @Test
    void shouldDescribeEachKeyOfPerf() throws IOException {
        Set<String> keys = keysOf(perf());

        assertThat(keys).contains("softdpu", "gb_per_s", "line_before_ns", "shares", "notes");
        assertAllOnPage(keys);
    }

    @Test
    void shouldDescribeEachKeyOfASyncEvent() throws IOException {
        Set<String> keys = keysOf(syncEvent());

        assertThat(keys).contains("softdpu", "pace_ns", "round_trips", "adds_per_s", "value");
        assertAllOnPage(keys);
    }

    @Test
    void shouldDescribeEachKeyOfRdma() throws IOException {
        Set<String> keys = keysOf(rdma());

        assertThat(keys).contains("softdpu", "operation", "window", "provider", "distance");
        assertAllOnPage(keys);
    }

    @Test
    void shouldDescribeEachKeyOfABlockDevice() throws IOException {
        Set<String> keys = keysOf(block());

        assertThat(keys).contains("softdpu", "method", "depth", "p90_ns", "cpu_ns_per_op");
        assertThat(keys).as("one thread, which is not pinned").doesNotContain("cpu");
        assertAllOnPage(keys);
    }

    @Test
    void shouldDescribeEachKeyOfAStorageProgram() throws IOException {
        Set<String> keys = keysOf(storage());

        assertThat(keys).contains("softdpu", "data_path", "cores", "latency_since_due", "p90_us");
        assertAllOnPage(keys);
    }

    @Test
    void shouldHaveWhatTheProviderHasCounted() {
        assertThat(rdma().at("/counters/host/connections/retransmissions").asLong()).isEqualTo(5);
        assertThat(rdma().at("/counters/dpu/device/impair_lost").asLong()).isEqualTo(6);
        assertThat(demo().at("/processes/0/counters/connections/retransmissions").asLong())
                .isEqualTo(5);
        assertThat(demo().at("/processes/0/counters/device/impair_lost").asLong()).isEqualTo(6);
        assertThat(storage("target").at("/counters/connections/retransmissions").asLong())
                .as("of both cores")
                .isEqualTo(6);
        assertThat(storage("target").at("/counters/device/nic_malformed").asLong())
                .as("of the one device")
                .isEqualTo(4);
        assertThat(storage("initiator").get("counters").isNull()).isTrue();
    }

    @Test
    void shouldNameTheProviderThatServed() {
        assertThat(demo().get("provider").asText()).isEqualTo("shm");
        assertThat(demo().at("/softdpu/options/provider").asText()).isEqualTo("auto");
        assertThat(rdma().get("provider").asText()).isEqualTo("shm");
        assertThat(rdma().at("/softdpu/options/provider").asText()).isEqualTo("auto");
        assertThat(storage("target").get("provider").asText()).isEqualTo("shm");
        assertThat(storage("initiator").get("provider").isNull()).isTrue();
    }

    @Test
    void shouldNameOnlyKeysAmongTheUnits() {
        for (JsonNode document : List.of(demo(), perf(), syncEvent(), rdma(), block(), storage())) {
            assertThat(keysOf(document)).containsAll(fields(document.at("/softdpu/units")));
        }
    }

    @Test
    void shouldSayWhereAResultComesFrom() {
        JsonNode origin = perf().get("softdpu");

        assertThat(origin.get("version").asText()).isEqualTo("1.2.3");
        assertThat(origin.get("date").asText()).matches("\\d{4}-\\d\\d-\\d\\dT[\\d:]{8}Z");
        assertThat(origin.at("/machine/processors").asInt()).isPositive();
        assertThat(origin.at("/machine/jdk").asText()).contains(Runtime.version().toString());
        assertThat(origin.at("/options/topology").asText()).isEqualTo("default");
        assertThat(origin.at("/units/gb_per_s").asText()).isEqualTo("10^9 bytes/s");
    }

    private static void assertAllOnPage(Set<String> keys) throws IOException {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/json.md"))) {
            folder = folder.getParent();
        }
        String page = Files.readString(folder.resolve("docs/json.md"));
        assertThat(keys).isNotEmpty().allSatisfy(key -> assertThat(page).contains("`" + key + "`"));
    }

    private static Set<String> keysOf(JsonNode node) {
        Set<String> keys = new HashSet<>(fields(node));
        node.forEach(child -> keys.addAll(keysOf(child)));
        return keys;
    }

    private static Set<String> fields(JsonNode node) {
        return node.properties().stream().map(Map.Entry::getKey).collect(Collectors.toSet());
    }

    private static JsonNode demo() {
        Set<DemoPhase> measured =
                Arrays.stream(DemoPhase.values())
                        .filter(DemoPhase::isMeasured)
                        .collect(Collectors.toSet());
        DemoOptions options =
                new DemoOptions(
                        null,
                        1 << 20,
                        4096,
                        1,
                        measured,
                        1,
                        1,
                        ProviderChoice.AUTO,
                        false,
                        List.of(),
                        DemoDevices.of(Topology.builtin()));
        List<PhaseResult> phases =
                measured.stream()
                        .map(phase ->
                                new PhaseResult(
                                        phase.key(), 4096, 1, 1, 0, 4096, 1, 1, 1, 1, "", ""))
                        .toList();
        ChildReport report =
                new ChildReport(
                        "SUCCESS",
                        1,
                        1,
                        1,
                        1,
                        1,
                        1,
                        "shm",
                        COUNTERS.connections(),
                        COUNTERS.device(),
                        List.of(new ChildReport.Core("0", 1, 1, 1, 1, 1, 1)),
                        new ChildReport.Run(1, 1, phases));
        DemoResult result =
                new DemoResult(
                        1,
                        null,
                        List.of(new ChildOutcome("initiator", 0, false, 0, List.of(), report)),
                        Map.of(),
                        0,
                        null);
        return DemoJson.of(options, List.of("any", "any", "any"), result, HEADER);
    }

    private static JsonNode storage() {
        return storage("initiator");
    }

    private static JsonNode storage(String role) {
        return StorageJson.of(
                StorageFixture.session(role),
                StorageFixture.run(),
                JsonNodeFactory.instance.objectNode(),
                HEADER);
    }

    private static JsonNode perf() {
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).build();
        return json(new ComchForms(), plan, new ComchFigures(List.of(1L), null));
    }

    private static <P extends PerfPlan, X> JsonNode json(PerfForms<P, X> forms, P plan, X own) {
        ResourceUse use = new ResourceUse(1, 0, 0);
        PerfRun<X> run = new PerfRun<>(1, 1, null, use, use, 0, new LineTimes(100, 100), own);
        return forms.json(new PerfResult<>(plan, List.of(run)), HEADER, "default");
    }

    private static JsonNode syncEvent() {
        return json(
                new SyncForms(),
                new SyncPlan(SyncMode.RATE, null, 0, 1, null),
                Optional.of(new SyncAdds(1, 1, 1, 1, 2)));
    }

    private static JsonNode block() {
        BlockPlan plan =
                BlockPlan.of(
                        BlockMode.RATE,
                        "null:1M",
                        BlockLoad.READ,
                        null,
                        null,
                        1,
                        false,
                        false,
                        false,
                        null,
                        1);
        return json(new BlockForms(), plan, new BlockFigures("engine", "null:1048576", 1));
    }

    private static JsonNode rdma() {
        RdmaPlan plan =
                RdmaPlan.of(
                        RdmaMode.RATE,
                        RdmaOperation.WRITE,
                        null,
                        null,
                        1,
                        null,
                        null,
                        ProviderChoice.AUTO);
        return json(new RdmaForms(), plan, new RdmaFigures("shm", 4096, COUNTERS, COUNTERS));
    }
}
