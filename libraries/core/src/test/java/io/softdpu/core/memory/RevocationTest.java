package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.Regions;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Revocation of a region while an importer copies into it: directly, and through a process that has
 * re-exported it. The importer's result is the table of {@code docs/wire/mmap-export.md}, one test
 * per row.
 */
@StartsProcesses
@Tag(Soak.TAG)
class RevocationTest {
    private static final Permissions PCI_WRITE = Permissions.of(AccessFlag.PCI_READ_WRITE);
    private static final Permissions RDMA_WRITE = Permissions.of(AccessFlag.RDMA_WRITE);

    @TempDir Path folder;
    private Machines machines;
    private Device p0;
    private Device t0;
    private ChildProcess exporter;
    private ChildProcess middle;
    private int asked;

    /** Ways to end the region, and the status that its importer sees. */
    private enum Row {
        MMAP_STOPPED(false, "stop", Status.SHUTDOWN),
        MMAP_CLOSED(false, "close", Status.SHUTDOWN),
        EXPORTER_ENDED_IN_ORDER(false, "exit", Status.SHUTDOWN),
        EXPORTER_KILLED(false, "kill", Status.CONNECTION_RESET),
        FIRST_MMAP_STOPPED(true, "stop", Status.SHUTDOWN),
        FIRST_MMAP_CLOSED(true, "close", Status.SHUTDOWN),
        FIRST_EXPORTER_ENDED_IN_ORDER(true, "exit", Status.SHUTDOWN),
        FIRST_EXPORTER_KILLED(true, "kill", Status.CONNECTION_RESET),
        IMPORT_IN_BETWEEN_CLOSED(true, "close middle", Status.SHUTDOWN),
        PROCESS_IN_BETWEEN_ENDED_IN_ORDER(true, "exit middle", Status.SHUTDOWN),
        PROCESS_IN_BETWEEN_KILLED(true, "kill middle", Status.CONNECTION_RESET);

        private final boolean passedOn;
        private final String action;
        private final Status seen;

        Row(boolean passedOn, String action, Status seen) {
            this.passedOn = passedOn;
            this.action = action;
            this.seen = seen;
        }
    }

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        p0 = machines.device(Side.DPU, "p0");
        t0 = machines.device(Side.TARGET, "t0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    @Test
    void shouldFailTheNextUseWithAStatusThatTellsHowTheRegionWent(
            Processes processes, SeededRandom random) throws IOException {
        long began = System.nanoTime();
        int rounds = Soak.count(1, 1, 8);
        LeakCheck before = LeakCheck.begin();
        int transfers = 0;
        for (int round = 0; round < rounds; round++) {
            for (Row row : Row.values()) {
                int chunk = random.oneOf(64, 4096, 256 << 10, 3 << 20);
                transfers += run(row, chunk, processes);
            }
        }
        exporter.close();
        middle.close();
        before.assertNothingLeft();
        Soak.report(
                "revocation",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                Text.format(
                        "rows=%d, rounds=%d, transfersBefore=%d",
                        Row.values().length, rounds, transfers));
    }

    private int run(Row row, int chunk, Processes processes) throws IOException {
        if (exporter == null || !exporter.isAlive()) {
            exporter = start(processes, Side.HOST, "pf0");
        }
        if (row.passedOn && (middle == null || !middle.isAlive())) {
            middle = start(processes, Side.DPU, "p0");
        }
        byte[] blob = ask(exporter, "export");
        if (row.passedOn) {
            blob = ask(middle, "reexport " + HexFormat.of().formatHex(blob));
        }
        Permissions needed = row.passedOn ? RDMA_WRITE : PCI_WRITE;
        int transfers = 0;
        try (Mmap remote = Mmap.createFromExport(blob, row.passedOn ? t0 : p0);
                Arena arena = Arena.ofConfined()) {
            MemorySegment content = arena.allocate(chunk).fill((byte) 7);
            for (; transfers < 3; transfers++) {
                assertThat(copied(remote, needed, content, transfers)).isEqualTo(Status.SUCCESS);
            }
            ChildProcess victim = row.action.endsWith("middle") ? middle : exporter;
            String word = row.action.split(" ")[0];
            if (word.equals("kill")) {
                victim.kill();
            } else {
                tell(victim, word);
            }
            // In the middle of transfers: they go on until one is refused.
            assertThat(firstRefusal(row, remote, needed, content))
                    .as("%s, first", row)
                    .isEqualTo(row.seen);
            if (word.equals("exit")) {
                assertThat(victim.awaitExit()).isZero();
                victim.close();
            } else if (word.equals("kill")) {
                victim.close();
            } else {
                tell(victim, "ready " + ++asked);
                victim.awaitLine("^ready " + asked + "$");
            }
            assertThat(copied(remote, needed, content, 0))
                    .as("%s, when all is over", row)
                    .isEqualTo(row.seen);
            assertImportRefused(row, blob);
        }
        return transfers;
    }

    /** The status of the first refused transfer. */
    private static Status firstRefusal(
            Row row, Mmap remote, Permissions needed, MemorySegment content) {
        AtomicReference<Status> seen = new AtomicReference<>();
        long[] number = {0};
        Await.until(
                row + ": a transfer is refused",
                () -> {
                    seen.set(copied(remote, needed, content, number[0]++));
                    return seen.get() != Status.SUCCESS;
                });
        return seen.get();
    }

    /** Copies a piece as a library does: after a check. */
    private static Status copied(
            Mmap remote, Permissions needed, MemorySegment content, long chunkNumber) {
        Status usable = Refusal.statusOf(Regions.checkUse(remote, needed));
        if (usable == Status.SUCCESS) {
            new Copier()
                    .payload(
                            content,
                            0,
                            Regions.memoryOf(remote),
                            chunkNumber % 2 * content.byteSize(),
                            content.byteSize());
        }
        return usable;
    }

    /** New imports fail; SHUTDOWN comes from a re-exporting process that still exists. */
    private void assertImportRefused(Row row, byte[] blob) {
        try (Mmap late = Mmap.createFromExport(blob, row.passedOn ? t0 : p0)) {
            throw new AssertionError(row + ": imported all the same: " + late);
        } catch (DpuException e) {
            assertThat(e.status()).as("%s", row).isEqualTo(Status.NOT_FOUND);
        }
    }

    private ChildProcess start(Processes processes, Side side, String device) {
        return processes.start(
                JavaCommand.ofClass(RegionProcess.class)
                        .withArguments(machines.folder().toString(), side.name(), device));
    }

    /** The blob that comes of the line. */
    private byte[] ask(ChildProcess process, String line) throws IOException {
        String prefix = "blob " + ++asked + " ";
        tell(process, line + " " + asked);
        String answer = process.awaitLine("^" + prefix);
        return HexFormat.of().parseHex(answer.substring(prefix.length()));
    }

    private static void tell(ChildProcess process, String line) throws IOException {
        process.standardInput().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        process.standardInput().flush();
    }
}
