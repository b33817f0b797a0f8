package io.softdpu.perf.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.perf.card.Cards;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.LineTimes;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.TextStyle;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.storage.RdmaCounters;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of the plan and the result of an RDMA measurement, its two forms and its lines. */
class RdmaResultTest {
    private static final long SECOND = 1_000_000_000;
    private static final long GIBIBYTE = 1L << 30;
    private static final ResourceUse HOST = new ResourceUse(SECOND, SECOND / 4, 1000);
    private static final ResourceUse DPU = new ResourceUse(SECOND, SECOND / 2, 500);
    private static final ResultHeader HEADER = ResultHeader.now("1.2.3");

    private static RdmaPlan plan(RdmaMode mode, RdmaOperation operation) {
        return RdmaPlan.of(mode, operation, null, null, SECOND, null, null, ProviderChoice.AUTO);
    }

    private static PerfResult<RdmaPlan, RdmaFigures> result(
            RdmaPlan plan, @Nullable LineTimes line) {
        Percentiles times = new Percentiles(1, 2, 3, 4);
        RdmaFigures own = new RdmaFigures("shm", 4096, RdmaCounters.NONE, RdmaCounters.NONE);
        return new PerfResult<>(
                plan, List.of(new PerfRun<>(500, SECOND, times, HOST, DPU, 0.5, line, own)));
    }

    @Test
    void shouldWriteWhatWasMeasuredAsJson() {
        RdmaPlan plan =
                RdmaPlan.of(
                        RdmaMode.RATE,
                        RdmaOperation.WRITE,
                        2000L,
                        PerfWait.EVENT,
                        SECOND,
                        16,
                        new PerfCpus(0, 1),
                        new ProviderChoice("shm"));
        JsonNode found =
                new RdmaForms().json(result(plan, new LineTimes(100, 400)), HEADER, "default");

        assertThat(found.get("measurement").asText()).isEqualTo("rate");
        assertThat(found.get("operation").asText()).isEqualTo("write");
        assertThat(found.get("provider").asText()).isEqualTo("shm");
        assertThat(found.get("path_mtu_bytes").asInt()).isEqualTo(4096);
        assertThat(found.get("size_bytes").asLong()).isEqualTo(2000);
        assertThat(found.get("wait").asText()).isEqualTo("event");
        assertThat(found.get("window").asInt()).isEqualTo(16);
        assertThat(found.get("cpu").asText()).isEqualTo("0,1");
        assertThat(found.get("messages").asLong()).isEqualTo(500);
        assertThat(found.get("messages_per_s").asDouble()).isEqualTo(500);
        assertThat(found.get("gb_per_s").asDouble()).isEqualTo(0.001);
        assertThat(found.get("p50_ns").asLong()).isEqualTo(1);
        assertThat(found.get("p999_ns").asLong()).isEqualTo(3);
        assertThat(found.get("max_ns").asLong()).isEqualTo(4);
        assertThat(found.get("allocated_bytes_per_op").asDouble()).isEqualTo(3);
        assertThat(found.at("/cores_used/host").asDouble()).isEqualTo(0.25);
        assertThat(found.at("/cores_used/dpu").asDouble()).isEqualTo(0.5);
        assertThat(found.get("distance").asText()).isEqualTo("mixed");
        assertThat(found.get("notes").toString()).contains("other processes used up to 0.5");
        assertThat(found.at("/softdpu/options/seconds").asDouble()).isEqualTo(1);
        assertThat(found.at("/softdpu/options/operation").asText()).isEqualTo("write");
        assertThat(found.at("/softdpu/options/topology").asText()).isEqualTo("default");
    }

    @Test
    void shouldLeaveOutWhatALatencyDoesNotHave() {
        JsonNode found =
                new RdmaForms()
                        .json(
                                result(plan(RdmaMode.LATENCY, RdmaOperation.READ), null),
                                HEADER,
                                "default");

        assertThat(List.of(found.get("window"), found.get("cpu"), found.get("distance")))
                .allMatch(JsonNode::isNull);
        assertThat(found.at("/softdpu/options/cpu").asText()).isEqualTo("any");
    }

    @Test
    void shouldPrintTheCountersThatAreNotZero() {
        SequencedMap<String, Long> ofHost = new LinkedHashMap<>();
        ofHost.put("packets_sent", 7L);
        ofHost.put("duplicates", 0L);
        SequencedMap<String, Long> ofDevice = new LinkedHashMap<>(ofHost);
        ofDevice.put("packets_sent", 9L);
        ofDevice.put("impair_lost", 2L);
        RdmaFigures own =
                new RdmaFigures(
                        "roce", 1024, new RdmaCounters(ofHost, ofDevice), RdmaCounters.NONE);
        PerfRun<RdmaFigures> run = new PerfRun<>(500, SECOND, null, HOST, DPU, 0, null, own);

        List<String> lines =
                new RdmaForms()
                        .lines(
                                new PerfResult<>(
                                        plan(RdmaMode.LATENCY, RdmaOperation.READ), List.of(run)),
                                TextStyle.plain());

        assertThat(lines)
                .anyMatch(line -> line.matches("counter +host +dpu"))
                .anyMatch(line -> line.matches("packets_sent +7 +0"))
                .anyMatch(line -> line.matches("impair_lost +2 +0"))
                .noneMatch(line -> line.contains("duplicates"));
    }

    @Test
    void shouldPrintATable() {
        List<String> lines =
                new RdmaForms()
                        .lines(
                                result(
                                        plan(RdmaMode.LATENCY, RdmaOperation.COMPARE_AND_SWAP),
                                        new LineTimes(100, 150)),
                                TextStyle.plain());

        assertThat(lines.get(1))
                .matches(
                        "latency +cmp-swap +shm +8 B +adaptive +- +500/s .*"
                                + " 3.000 B/operation +0.7500");
        assertThat(lines.get(2))
                .isEqualTo("round trip of a cache line: 100 ns before, 150 ns after (near)");
        assertThat(lines.getLast()).startsWith("note: other processes used up to 0.5");
    }

    @ParameterizedTest
    @CsvSource({
        "LATENCY, WRITE, 64, BUSY, 1",
        "LATENCY, SEND, 64, ADAPTIVE, 1",
        "LATENCY, FETCH_AND_ADD, 8, ADAPTIVE, 1",
        "RATE, WRITE, 32, ADAPTIVE, 64",
        "RATE, COMPARE_AND_SWAP, 8, ADAPTIVE, 64",
        "BANDWIDTH, READ, 1048576, ADAPTIVE, 64"
    })
    void shouldHaveTheDefaultsOfModeAndOperation(
            RdmaMode mode, RdmaOperation operation, long size, PerfWait waiting, int window) {
        RdmaPlan plan = plan(mode, operation);

        assertThat(plan.sizeBytes()).isEqualTo(size);
        assertThat(plan.waiting()).isEqualTo(waiting);
        assertThat(plan.window()).isEqualTo(window);
    }

    @ParameterizedTest
    @CsvSource({"2097152, 32", "67108864, 2", "268435455, 2", "268435456, 1", "2147483648, 1"})
    void shouldHaveFewerLargeOperationsInFlight(long size, int window) {
        assertThat(
                        RdmaPlan.of(
                                        RdmaMode.BANDWIDTH,
                                        RdmaOperation.WRITE,
                                        size,
                                        null,
                                        1,
                                        null,
                                        null,
                                        ProviderChoice.AUTO)
                                .window())
                .isEqualTo(window);
    }

    @Test
    void shouldRefuseAPlanThatIsNone() {
        refused("nanos=0", RdmaMode.RATE, RdmaOperation.READ, null, null, 0, null);
        refused("size=0, expected=1 to 2GiB", RdmaMode.RATE, RdmaOperation.READ, 0L, null, 1, null);
        refused("size=2147483649", RdmaMode.RATE, RdmaOperation.READ, 2 * GIBIBYTE + 1, null, 1, 1);
        refused("window=0", RdmaMode.RATE, RdmaOperation.READ, null, null, 1, 0);
        refused("window=8193", RdmaMode.RATE, RdmaOperation.READ, null, null, 1, 8193);
        refused("window=1, measurement", RdmaMode.LATENCY, RdmaOperation.READ, null, null, 1, 1);
        refused(
                "needed=10 GiB, limit=8 GiB",
                RdmaMode.BANDWIDTH,
                RdmaOperation.READ,
                GIBIBYTE,
                null,
                1,
                5);
        refused(
                "op=fetch-add, measurement=bandwidth, expected=latency or rate",
                RdmaMode.BANDWIDTH,
                RdmaOperation.FETCH_AND_ADD,
                null,
                null,
                1,
                null);
        refused(
                "size=16, op=cmp-swap, expected=8",
                RdmaMode.RATE,
                RdmaOperation.COMPARE_AND_SWAP,
                16L,
                null,
                1,
                null);
        refused(
                "wait=event, measurement=latency, op=write, expected=busy",
                RdmaMode.LATENCY,
                RdmaOperation.WRITE,
                null,
                PerfWait.EVENT,
                1,
                null);
    }

    private static void refused(
            String expected,
            RdmaMode mode,
            RdmaOperation operation,
            @Nullable Long size,
            @Nullable PerfWait waiting,
            long nanos,
            @Nullable Integer window) {
        assertThatThrownBy(() ->
                        RdmaPlan.of(
                                mode,
                                operation,
                                size,
                                waiting,
                                nanos,
                                window,
                                null,
                                ProviderChoice.AUTO))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(expected);
    }

    @ParameterizedTest
    @EnumSource
    void shouldNeedTheTasksOfTheOperationOnTheHost(RdmaOperation operation) {
        RdmaPlan plan = plan(RdmaMode.RATE, operation);
        plan.requireSupported(ComchPair.of(Topology.builtin()));
        requireNotSupported(plan, Side.HOST, operation.taskType());
        if (operation.isReceived()) {
            requireNotSupported(plan, Side.DPU, RdmaTaskType.RECEIVE);
        }
    }

    @Test
    void shouldNeedTheTasksOfAnAnswerOnTheDpuAsWell() {
        RdmaPlan plan = plan(RdmaMode.LATENCY, RdmaOperation.SEND);
        requireNotSupported(plan, Side.DPU, RdmaTaskType.SEND);
        requireNotSupported(plan, Side.HOST, RdmaTaskType.RECEIVE);
    }

    private static void requireNotSupported(RdmaPlan plan, Side side, RdmaTaskType type) {
        ComchPair lacking = ComchPair.of(Cards.without(side, RdmaCapabilities.tasksLimit(type)));
        assertThatThrownBy(() -> plan.requireSupported(lacking))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                .hasMessageContaining(
                        "measurement="
                                + plan.mode().word()
                                + ", device="
                                + lacking.of(side).key()
                                + ", limit=");
    }

    @Test
    void shouldNoteThreadsThatShareAProcessor() {
        PerfResult<RdmaPlan, RdmaFigures> two =
                result(plan(RdmaMode.RATE, RdmaOperation.READ), null);
        assertThat(two.notes(2, false)).hasSize(1);
        assertThat(two.notes(1, false)).hasSize(2);
        assertThat(two.notes(2, true)).hasSize(2);
    }

    @Test
    void shouldReadTheLinesOfTheOtherProcess() {
        PeerExport export = new PeerExport(new byte[] {1, -1}, new byte[0]);
        assertThat(PeerExport.parse(export.toString()))
                .get()
                .satisfies(found -> {
                    assertThat(found.connection()).containsExactly(1, -1);
                    assertThat(found.memory()).isEmpty();
                });
        for (String line :
                List.of(
                        "",
                        "peer: connection=, memory=00",
                        "peer: connection=0, memory=",
                        "peer: connection=00, memory=000",
                        "peer: connection=0g, memory=")) {
            assertThat(PeerExport.parse(line)).isEmpty();
        }
    }
}
