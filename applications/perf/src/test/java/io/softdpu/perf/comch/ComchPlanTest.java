package io.softdpu.perf.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.comch.ComchCapabilities;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.Affinity;
import io.softdpu.perf.card.Cards;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.LineTimes;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.perf.pair.WarmUp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the values of a plan and of its results. */
class ComchPlanTest {
    private static final int MEBIBYTE = 1 << 20;

    @TempDir Path fabric;

    @ParameterizedTest
    @CsvSource({
        "32, 256",
        "262144, 256",
        "1048576, 64",
        "67108864, 2",
        "268435455, 2",
        "268435456, 1",
        "1610612736, 1"
    })
    void shouldChooseAWindowThatBridgesAWakeUp(long sizeBytes, int window) {
        assertThat(ComchPlans.of(ComchMode.RATE).sizeBytes(sizeBytes).build().window())
                .isEqualTo(window);
    }

    @Test
    void shouldChooseAWindowWhoseMemoryIsBelowTheLimit() {
        ComchPlan plan =
                ComchPlans.of(ComchMode.BANDWIDTH).sizeBytes(MEBIBYTE).producers(64).build();

        assertThat(plan.window()).as("64 producers, 64 MiB each would fit alone").isEqualTo(64);
        assertThat(
                        ComchPlans.of(ComchMode.BANDWIDTH)
                                .sizeBytes(4 * MEBIBYTE)
                                .producers(64)
                                .build()
                                .memoryBytes())
                .isEqualTo(65L * 16 * 4 * MEBIBYTE);
        ComchPlan large =
                ComchPlans.of(ComchMode.BANDWIDTH).sizeBytes(80 * MEBIBYTE).producers(64).build();
        assertThat(large.window()).as("2 would need 10 GiB").isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"8, 64", "65535, 64", "65536, 1", "1610612736, 1"})
    void shouldTimeEachLargeMessageAndFewSmallOnes(long sizeBytes, int each) {
        assertThat(PerfPlan.operationsPerTimed(sizeBytes)).isEqualTo(each);
    }

    @Test
    void shouldNeedMoreDescriptorsForEachThreadAndConnection() {
        ComchPlan one = ComchPlans.of(ComchMode.RATE).build();
        ComchPlan eight = ComchPlans.of(ComchMode.RATE).producers(8).build();
        ComchPlan both = ComchPlans.of(ComchMode.RATE).producers(8).consumers(8).build();

        assertThat(one.furtherDescriptors()).isZero();
        // As many as the measurements that ended with EMFILE have needed: 8 of each thread.
        assertThat(eight.furtherDescriptors()).isEqualTo(56);
        assertThat(both.furtherDescriptors()).isEqualTo(112);
        assertThat(ComchPlans.of(ComchMode.IDLE).clients(32).build().furtherDescriptors())
                .isGreaterThanOrEqualTo(96);
    }

    @Test
    void shouldTakeTheWindowThatIsGiven() {
        assertThat(ComchPlans.of(ComchMode.RATE).window(8192).build().window()).isEqualTo(8192);
    }

    @Test
    void shouldTakeMessagesAndClientsAsTheChannelDoes() {
        ComchCapabilities port = capabilities(Side.DPU);

        assertThat(ComchPlan.MAX_BASIC_BYTES)
                .isEqualTo(port.maxMessageBytes())
                .isEqualTo(capabilities(Side.HOST).maxMessageBytes());
        assertThat(ComchPlan.MAX_CLIENTS).isEqualTo(port.maxClients());
        assertThat(ComchPlan.MAX_SIZE_BYTES).isLessThanOrEqualTo(port.maxConsumerBufferBytes());
    }

    private ComchCapabilities capabilities(Side side) {
        try (Machine machine = Machine.builder(side).fabricFolder(fabric).open()) {
            PciFunction function = ComchPair.of(Topology.builtin()).of(side);
            return ComchCapabilities.of(machine.findDevice(function.pciAddress().toString()));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "RATE, false, HOST producer + DPU consumer",
        "BANDWIDTH, false, HOST producer + DPU consumer",
        "LATENCY, false, HOST producer + HOST consumer + DPU producer + DPU consumer",
        "RATE, true, HOST producer + HOST consumer + DPU producer + DPU consumer",
        "CONTROL, false, none",
        "IDLE, false, none"
    })
    void shouldNeedTheTasksThatTheMeasurementUses(ComchMode mode, boolean stream, String needed) {
        ComchPlans builder = ComchPlans.of(mode).stream(stream);
        ComchPlan plan = (mode == ComchMode.IDLE ? builder.clients(1) : builder).build();
        plan.requireSupported(ComchPair.of(Topology.builtin()));
        List<String> refused = new ArrayList<>();
        for (Side side : List.of(Side.HOST, Side.DPU)) {
            for (DeviceLimit limit :
                    List.of(
                            ComchCapabilities.PRODUCER_TASKS_LIMIT,
                            ComchCapabilities.CONSUMER_TASKS_LIMIT)) {
                try {
                    plan.requireSupported(ComchPair.of(Cards.without(side, limit)));
                } catch (DpuException e) {
                    assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED);
                    assertThat(e)
                            .hasMessageContainingAll(
                                    "measurement=" + mode.word(), "limit=" + limit.id());
                    refused.add(side + " " + limit.library().replace("comch-", ""));
                }
            }
        }
        assertThat(refused.isEmpty() ? "none" : String.join(" + ", refused)).isEqualTo(needed);
    }

    @Test
    void shouldHaveTimeForAllItsRuns() {
        long run = TimeUnit.SECONDS.toNanos(10);
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).nanos(run).repeats(1000).build();

        assertThat(plan.limitNanos()).isGreaterThan((WarmUp.MOST_RUNS + 1000) * run);
    }

    @Test
    void shouldRefuseIllegalValues() {
        assertInvalid(
                () -> ComchPlans.of(ComchMode.RATE).window(0).build(),
                "window is illegal: window=0, expected=1 to 8192");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.RATE).window(8193).build(),
                "window is illegal: window=8193, expected=1 to 8192");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.BANDWIDTH).sizeBytes(MEBIBYTE).window(4097).build(),
                "messages of both processes need too much memory: producers=1, consumers=1,"
                        + " stream=false, window=4097, size=1MiB, needed=8.002 GiB, limit=8 GiB");
        assertInvalid(
                () ->
                        ComchPlans.of(ComchMode.BANDWIDTH).sizeBytes(MEBIBYTE).window(2049).stream(
                                        true)
                                .build(),
                "messages of both processes need too much memory: producers=1, consumers=1,"
                        + " stream=true, window=2049, size=1MiB, needed=8.004 GiB, limit=8 GiB");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.RATE).stream(true).producers(2).build(),
                "connection has one stream of each side: producers=2, expected=1");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.LATENCY).window(4).build(),
                "only one-way messages have a window: window=4, measurement=latency, expected=no"
                        + " window");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.CONTROL).sizeBytes(4081).build(),
                "message size is illegal: size=4081, measurement=control, expected=1 to 4080");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.CONTROL).stream(true).build(),
                "no messages of a stream are measured: stream=true, measurement=control,"
                        + " expected=false");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.IDLE).build(),
                "number of idle clients is illegal: clients=none, measurement=idle, expected=1 to"
                        + " 512");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.IDLE).clients(0).build(),
                "number of idle clients is illegal: clients=0, measurement=idle, expected=1 to"
                        + " 512");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.RATE).clients(0).build(),
                "only idle connections have a number of clients: clients=0, measurement=rate,"
                        + " expected=none");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.RATE).producers(65).build(),
                "number of producers is illegal: producers=65, expected=1 to 64");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.LATENCY).producers(2).build(),
                "only one-way messages have several producers: producers=2, measurement=latency,"
                        + " expected=1");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.RATE).producers(3).consumers(2).build(),
                "number of consumers is illegal: consumers=2, producers=3, expected=1 or as many as"
                        + " producers");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.RATE).consumers(0).build(),
                "number of consumers is illegal: consumers=0, producers=1, expected=1 or as many as"
                        + " producers");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.RATE).repeats(0).build(),
                "number of runs is illegal: repeat=0, expected=1 to 1000");
        assertInvalid(
                () -> ComchPlans.of(ComchMode.RATE).nanos(0).build(),
                "time is illegal: nanos=0, expected=1 or more");
        assertInvalid(() -> PerfCpus.of("0"), "not a pair of processors: cpu=0, expected=HOST,DPU");
    }

    @Test
    void shouldRefuseProcessorsThatThisProcessMayNotUse() {
        int allowed = Affinity.allowed().nextSetBit(0);
        assertThatThrownBy(() -> PerfCpus.of(allowed + ",99999"))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND))
                .hasMessageContaining("cpu=99999");
    }

    @ParameterizedTest
    @CsvSource({
        "100, 200, NEAR",
        "200, 201, MIXED",
        "300, 500, FAR",
        "299, 500, MIXED",
        "500, 100, MIXED"
    })
    void shouldClassAMeasurementByBothLineTimes(long before, long after, LineTimes.Distance found) {
        assertThat(new LineTimes(before, after).distance()).isEqualTo(found);
    }

    private static void assertInvalid(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(message);
    }
}
