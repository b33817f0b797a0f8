package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Imports from another process, whose program does not participate. */
@StartsProcesses
class ImportFromProcessTest {

    @TempDir Path folder;
    private Machines machines;
    private Device p0;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        p0 = machines.device(Side.DPU, "p0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private ChildProcess exporter(Processes processes, String busyWith) {
        return processes.start(
                JavaCommand.ofClass(ExporterProcess.class)
                        .withArguments(machines.folder().toString(), busyWith));
    }

    private static byte[] blobOf(ChildProcess exporter) {
        String line = exporter.awaitLine("^blob ");
        return HexFormat.of().parseHex(line.substring("blob ".length()));
    }

    private Mmap imported(ChildProcess exporter) {
        return machines.add(Mmap.createFromExport(blobOf(exporter), p0));
    }

    @Test
    @Clause("core-086")
    void shouldImportWhileTheExporterSleeps(Processes processes) {
        Mmap remote = imported(exporter(processes, "sleep"));
        assertThat(Regions.memoryOf(remote).get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
    }

    @Test
    void shouldImportWhileTheExporterComputes(Processes processes) {
        Mmap remote = imported(exporter(processes, "compute"));
        assertThat(Regions.memoryOf(remote).get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
    }

    @Smoke
    @Test
    void shouldImportWhileTheExporterWaitsForTheReplyToTheVeryMessageWithTheBlob(
            Processes processes) throws Exception {
        ChildProcess exporter = exporter(processes, "wait");
        Mmap remote = imported(exporter);
        Regions.memoryOf(remote).set(ValueLayout.JAVA_BYTE, ExporterProcess.SIZE - 1, (byte) 99);
        assertThat(exporter.outputLines()).noneMatch(line -> line.startsWith("reply"));
        try (var reply = exporter.standardInput()) {
            reply.write("done\n".getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(exporter.awaitLine("^sees ")).isEqualTo("sees 99");
        assertThat(exporter.awaitExit()).isZero();
        assertThat(Refusal.statusOf(Regions.checkUse(remote, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.SHUTDOWN);
    }

    @Smoke
    @Test
    void shouldDetectAKilledExporterWhoseMemoryStaysReadable(Processes processes) {
        ChildProcess exporter = exporter(processes, "sleep");
        byte[] blob = blobOf(exporter);
        Mmap remote = imported(exporter);
        Device t0 = machines.device(Side.TARGET, "t0");
        Mmap far = machines.add(Mmap.createFromExport(remote.exportRdma(p0), t0));
        assertThat(Refusal.statusOf(Regions.checkUse(far, far.permissions())))
                .isEqualTo(Status.SUCCESS);
        exporter.kill();
        exporter.awaitExit(); // or its socket could still take a request
        Await.until(
                "the import is refused",
                () ->
                        Refusal.statusOf(Regions.checkUse(remote, Permissions.LOCAL_READ_WRITE))
                                == Status.CONNECTION_RESET);
        Await.until(
                "the import of the re-export is refused",
                () -> Refusal.statusOf(Regions.checkUse(far, far.permissions())) != Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.checkUse(far, far.permissions())))
                .isEqualTo(Status.CONNECTION_RESET);
        assertThat(Regions.memoryOf(remote).get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
        Thrown.with(Status.NOT_FOUND, () -> Mmap.createFromExport(blob, p0));
        Thrown.with(Status.CONNECTION_RESET, () -> remote.exportRdma(p0));
    }

    @Test
    void shouldGiveUpOnAStoppedExporterAndLeaveNothing(Processes processes) {
        ChildProcess exporter = exporter(processes, "sleep");
        byte[] blob = blobOf(exporter);
        exporter.freeze();
        LeakCheck before = LeakCheck.begin();
        Thrown.with(
                Status.TIME_OUT,
                () -> Mmap.createFromExport(blob, p0, Mapping.ACCESS, Duration.ofMillis(200)));
        before.assertNothingLeft();
        exporter.thaw();
        assertThat(imported(exporter).sizeBytes()).isEqualTo(ExporterProcess.SIZE);
    }
}
