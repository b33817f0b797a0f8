package io.softdpu.perf.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.core.device.Topology;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.OtherThread;
import io.softdpu.perf.result.ResultHeader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Measurements of a sync event whose sides are two threads of this JVM. */
class SyncMeasurementTest {
    private static final ComchPair PAIR = ComchPair.of(Topology.builtin());
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    @TempDir Path fabric;

    @ParameterizedTest
    @EnumSource
    void shouldMeasureRoundTripsWithEachWayToWait(SyncWait wait) throws IOException {
        JsonNode found = measured(new SyncPlan(SyncMode.LATENCY, wait, 0, SHORT_NANOS, null));

        assertThat(found.get("measurement").asText()).isEqualTo("latency");
        assertThat(found.get("wait").asText()).isEqualTo(wait.word());
        assertThat(found.get("round_trips").asLong()).isPositive();
        assertThat(found.get("round_trips_per_s").asDouble()).isPositive();
        assertThat(found.get("p50_ns").asLong())
                .isPositive()
                .isLessThanOrEqualTo(found.get("p99_ns").asLong());
        assertThat(found.get("max_ns").asLong())
                .isGreaterThanOrEqualTo(found.get("p999_ns").asLong());
        assertThat(found.get("adds").isNull()).isTrue();
        assertThat(found.get("value").isNull()).isTrue();
    }

    /** None begins before its time, so the pace bounds their number. */
    @ParameterizedTest
    @EnumSource
    void shouldBeginOneRoundTripPerPace(SyncWait wait) throws IOException {
        long pace = TimeUnit.MILLISECONDS.toNanos(2);
        JsonNode found = measured(new SyncPlan(SyncMode.LATENCY, wait, pace, SHORT_NANOS, null));

        assertThat(found.get("pace_ns").asLong()).isEqualTo(pace);
        assertThat(found.get("round_trips").asLong())
                .as("none early")
                .isBetween(1L, SHORT_NANOS / pace + 1);
    }

    @Test
    void shouldCountTheAddsOfBothSidesWhoseSumIsTheValue() throws IOException {
        JsonNode found = measured(new SyncPlan(SyncMode.RATE, null, 0, SHORT_NANOS, null));

        long host = found.at("/adds/host").asLong();
        long dpu = found.at("/adds/dpu").asLong();
        assertThat(host).isPositive();
        assertThat(dpu).isPositive();
        assertThat(found.get("value").asLong()).isEqualTo(host + dpu);
        assertThat(found.at("/adds_per_s/host").asDouble()).isPositive();
        assertThat(found.get("wait").isNull()).isTrue();
        assertThat(found.get("p50_ns").isNull()).isTrue();
    }

    private JsonNode measured(SyncPlan plan) throws IOException {
        try (OtherThread dpu = OtherThread.start((in, out) -> serve(plan, in, out));
                SyncHost host = new SyncHost(plan, PAIR, fabric, dpu)) {
            return new SyncForms().json(host.run(), ResultHeader.now("1"), "default");
        }
    }

    private void serve(SyncPlan plan, InputStream in, PrintStream out) {
        try (SyncDpu dpu = new SyncDpu(plan, PAIR, fabric)) {
            dpu.run(in, out);
        }
    }
}
