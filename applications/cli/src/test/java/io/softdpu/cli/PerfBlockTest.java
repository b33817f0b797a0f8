package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the measurement of block devices, which starts no process. */
class PerfBlockTest {
    @TempDir Path folder;

    @Test
    void shouldPrintTheJsonAlone() throws IOException {
        Run perf =
                Run.ofWords(
                        "perf block rate --volume null:1MiB --op read --size 512 --depth 4"
                                + " --threads 2"
                                + " --random --wait busy --seconds 0.05 --json -");

        assertThat(perf.exit()).as("%s", perf.errorLines()).isEqualTo(ExitCode.OK.code());
        JsonNode found = new ObjectMapper().readTree(String.join("\n", perf.outputLines()));
        assertThat(found.fieldNames())
                .toIterable()
                .containsExactly(
                        "softdpu",
                        "measurement",
                        "operation",
                        "volume",
                        "size_bytes",
                        "depth",
                        "threads",
                        "wait",
                        "random",
                        "fua",
                        "overwrite",
                        "description",
                        "method",
                        "operations",
                        "operations_per_s",
                        "gb_per_s",
                        "p50_ns",
                        "p90_ns",
                        "p99_ns",
                        "p999_ns",
                        "max_ns",
                        "cpu_ns_per_op",
                        "allocated_bytes_per_op",
                        "cores_used",
                        "notes");
        assertThat(found.get("size_bytes").asLong()).isEqualTo(512);
        assertThat(found.get("depth").asLong()).isEqualTo(4);
        assertThat(found.get("threads").asLong()).isEqualTo(2);
        assertThat(found.get("random").asBoolean()).isTrue();
        assertThat(found.get("fua").asBoolean()).isFalse();
        assertThat(found.get("wait").asText()).isEqualTo("busy");
        assertThat(found.at("/softdpu/options/volume").asText()).isEqualTo("null:1MiB");
        assertThat(found.at("/softdpu/options/seconds").asDouble()).isEqualTo(0.05);
    }

    @Test
    void shouldPrintATableAndWriteTheJsonBesideIt() throws IOException {
        Path json = folder.resolve("perf.json");
        Run perf =
                Run.ofWords(
                        "perf block latency --volume memory:1MiB --op write --fua --overwrite"
                                + " --seconds 0.05 --json "
                                + json);

        assertThat(perf.exit()).as("%s", perf.errorLines()).isEqualTo(ExitCode.OK.code());
        assertThat(perf.outputLines().getFirst()).startsWith("measurement").contains("p90");
        assertThat(perf.outputLines()).contains("volume: memory:1048576");
        JsonNode found = new ObjectMapper().readTree(Files.readString(json));
        assertThat(found.get("fua").asBoolean()).isTrue();
        assertThat(found.get("operation").asText()).isEqualTo("write");
    }

    @Test
    void shouldFailWithTheStatusOfAnOperation() {
        Run perf =
                Run.ofWords(
                        "perf block rate --volume fault:error=read/IO_FAILED/1:null:1MiB --op read"
                                + " --seconds 0.05");

        assertThat(perf.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(perf.errorLines().getFirst())
                .startsWith(
                        "softdpu: IO_FAILED: operation of the measurement has failed:"
                                + " blockDevice=fault:error=read/IO_FAILED/1:null:1048576");
    }
}
