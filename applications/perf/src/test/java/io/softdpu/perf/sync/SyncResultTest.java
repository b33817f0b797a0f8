package io.softdpu.perf.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.core.sync.SyncEventCapabilities;
import io.softdpu.perf.card.Cards;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.TextStyle;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests of the plan and the result of a sync event measurement, and its two forms. */
class SyncResultTest {
    private static final long SECOND = 1_000_000_000;
    private static final ResourceUse HOST = new ResourceUse(SECOND, SECOND / 4, 1000);
    private static final ResourceUse DPU = new ResourceUse(SECOND, SECOND / 2, 500);
    private static final ResultHeader HEADER = ResultHeader.now("1.2.3");

    private static SyncPlan latency(@Nullable PerfCpus cpus) {
        return new SyncPlan(SyncMode.LATENCY, SyncWait.EVENT, 2_000_000, SECOND, cpus);
    }

    private static PerfResult<SyncPlan, Optional<SyncAdds>> roundTrips(@Nullable PerfCpus cpus) {
        Percentiles times = new Percentiles(1, 2, 3, 4);
        Optional<SyncAdds> none = Optional.empty();
        return new PerfResult<>(
                latency(cpus),
                List.of(new PerfRun<>(500, SECOND, times, HOST, DPU, 0, null, none)));
    }

    private static PerfResult<SyncPlan, Optional<SyncAdds>> additions() {
        Optional<SyncAdds> adds = Optional.of(new SyncAdds(2000, SECOND, 1000, SECOND / 2, 3000));
        return new PerfResult<>(
                new SyncPlan(SyncMode.RATE, null, 0, SECOND, null),
                List.of(new PerfRun<>(3000, SECOND, null, HOST, DPU, 0.5, null, adds)));
    }

    @Test
    void shouldWriteRoundTripsAsJson() {
        JsonNode found = new SyncForms().json(roundTrips(new PerfCpus(0, 1)), HEADER, "default");
        assertThat(found.get("round_trips").asLong()).isEqualTo(500);
        assertThat(found.get("round_trips_per_s").asDouble()).isEqualTo(500);
        assertThat(found.get("p999_ns").asLong()).isEqualTo(3);
        assertThat(found.get("max_ns").asLong()).isEqualTo(4);
        assertThat(found.get("pace_ns").asLong()).isEqualTo(2_000_000);
        assertThat(found.get("cpu").asText()).isEqualTo("0,1");
        assertThat(found.get("allocated_bytes_per_op").asDouble()).isEqualTo(3);
        assertThat(found.at("/cores_used/host").asDouble()).isEqualTo(0.25);
        assertThat(found.at("/cores_used/dpu").asDouble()).isEqualTo(0.5);
        assertThat(found.get("adds").isNull()).isTrue();
        assertThat(found.at("/softdpu/options/seconds").asDouble()).isEqualTo(1);
        assertThat(found.at("/softdpu/options/topology").asText()).isEqualTo("default");
    }

    @Test
    void shouldWriteAdditionsAsJson() {
        JsonNode found = new SyncForms().json(additions(), HEADER, "default");
        assertThat(found.at("/adds/host").asLong()).isEqualTo(2000);
        assertThat(found.at("/adds_per_s/dpu").asDouble()).isEqualTo(2000);
        assertThat(found.get("value").asLong()).isEqualTo(3000);
        assertThat(found.get("allocated_bytes_per_op").asDouble()).isEqualTo(0.5);
        assertThat(found.get("p50_ns").isNull()).isTrue();
        assertThat(found.get("cpu").isNull()).isTrue();
        assertThat(found.at("/softdpu/options/cpu").asText()).isEqualTo("any");
        assertThat(found.get("notes").toString()).contains("other processes used up to 0.5");
    }

    @Test
    void shouldPrintBothAsTables() {
        List<String> latency = new SyncForms().lines(roundTrips(null), TextStyle.plain());
        assertThat(latency.get(1))
                .matches("latency +event +2.000 ms +500/s +1 ns .* 3.000 B/round trip +0.7500");
        List<String> rate = new SyncForms().lines(additions(), TextStyle.plain());
        assertThat(rate.get(1)).matches("rate +2000 +1000 +3000 .* 0.5000 B/addition +0.7500");
        assertThat(rate.getLast()).startsWith("note: other processes used up to 0.5");
    }

    @Test
    void shouldNoteThreadsThatShareAProcessor() {
        assertThat(roundTrips(null).notes(2, false)).isEmpty();
        assertThat(roundTrips(null).notes(1, false)).hasSize(1);
        assertThat(roundTrips(new PerfCpus(1, 1)).notes(2, true)).hasSize(2);
        assertThat(roundTrips(new PerfCpus(0, 1)).notes(2, false)).isEmpty();
    }

    @Test
    void shouldRefuseAPlanThatIsNone() {
        refused("nanos=0", SyncMode.RATE, null, 0, 0);
        refused("wait=event", SyncMode.RATE, SyncWait.EVENT, 0, 1);
        refused("pace=3us", SyncMode.RATE, null, 3000, 10_000);
        refused("wait=none", SyncMode.LATENCY, null, 0, 1);
        refused("pace=2s", SyncMode.LATENCY, SyncWait.BUSY, 2 * SECOND, SECOND);
        refused("pace=-1ns", SyncMode.LATENCY, SyncWait.BUSY, -1, SECOND);
    }

    private static void refused(
            String expected,
            SyncMode mode,
            @Nullable SyncWait waiting,
            long paceNanos,
            long nanos) {
        assertThatThrownBy(() -> new SyncPlan(mode, waiting, paceNanos, nanos, null))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(expected);
    }

    @Test
    void shouldNeedAnAsynchronousWaitOnBothSidesToSleep() {
        SyncPlan sleeping = latency(null);
        SyncPlan spinning = new SyncPlan(SyncMode.LATENCY, SyncWait.BUSY, 0, SECOND, null);
        sleeping.requireSupported(ComchPair.of(Topology.builtin()));
        for (Side side : List.of(Side.HOST, Side.DPU)) {
            ComchPair lacking =
                    ComchPair.of(Cards.without(side, SyncEventCapabilities.WAIT_TASKS_LIMIT));
            spinning.requireSupported(lacking);
            assertThatThrownBy(() -> sleeping.requireSupported(lacking))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                    .hasMessageContaining(
                            "measurement=latency, device=" + lacking.of(side).key() + ", limit=");
        }
    }
}
