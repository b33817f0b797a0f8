package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of dma-copy, with two processes. */
@StartsProcesses
class DmaCopyTest {

    @TempDir Path folder;

    private ChildProcess sample(Processes processes, String... arguments) {
        return processes.start(
                JavaCommand.ofClass(SampleProgram.class)
                        .withEnvironment("SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                        .withArguments(arguments));
    }

    @Test
    @Clause({"core-121", "core-122"})
    void shouldCopyATextWithTheDpuFirst(Processes processes) {
        ChildProcess dpu = sample(processes, "dma-copy-dpu");
        dpu.awaitLine("^waiting for dma-copy-host$");
        ChildProcess host = sample(processes, "dma-copy-host", "text=Greetings from the host");
        assertThat(host.awaitExit()).isZero();
        assertThat(dpu.awaitExit()).isZero();
        assertThat(host.outputLines())
                .containsExactly(
                        "waiting for dma-copy-dpu",
                        "exported: bytes=23",
                        "the DPU has copied it, data is right: bytes=23");
        assertThat(dpu.outputLines())
                .containsExactly(
                        "waiting for dma-copy-host",
                        "host has connected: function=host/pf0",
                        "copied by DMA, data is right: bytes=23",
                        "text: Greetings from the host");
    }

    @Test
    void shouldCopyAFileWithTheHostFirst(Processes processes, SeededRandom random)
            throws IOException {
        byte[] data = random.bytes(3_000_001);
        Path file = Files.write(folder.resolve("data"), data);
        Path output = folder.resolve("copied");
        ChildProcess host = sample(processes, "dma-copy-host", "file=" + file);
        host.awaitLine("^waiting for dma-copy-dpu$");
        ChildProcess dpu = sample(processes, "dma-copy-dpu", "output=" + output);
        assertThat(dpu.awaitExit()).isZero();
        assertThat(host.awaitExit()).isZero();
        assertThat(output).hasBinaryContent(data);
        assertThat(dpu.outputLines()).contains("written: file=" + output);
    }

    @Test
    void shouldGiveUpWhereNobodyComes(Processes processes) {
        ChildProcess host = sample(processes, "dma-copy-host", "timeout=0.5");
        ChildProcess dpu =
                sample(processes, "dma-copy-dpu", "device=p1", "representor=hpf1", "timeout=0.5");
        assertThat(dpu.awaitExit()).isEqualTo(1);
        assertThat(host.awaitExit()).isEqualTo(1);
        assertThat(dpu.errorLines()).anyMatch(line -> line.contains("TIME_OUT"));
        assertThat(host.errorLines())
                .anyMatch(line -> line.contains("TIME_OUT") || line.contains("NOT_FOUND"));
    }

    @Test
    void shouldGoOnWithTheOneThatTakesThePlaceOfAKilledPeer(Processes processes) {
        ChildProcess dpu = sample(processes, "dma-copy-dpu");
        dpu.awaitLine("^waiting");
        dpu.freeze();
        ChildProcess host = sample(processes, "dma-copy-host");
        host.awaitLine("^waiting");
        dpu.kill();
        ChildProcess second = sample(processes, "dma-copy-dpu");
        assertThat(second.awaitExit()).as("takes its place").isZero();
        assertThat(host.awaitExit()).isZero();
    }

    @Test
    void shouldRefuseAFileTogetherWithATextAndOneThatIsNotThere(Processes processes) {
        ChildProcess both = sample(processes, "dma-copy-host", "file=x", "text=y");
        ChildProcess none = sample(processes, "dma-copy-host", "file=" + folder.resolve("none"));
        assertThat(both.awaitExit()).isEqualTo(1);
        assertThat(both.errorLines()).anyMatch(line -> line.contains("either a file or a text"));
        assertThat(none.awaitExit()).isEqualTo(1);
        assertThat(none.errorLines()).anyMatch(line -> line.contains("file cannot be read"));
    }

    @Test
    void shouldNameAFileThatIsLargerThanItsDigestTakes(Processes processes) throws IOException {
        Path large = folder.resolve("large");
        try (RandomAccessFile sparse = new RandomAccessFile(large.toFile(), "rw")) {
            sparse.setLength(3L << 30);
        }
        ChildProcess host = sample(processes, "dma-copy-host", "file=" + large);
        assertThat(host.awaitExit()).isEqualTo(1);
        assertThat(host.errorLines())
                .anyMatch(line ->
                        line.contains(
                                "TOO_BIG: file is too large to copy: file="
                                        + large
                                        + ", bytes=3221225472"));
    }

    @Test
    void shouldRefusePipesWithoutWaitingForAPeer(Processes processes) {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"))) {
            ChildProcess dpu = sample(processes, "dma-copy-dpu", "output=" + pipe.path());
            ChildProcess reading = sample(processes, "dma-copy-host", "file=" + pipe.path());
            assertThat(reading.awaitExit()).isEqualTo(1);
            assertThat(reading.errorLines())
                    .anyMatch(line ->
                            line.contains("file cannot be read: file=" + pipe.path())
                                    && line.contains("it is a pipe, expected=a regular file"));
            dpu.awaitLine("^waiting for dma-copy-host$");
            ChildProcess host = sample(processes, "dma-copy-host");
            assertThat(host.awaitExit()).isZero();
            assertThat(dpu.awaitExit()).isEqualTo(1);
            assertThat(dpu.errorLines())
                    .anyMatch(line ->
                            line.contains("file cannot be written: file=" + pipe.path())
                                    && line.contains("a pipe"));
        }
    }
}
