package io.softdpu.perf.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withPrecision;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.OtherThread;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Measurements of the Comm Channel whose sides are two threads of this JVM. */
class ComchMeasurementTest {
    private static final ComchPair PAIR = ComchPair.of(Topology.builtin());
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    @TempDir Path fabric;

    @ParameterizedTest
    @CsvSource({
        "LATENCY, 64, ADAPTIVE, false",
        "LATENCY, 1, EVENT, false",
        "RATE, 32, ADAPTIVE, false",
        "RATE, 7, BUSY, false",
        "RATE, 100, EVENT, false",
        "BANDWIDTH, 1048576, ADAPTIVE, false",
        "BANDWIDTH, 300000, BUSY, false",
        "CONTROL, 64, ADAPTIVE, false",
        "CONTROL, 1, EVENT, false",
        "CONTROL, 4080, BUSY, false",
        "LATENCY, 64, ADAPTIVE, true",
        "LATENCY, 1000, EVENT, true",
        "RATE, 32, BUSY, true",
        "RATE, 7, EVENT, true",
        "BANDWIDTH, 1048576, ADAPTIVE, true"
    })
    void shouldMeasureEachWayWithEachWayToWait(
            ComchMode mode, long size, PerfWait wait, boolean stream) throws IOException {
        assertMeasures(mode, size, wait, stream);
    }

    @Tag(Soak.TAG)
    @ParameterizedTest
    @CsvSource({"BANDWIDTH, ADAPTIVE", "LATENCY, BUSY"})
    void shouldMeasureLargeMessages(ComchMode mode, PerfWait wait) throws IOException {
        assertMeasures(mode, Soak.count(8 << 20, 24 << 20, 96 << 20), wait, false);
    }

    private void assertMeasures(ComchMode mode, long size, PerfWait wait, boolean stream)
            throws IOException {
        ComchPlan plan =
                ComchPlans.of(mode).waiting(wait).nanos(SHORT_NANOS).sizeBytes(size).stream(stream)
                        .build();
        JsonNode found = measured(plan);

        assertThat(found.get("stream").asBoolean()).isEqualTo(stream);
        assertThat(found.get("measurement").asText()).isEqualTo(mode.word());
        assertThat(found.get("size_bytes").asLong()).isEqualTo(size);
        assertThat(found.get("wait").asText()).isEqualTo(wait.word());
        assertThat(found.get("messages").asLong()).isPositive();
        if (mode.isRoundTrip() || size >= Long.BYTES) {
            assertThat(found.get("p50_ns").asLong())
                    .isPositive()
                    .isLessThanOrEqualTo(found.get("p99_ns").asLong());
            assertThat(found.get("max_ns").asLong())
                    .isGreaterThanOrEqualTo(found.get("p999_ns").asLong());
        } else {
            assertThat(List.of(found.get("p50_ns"), found.get("p999_ns")))
                    .as("no room for the time")
                    .allMatch(JsonNode::isNull);
        }
        double bytes = found.get("messages_per_s").asDouble() * size;
        assertThat(found.get("gb_per_s").asDouble())
                .isEqualTo(bytes / 1e9, withPrecision(bytes / 1e9 * 1e-3));
    }

    @Tag(Soak.TAG)
    @ParameterizedTest
    @CsvSource({"BUSY, 1", "ADAPTIVE, 1", "EVENT, 1", "ADAPTIVE, 4"})
    void shouldSendFromSeveralProducersToOneConsumerOrToEachItsOwn(PerfWait wait, int consumers)
            throws IOException {
        long begin = System.nanoTime();
        JsonNode found =
                measured(
                        ComchPlans.of(ComchMode.RATE)
                                .waiting(wait)
                                .nanos(Soak.isLong() ? 200 * SHORT_NANOS : 2 * SHORT_NANOS)
                                .producers(4)
                                .consumers(consumers)
                                .window(64)
                                .build());
        Soak.report(
                "producer-shares-" + wait.word() + "-" + consumers,
                0,
                Duration.ofNanos(System.nanoTime() - begin),
                "shares="
                        + found.get("shares")
                        + ", messages_per_s="
                        + found.get("messages_per_s"));

        assertThat(found.get("producers").asInt()).isEqualTo(4);
        assertThat(found.get("consumers").asInt()).isEqualTo(consumers);
        double all = 0;
        for (JsonNode share : found.get("shares")) {
            if (Soak.isLong()) { // a busy machine may not run each thread within a short load
                assertThat(share.asDouble()).as("none starves").isPositive();
            }
            all += share.asDouble();
        }
        assertThat(found.get("shares")).hasSize(4);
        assertThat(all).as("rounded to four digits").isEqualTo(1, withPrecision(1e-3));
    }

    /** Each retry of the connect is work: the engine's rounds never wait in vain. */
    @ParameterizedTest
    @EnumSource
    void shouldNoticeTheEndOfItsOtherHalfWhileItConnects(PerfWait wait) throws IOException {
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).waiting(wait).build();
        try (OtherThread ended = OtherThread.start((_, _) -> {})) {
            ended.waitFor();
            try (ComchHost host = new ComchHost(plan, PAIR, fabric, ended, Patience.NANOS)) {
                assertThatThrownBy(host::run)
                        .isInstanceOfSatisfying(
                                DpuException.class,
                                e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_RESET))
                        .hasMessage("process of the DPU has ended: exit=0")
                        .as("not found by the timeout of the connect")
                        .hasNoCause();
            }
        }
    }

    private JsonNode measured(ComchPlan plan) throws IOException {
        try (OtherThread dpu = OtherThread.start((_, _) -> serve(plan));
                ComchHost host = new ComchHost(plan, PAIR, fabric, dpu, Patience.NANOS)) {
            return new ComchForms().json(host.run(), ResultHeader.now("1"), "default");
        }
    }

    private void serve(ComchPlan plan) {
        try (ComchDpu dpu = new ComchDpu(plan, PAIR, fabric)) {
            dpu.run();
        }
    }
}
