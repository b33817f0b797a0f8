package io.softdpu.perf.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withPrecision;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.core.device.Topology;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.OtherThread;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.result.ResultHeader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
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
        RdmaPlan plan = RdmaPlan.of(mode, operation, size, wait, SHORT_NANOS, null, null);
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
