package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.Regions;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Importer that is stopped by SIGSTOP in the middle of a copy and continues only after its session
 * was closed and the next one has begun.
 */
@StartsProcesses
@Tag(Soak.TAG)
class HaltedImporterTest {
    private static final int SIZE = 4 << 20;
    private static final Permissions WRITABLE =
            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE);

    @TempDir Path folder;
    private Machines machines;
    private Device pf0;
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

    /** Observations of a run, for its report. */
    private static final class Findings {
        private int halted;
        private int attempts;
        private int refused;
        private long lateBytes;
    }

    @Test
    void shouldLeaveTheNextSessionUntouchedByWhatAHaltedImporterStillStores(
            Processes processes, SeededRandom random) throws IOException {
        long began = System.nanoTime();
        pf0 = machines.device(Side.HOST, "pf0");
        ChildProcess importer = importer(processes);
        List<SharedMemory> memories =
                List.of(
                        machines.add(SharedMemory.allocate(SIZE)),
                        machines.add(SharedMemory.allocate(SIZE)));
        Findings findings = new Findings();
        round(1, importer, memories, random, findings); // what is opened once at first use is open
        LeakCheck before = LeakCheck.begin(folder);
        List<String> importersBefore = memoriesAndDescriptors(importer);
        int rounds = Soak.count(5, 5, 1000);
        for (int i = 2; i <= rounds; i++) {
            round(i, importer, memories, random, findings);
        }

        before.assertNothingLeft();
        Await.until(
                "the importer holds no more than after the first session",
                () -> memoriesAndDescriptors(importer).equals(importersBefore));
        assertThat(findings.halted).isEqualTo(rounds);
        assertThat(findings.refused).as("the old memory was refused each time").isEqualTo(rounds);
        assertThat(findings.lateBytes).as("else nothing was shown").isPositive();
        Soak.report(
                "halted-importer",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                Text.format(
                        "rounds=%d, haltedInCopy=%d, stops=%d, lateBytes=%d, refusedReuse=%d",
                        rounds,
                        findings.halted,
                        findings.attempts,
                        findings.lateBytes,
                        findings.refused));
    }

    private void round(
            int number,
            ChildProcess importer,
            List<SharedMemory> memories,
            SeededRandom random,
            Findings findings)
            throws IOException {
        SharedMemory memory = memories.get(number % 2);
        try (Mmap session = mmap(memory)) {
            session.start();
            memory.segment().fill((byte) 0);
            tell(importer, "copy " + HexFormat.of().formatHex(session.exportPci(pf0)));
            importer.awaitLine("^copying " + number + "$");
            haltInTheMiddle(importer, memory.segment(), findings);
            byte[] halted = memory.segment().toArray(ValueLayout.JAVA_BYTE);

            session.stop();
            assertThat(BusServices.bus(pf0).retainedBytes()).isEqualTo(SIZE);
            // As a program does that knows nothing of halted peers: the same memory if it may.
            boolean refused = refusesToStart(session);
            findings.refused += refused ? 1 : 0;
            SharedMemory nextMemory = refused ? memories.get((number + 1) % 2) : memory;
            try (Mmap next = mmap(nextMemory)) {
                if (refused) {
                    next.start();
                }
                MemorySegment written = MemorySegment.ofArray(random.bytes(SIZE));
                write(refused ? next : session, written);
                importer.thaw();
                assertThat(importer.awaitLine("^refused " + number + " "))
                        .isEqualTo("refused " + number + " SHUTDOWN");
                assertThat(nextMemory.segment().mismatch(written))
                        .as("round %d, memory of the next session", number)
                        .isEqualTo(-1);
            }
            byte[] after = memory.segment().toArray(ValueLayout.JAVA_BYTE);
            assertThat(after).as("round %d, the copy went on", number).isNotEqualTo(halted);
            findings.lateBytes += countOfChanged(halted, after);
            assertThat(isOfOneValue(MemorySegment.ofArray(after)))
                    .as("round %d, the copy ended", number)
                    .isTrue();
            assertThat(after[0]).isIn(HaltedImporterProcess.FIRST, HaltedImporterProcess.SECOND);
            MmapReuseTest.awaitReleased(memory);
            Await.until("no memory is retained", () -> BusServices.bus(pf0).retainedBytes() == 0);
        }
    }

    /**
     * Stops the importer until a part of the region is of this copy, and a part is not. The order
     * in which a copy stores its bytes is libc's and the processor's: any two bytes that differ
     * show that one is under way.
     */
    private static void haltInTheMiddle(
            ChildProcess importer, MemorySegment region, Findings findings) {
        Await.until(
                "stopped in the middle of a copy: pid=" + importer.pid(),
                () -> {
                    importer.freeze();
                    findings.attempts++;
                    if (isOfOneValue(region)) {
                        importer.thaw();
                        return false;
                    }
                    findings.halted++;
                    return true;
                });
    }

    private static boolean isOfOneValue(MemorySegment region) {
        long others = region.byteSize() - 1;
        return region.asSlice(1, others).mismatch(region.asSlice(0, others)) == -1;
    }

    private static boolean refusesToStart(Mmap session) {
        try {
            session.start();
            return false;
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.IN_USE);
            assertThat(e).hasMessageContainingAll("leases=1", "pids=[");
            return true;
        }
    }

    /** The importer of the next session, which fills its memory. */
    private void write(Mmap session, MemorySegment content) {
        try (Mmap remote = Mmap.createFromExport(session.exportPci(pf0), p0)) {
            new Copier().payload(content, 0, Regions.memoryOf(remote), 0, SIZE);
        }
    }

    private static long countOfChanged(byte[] before, byte[] after) {
        long changed = 0;
        for (int i = 0; i < before.length; i++) {
            changed += before[i] != after[i] ? 1 : 0;
        }
        return changed;
    }

    @Test
    void shouldLimitMemoryRetainedForHaltedImportersUntilTheyReleaseItOrEnd(
            Processes processes, SeededRandom random) throws IOException {
        long began = System.nanoTime();
        int size = 1 << 20;
        int fitting = 3;
        Machine host =
                machines.add(
                        Machine.builder(Side.HOST)
                                .fabricFolder(machines.folder())
                                .retainedLimitBytes((long) fitting * size)
                                .open());
        pf0 = machines.device(host, "pf0");
        int rounds = Soak.count(2, 2, 40);
        LeakCheck before = null;
        for (int round = 0; round < rounds; round++) {
            ChildProcess importer = importer(processes);
            for (int held = 1; held <= fitting + 1; held++) {
                retainOneMore(importer, size, held);
            }
            String named = Text.format("retainedBytes=%d, limitBytes=%d", 4 * size, 3 * size);
            Thrown.with(Status.NO_MEMORY, () -> SharedMemory.allocate(size))
                    .hasMessageContaining(named);
            boolean killed = round % 2 == 1;
            if (killed) {
                importer.kill();
                importer.awaitExit();
            } else {
                importer.thaw();
                tell(importer, "release");
                for (int i = 0; i <= fitting; i++) {
                    importer.awaitLine("^released SHUTDOWN$");
                }
            }
            Await.until("given back", () -> BusServices.bus(pf0).retainedBytes() == 0);
            try (SharedMemory memory = SharedMemory.allocate(size);
                    Mmap mmap = mmap(memory).start()) {
                assertThat(mmap.exportPci(pf0)).isNotEmpty();
            }
            importer.close();
            if (before == null) {
                before = LeakCheck.begin(); // a killed process leaves the files of its name
            }
        }
        before.assertNothingLeft();
        Soak.report(
                "kept-back-cap",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                Text.format(
                        "rounds=%d, retainedBytes=%d, limitBytes=%d, refused=%d",
                        rounds, 4 * size, 3 * size, rounds));
    }

    /** A session of new memory ends while its importer is halted. */
    private void retainOneMore(ChildProcess importer, int size, int held) throws IOException {
        try (SharedMemory memory = SharedMemory.allocate(size)) {
            try (Mmap mmap = mmap(memory).start()) {
                tell(importer, "hold " + HexFormat.of().formatHex(mmap.exportPci(pf0)));
                importer.awaitLine("^held " + held + "$");
                importer.freeze();
            }
        }
        assertThat(BusServices.bus(pf0).retainedBytes()).isEqualTo((long) held * size);
        if (held <= 3) {
            importer.thaw();
        }
    }

    private ChildProcess importer(Processes processes) {
        ChildProcess importer =
                processes.start(
                        JavaCommand.ofClass(HaltedImporterProcess.class)
                                .withArguments(machines.folder().toString()));
        importer.awaitLine("^ready$");
        return importer;
    }

    private static void tell(ChildProcess importer, String line) throws IOException {
        importer.standardInput().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        importer.standardInput().flush();
    }

    private Mmap mmap(SharedMemory memory) {
        return Mmap.create().setMemory(memory).setPermissions(WRITABLE).addDevice(pf0);
    }

    /** Descriptors and mappings of memory, without what a JVM opens by itself. */
    private static List<String> memoriesAndDescriptors(ChildProcess process) {
        List<String> all = new ArrayList<>();
        for (String target : process.view().descriptors()) {
            if (target.startsWith("/memfd:") || target.startsWith("socket:")) {
                all.add(target.replaceAll("[0-9]+", ""));
            }
        }
        for (ProcessView.Mapping mapping : process.view().mappings()) {
            if (mapping.isMemfd()) {
                all.add(mapping.name() + " " + mapping.permissions() + " " + mapping.sizeBytes());
            }
        }
        return all;
    }
}
