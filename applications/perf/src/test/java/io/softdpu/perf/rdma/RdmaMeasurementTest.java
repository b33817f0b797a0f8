package io.softdpu.perf.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withPrecision;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.pair.OtherThread;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.result.ResultHeader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Measurements of RDMA whose sides are two threads of this JVM. */
class RdmaMeasurementTest {
    private static final ComchPair PAIR = ComchPair.of(Topology.builtin());
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    @TempDir Path fabric;

    @ParameterizedTest
    @CsvSource({
        "LATENCY, WRITE, 64, BUSY",
        "LATENCY, WRITE, 1, BUSY",
        "LATENCY, READ, 64, ADAPTIVE",
        "LATENCY, SEND, 64, ADAPTIVE",
        "LATENCY, SEND, 7, EVENT",
        "LATENCY, WRITE_IMMEDIATE, 100, BUSY",
        "LATENCY, FETCH_AND_ADD, 8, EVENT",
        "LATENCY, COMPARE_AND_SWAP, 8, ADAPTIVE",
        "RATE, WRITE, 8, BUSY",
        "RATE, READ, 32, EVENT",
        "RATE, SEND, 32, ADAPTIVE",
        "RATE, WRITE_IMMEDIATE, 32, EVENT",
        "RATE, FETCH_AND_ADD, 8, ADAPTIVE",
        "RATE, COMPARE_AND_SWAP, 8, BUSY",
        "BANDWIDTH, WRITE, 1048576, ADAPTIVE",
        "BANDWIDTH, READ, 300000, BUSY",
        "BANDWIDTH, SEND, 1048576, EVENT",
        "BANDWIDTH, WRITE_IMMEDIATE, 100000, ADAPTIVE"
    })
    void shouldMeasureEachOperation(
            RdmaMode mode, RdmaOperation operation, long size, PerfWait wait) throws IOException {
        RdmaPlan plan = plan(mode, operation, size, wait, ProviderChoice.AUTO);
        JsonNode found = measured(plan);

        assertThat(found.get("measurement").asText()).isEqualTo(mode.word());
        assertThat(found.get("operation").asText()).isEqualTo(operation.word());
        assertThat(found.get("provider").asText()).isEqualTo("shm");
        assertThat(found.get("size_bytes").asLong()).isEqualTo(size);
        assertThat(found.get("wait").asText()).isEqualTo(wait.word());
        assertThat(found.get("window").isNull()).isEqualTo(mode == RdmaMode.LATENCY);
        assertThat(found.get("messages").asLong()).isPositive();
        assertThat(found.get("p50_ns").asLong())
                .isPositive()
                .isLessThanOrEqualTo(found.get("p99_ns").asLong());
        assertThat(found.get("max_ns").asLong())
                .isGreaterThanOrEqualTo(found.get("p999_ns").asLong());
        double bytes = found.get("messages_per_s").asDouble() * size;
        assertThat(found.get("gb_per_s").asDouble())
                .isEqualTo(bytes / 1e9, withPrecision(bytes / 1e9 * 1e-3));
    }

    private static RdmaPlan plan(
            RdmaMode mode,
            RdmaOperation operation,
            long size,
            PerfWait wait,
            ProviderChoice provider) {
        return RdmaPlan.of(mode, operation, size, wait, SHORT_NANOS, null, null, provider);
    }

    @Test
    void shouldMeasureWithTheChosenProvider() throws IOException {
        ProviderChoice shm = new ProviderChoice("shm");
        JsonNode found =
                measured(plan(RdmaMode.RATE, RdmaOperation.SEND, 32, PerfWait.ADAPTIVE, shm));

        assertThat(found.get("provider").asText()).isEqualTo("shm");
        assertThat(found.at("/softdpu/options/provider").asText()).isEqualTo("shm");
    }

    @Test
    void shouldRefuseAProviderThatThereIsNot() {
        ProviderChoice ib = new ProviderChoice("ib");
        RdmaPlan plan = plan(RdmaMode.RATE, RdmaOperation.SEND, 32, PerfWait.ADAPTIVE, ib);

        assertThatThrownBy(() -> new RdmaDpu(plan, PAIR, fabric))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND))
                .hasMessageContaining("option=--provider, provider=ib, device=03:00.0")
                .hasMessageContaining("expected=auto or one of [shm");
        assertThatThrownBy(() -> new IdleConnections(PAIR, fabric, ib, 1))
                .hasMessageContaining("option=--provider, provider=ib");
    }

    private JsonNode measured(RdmaPlan plan) throws IOException {
        try (OtherThread dpu = OtherThread.start((in, out) -> serve(plan, in, out));
                RdmaHost host = new RdmaHost(plan, PAIR, fabric, dpu)) {
            return new RdmaForms().json(host.run(), ResultHeader.now("1"), "default");
        }
    }

    private void serve(RdmaPlan plan, InputStream in, PrintStream out) {
        try (RdmaDpu dpu = new RdmaDpu(plan, PAIR, fabric)) {
            dpu.run(in, out);
        }
    }
}
