package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Tests of dma-copy on threads of this JVM; a peer that is killed is a process. */
@ExtendWith(OwnFabric.class)
class DmaCopyTest {
    @TempDir Path folder;

    @AutoClose private final SampleThreads samples = new SampleThreads();

    @Test
    @Clause({"core-121", "core-122", "core-280"})
    void shouldCopyATextWithTheDpuFirst() {
        RunningSample dpu = samples.start("dma-copy-dpu");
        dpu.awaitLine("^waiting for dma-copy-host$");
        RunningSample host = samples.start("dma-copy-host", "text=Greetings from the host");
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
    void shouldCopyUnderTheSanitizerWithoutAReport(SeededRandom random) {
        for (int i = 0; i < 3; i++) {
            Sanitized.run(
                    random.between(1, 1_000_000),
                    () -> {
                        RunningSample dpu = samples.start("dma-copy-dpu");
                        RunningSample host = samples.start("dma-copy-host", "text=hello");
                        assertThat(host.awaitExit()).isZero();
                        assertThat(dpu.awaitExit()).isZero();
                        assertThat(dpu.outputLines()).contains("text: hello");
                    });
        }
    }

    @Smoke
    @Test
    void shouldCopyTheTextOfAnotherProcess(Processes processes) {
        ChildProcess host =
                processes.start(
                        JavaCommand.ofClass(SampleProgram.class).withArguments("dma-copy-host"));
        RunningSample dpu = samples.start("dma-copy-dpu");
        assertThat(host.awaitExit()).isZero();
        assertThat(dpu.awaitExit()).isZero();
    }

    /** More than messages of the Comm Channel would carry: they have the export. */
    @Test
    @Clause("core-280")
    void shouldCopyAFileWithTheHostFirst(SeededRandom random) throws IOException {
        byte[] data = random.bytes(3_000_001);
        Path file = Files.write(folder.resolve("data"), data);
        Path output = folder.resolve("copied");
        RunningSample host = samples.start("dma-copy-host", "file=" + file);
        host.awaitLine("^waiting for dma-copy-dpu$");
        RunningSample dpu = samples.start("dma-copy-dpu", "output=" + output);
        assertThat(dpu.awaitExit()).isZero();
        assertThat(host.awaitExit()).isZero();
        assertThat(output).hasBinaryContent(data);
        assertThat(dpu.outputLines()).contains("written: file=" + output);
    }

    /** A program that read the imported memory itself would not miss the DMA. */
    @Test
    @Clause("core-280")
    void shouldCopyByTheDmaOfTheDpusDevice() {
        Topology.Builder card = Topology.builder("without DMA");
        for (PciFunction function : Topology.builtin().functions()) {
            card.add(
                    function.side() == Side.DPU
                            ? function.toBuilder().limit("dma.max_tasks", 0).build()
                            : function);
        }
        SampleSettings settings =
                new SampleSettings(
                        card.build(),
                        Map.of(SampleOption.TIMEOUT, Long.toString(Patience.SECONDS)));
        PrintStream out = new PrintStream(OutputStream.nullOutputStream());
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            Future<?> host =
                    thread.submit(() -> SampleProgram.find("dma-copy-host").run(settings, out));
            assertThatThrownBy(() -> SampleProgram.find("dma-copy-dpu").run(settings, out))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining("dma");
            assertThatThrownBy(() -> host.get(Patience.SECONDS, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(DpuException.class);
        }
    }

    @Test
    void shouldGiveUpWhereNobodyComes() {
        RunningSample host = samples.start("dma-copy-host", "timeout=0.5");
        RunningSample dpu =
                samples.start("dma-copy-dpu", "device=p1", "representor=hpf1", "timeout=0.5");
        assertThat(dpu.awaitExit()).isEqualTo(1);
        assertThat(host.awaitExit()).isEqualTo(1);
        assertThat(dpu.errorLines()).anyMatch(line -> line.contains("TIME_OUT"));
        assertThat(host.errorLines())
                .anyMatch(line -> line.contains("TIME_OUT") || line.contains("NOT_FOUND"));
    }

    @StartsProcesses
    @Test
    void shouldGoOnWithTheOneThatTakesThePlaceOfAKilledPeer(Processes processes) {
        ChildProcess dpu =
                processes.start(
                        JavaCommand.ofClass(SampleProgram.class).withArguments("dma-copy-dpu"));
        dpu.awaitLine("^waiting");
        dpu.freeze();
        RunningSample host = samples.start("dma-copy-host");
        host.awaitLine("^waiting");
        dpu.kill();
        dpu.awaitExit();
        RunningSample second = samples.start("dma-copy-dpu");
        assertThat(second.awaitExit()).as("takes its place").isZero();
        assertThat(host.awaitExit()).isZero();
    }

    @Test
    void shouldRefuseAFileTogetherWithATextAndOneThatIsNotThere() {
        RunningSample both = samples.start("dma-copy-host", "file=x", "text=y");
        RunningSample none = samples.start("dma-copy-host", "file=" + folder.resolve("none"));
        assertThat(both.awaitExit()).isEqualTo(1);
        assertThat(both.errorLines()).anyMatch(line -> line.contains("either a file or a text"));
        assertThat(none.awaitExit()).isEqualTo(1);
        assertThat(none.errorLines()).anyMatch(line -> line.contains("file cannot be read"));
    }

    @Test
    void shouldNameAFileThatIsLargerThanItsDigestTakes() throws IOException {
        Path large = folder.resolve("large");
        try (RandomAccessFile sparse = new RandomAccessFile(large.toFile(), "rw")) {
            sparse.setLength(3L << 30);
        }
        RunningSample host = samples.start("dma-copy-host", "file=" + large);
        assertThat(host.awaitExit()).isEqualTo(1);
        assertThat(host.errorLines())
                .anyMatch(line ->
                        line.contains(
                                "TOO_BIG: file is too large to copy: file="
                                        + large
                                        + ", bytes=3221225472"));
    }

    @Test
    void shouldRefusePipesWithoutWaitingForAPeer() {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"))) {
            RunningSample dpu = samples.start("dma-copy-dpu", "output=" + pipe.path());
            RunningSample reading = samples.start("dma-copy-host", "file=" + pipe.path());
            assertThat(reading.awaitExit()).isEqualTo(1);
            assertThat(reading.errorLines())
                    .anyMatch(line ->
                            line.contains("file cannot be read: file=" + pipe.path())
                                    && line.contains("it is a pipe, expected=a regular file"));
            assertThat(dpu.awaitExit()).as("before a host has connected").isEqualTo(1);
            assertThat(dpu.errorLines())
                    .anyMatch(line ->
                            line.contains("file cannot be written: file=" + pipe.path())
                                    && line.contains("a pipe"));
        }
    }
}
