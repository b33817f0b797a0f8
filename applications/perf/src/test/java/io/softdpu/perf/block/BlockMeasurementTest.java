package io.softdpu.perf.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.TextStyle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Measurements of block devices in this JVM. */
class BlockMeasurementTest {
    private static final ComchPair PAIR = ComchPair.of(Topology.builtin());
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static BlockPlan plan(
            BlockMode mode, String volume, BlockLoad load, @Nullable PerfWait wait) {
        return BlockPlan.of(
                mode, volume, load, null, null, 1, false, false, true, wait, SHORT_NANOS);
    }

    private static JsonNode measured(BlockPlan plan) {
        return new BlockForms()
                .json(new BlockMeasurement(plan, PAIR).run(), ResultHeader.now("1"), "default");
    }

    @ParameterizedTest
    @CsvSource({
        "RATE, READ, 4096, 32", "RATE, WRITE, 4096, 32", "RATE, FLUSH, , 32",
        "LATENCY, READ, 4096, 1", "LATENCY, WRITE, 4096, 1", "LATENCY, FLUSH, , 1",
        "BANDWIDTH, READ, 1048576, 8", "BANDWIDTH, WRITE, 1048576, 8"
    })
    void shouldMeasureEachOperation(BlockMode mode, BlockLoad load, Long size, int depth) {
        JsonNode found = measured(plan(mode, "memory:4MiB", load, null));

        assertThat(found.get("measurement").asText()).isEqualTo(mode.word());
        assertThat(found.get("operation").asText()).isEqualTo(load.word());
        assertThat(found.get("method").asText()).isEqualTo("engine");
        assertThat(found.get("description").asText()).isEqualTo("memory:4194304");
        assertThat(found.get("depth").asInt()).isEqualTo(depth);
        assertThat(found.get("size_bytes").isNull()).isEqualTo(size == null);
        if (size != null) {
            assertThat(found.get("size_bytes").asLong()).isEqualTo(size.longValue());
        }
        assertThat(found.get("operations").asLong()).isPositive();
        assertThat(found.get("operations_per_s").asDouble()).isPositive();
        assertThat(found.get("gb_per_s").isNull()).isEqualTo(load == BlockLoad.FLUSH);
        assertThat(found.get("cpu_ns_per_op").asDouble()).isPositive();
        long before = 0;
        for (String key : List.of("p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")) {
            assertThat(found.get(key).asLong()).as(key).isPositive().isGreaterThanOrEqualTo(before);
            before = found.get(key).asLong();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldMeasureWithEachWayToWait(PerfWait wait) {
        JsonNode found = measured(plan(BlockMode.RATE, "null:1MiB", BlockLoad.READ, wait));

        assertThat(found.get("wait").asText()).isEqualTo(wait.word());
        assertThat(found.get("operations").asLong()).isPositive();
    }

    /** Each operation takes as long as the device delays it, so the depth bounds their number. */
    @Test
    void shouldKeepAsManyInFlightAsTheDepthSays() {
        long delayNanos = TimeUnit.MILLISECONDS.toNanos(5);
        BlockPlan plan =
                BlockPlan.of(
                        BlockMode.RATE,
                        "fault:delay=read/5ms:null:1MiB",
                        BlockLoad.READ,
                        null,
                        4,
                        1,
                        true,
                        false,
                        false,
                        PerfWait.EVENT,
                        SHORT_NANOS);
        JsonNode found = measured(plan);

        assertThat(found.get("p50_ns").asLong()).isGreaterThanOrEqualTo(delayNanos * 99 / 100);
        assertThat(found.get("operations").asLong())
                .isGreaterThanOrEqualTo(4)
                .isLessThanOrEqualTo(4 * (SHORT_NANOS / delayNanos + 1));
        assertThat(found.at("/softdpu/options/random").asBoolean()).isTrue();
    }

    @Test
    void shouldAddUpTheOperationsOfSeveralThreads() {
        BlockPlan plan =
                BlockPlan.of(
                        BlockMode.LATENCY,
                        "fault:delay=read/5ms:null:1MiB",
                        BlockLoad.READ,
                        null,
                        null,
                        3,
                        false,
                        false,
                        false,
                        PerfWait.EVENT,
                        SHORT_NANOS);
        JsonNode found = measured(plan);

        assertThat(found.get("threads").asInt()).isEqualTo(3);
        assertThat(found.get("operations").asLong())
                .as("one per thread at least, and one at a time")
                .isBetween(3L, 3 * (SHORT_NANOS / TimeUnit.MILLISECONDS.toNanos(5) + 1));
    }

    @ParameterizedTest
    @EnumSource(BlockMode.class)
    void shouldFailWithTheStatusOfAnOperation(BlockMode mode) {
        BlockPlan plan = plan(mode, "fault:error=write/FULL/1:memory:4MiB", BlockLoad.WRITE, null);

        fails(
                new BlockMeasurement(plan, PAIR),
                Status.FULL,
                "operation of the measurement has failed",
                "fault:error=write/FULL/1:memory:4194304",
                "operations=0");
    }

    @Test
    void shouldChangeNoFileThatIsCopied(@TempDir Path folder) throws Exception {
        byte[] content = new byte[1 << 20];
        content[5] = 5;
        Path file = Files.write(folder.resolve("volume"), content);
        measured(plan(BlockMode.RATE, file.toString(), BlockLoad.WRITE, null));

        assertThat(Files.readAllBytes(file)).isEqualTo(content);
    }

    @Test
    void shouldEndWhenItIsInterrupted() throws Exception {
        BlockPlan endless =
                BlockPlan.of(
                        BlockMode.RATE,
                        "null:1MiB",
                        BlockLoad.READ,
                        null,
                        null,
                        2,
                        false,
                        false,
                        false,
                        null,
                        TimeUnit.HOURS.toNanos(1));
        BlockMeasurement before = new BlockMeasurement(endless, PAIR);
        before.interrupt();
        fails(before, Status.CONNECTION_ABORTED, "User requested abort");

        BlockMeasurement running = new BlockMeasurement(endless, PAIR);
        Thread interrupting = Thread.ofPlatform().start(running::interrupt);
        fails(running, Status.CONNECTION_ABORTED, "User requested abort");
        interrupting.join();
    }

    @Test
    void shouldPrintATableWithTheVolumeBelow() {
        PerfResult<BlockPlan, BlockFigures> result =
                new BlockMeasurement(plan(BlockMode.RATE, "null:1MiB", BlockLoad.READ, null), PAIR)
                        .run();
        List<String> lines = new BlockForms().lines(result, TextStyle.plain());

        assertThat(lines.getFirst())
                .startsWith("measurement")
                .contains("operation", "depth", "method", "p90", "CPU", "heap", "cores used");
        assertThat(lines.get(1)).matches("rate +read +4 KiB +32 .* B/operation .*");
        assertThat(lines).contains("volume: null:1048576");
    }

    private static void fails(BlockMeasurement measurement, Status status, String... named) {
        assertThatThrownBy(measurement::run)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        failure -> {
                            assertThat(failure.status()).isEqualTo(status);
                            assertThat(failure.getMessage()).contains(named);
                        });
    }
}
