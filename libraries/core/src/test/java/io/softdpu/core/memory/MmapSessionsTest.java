package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.GrowthCheck;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Repeated exports and imports of memory between machines that stay open. */
class MmapSessionsTest {
    private static final int SIZE = 1 << 16;
    private static final Permissions ALL =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE,
                    AccessFlag.PCI_READ_WRITE,
                    AccessFlag.RDMA_READ,
                    AccessFlag.RDMA_WRITE);

    /** Ends of a session. */
    private enum Ending {
        IMPORTER_FIRST,
        EXPORTER_FIRST,
        PASSED_ON,
        WRONG_KEY,
        EXPORTER_GONE
    }

    private Device pf0;
    private Device p0;
    private Device t0;
    private Machines machines;

    @Test
    @Tag(Soak.TAG)
    void shouldHoldNoMoreAfterManyExportsThanAfterAFew(@TempDir Path folder, SeededRandom random)
            throws Exception {
        long start = System.nanoTime();
        try (Machines opened = new Machines(folder)) {
            machines = opened;
            pf0 = opened.device(Side.HOST, "pf0");
            p0 = opened.device(Side.DPU, "p0");
            t0 = opened.device(Side.TARGET, "t0");
            Ending[] endings = Ending.values();

            String findings =
                    GrowthCheck.over(
                            40,
                            Soak.count(40, 100, 2_000),
                            number -> session(endings[random.nextInt(endings.length)]));

            Soak.report(
                    "sessions-mmap",
                    random.seed(),
                    Duration.ofNanos(System.nanoTime() - start),
                    findings);
        }
    }

    private void session(Ending ending) {
        switch (ending) {
            case IMPORTER_FIRST -> {
                try (SharedMemory memory = SharedMemory.allocate(SIZE);
                        Mmap here = export(memory, pf0);
                        Mmap there = Mmap.createFromExport(here.exportPci(pf0), p0)) {
                    use(memory, there);
                }
            }
            case EXPORTER_FIRST -> {
                try (SharedMemory memory = SharedMemory.allocate(SIZE);
                        Mmap here = export(memory, pf0);
                        Mmap there = Mmap.createFromExport(here.exportPci(pf0), p0)) {
                    use(memory, there);
                    here.stop();
                    assertThat(
                                    Refusal.statusOf(
                                            Regions.checkUse(
                                                    there,
                                                    p0,
                                                    Permissions.of(AccessFlag.PCI_READ_ONLY))))
                            .isNotEqualTo(Status.SUCCESS);
                }
            }
            case PASSED_ON -> {
                try (SharedMemory memory = SharedMemory.allocate(SIZE);
                        Mmap here = export(memory, pf0);
                        Mmap there = Mmap.createFromExport(here.exportPci(pf0), p0);
                        Mmap far = Mmap.createFromExport(there.exportRdma(p0), t0)) {
                    use(memory, there);
                    assertThat(far.sizeBytes()).isEqualTo(SIZE);
                }
            }
            case WRONG_KEY -> refused();
            case EXPORTER_GONE -> exporterGone();
        }
    }

    private void refused() {
        byte[] stale;
        try (SharedMemory memory = SharedMemory.allocate(SIZE);
                Mmap here = export(memory, pf0)) {
            stale = here.exportPci(pf0);
        }
        assertThatExceptionOfType(DpuException.class)
                .isThrownBy(() -> Mmap.createFromExport(stale, p0).close());
    }

    /** The exporter's machine leaves the fabric while its memory is in use. */
    private void exporterGone() {
        Machine leaving = Machine.builder(Side.HOST).fabricFolder(machines.folder()).open();
        Device device = leaving.findDevice("pf0").open();
        SharedMemory memory = SharedMemory.allocate(SIZE);
        Mmap here = export(memory, device);
        try (Mmap there = Mmap.createFromExport(here.exportPci(device), p0)) {
            use(memory, there);
            here.close();
            device.close();
            leaving.close();
            memory.close();
            Await.until(
                    "importer sees the end",
                    () ->
                            Refusal.statusOf(
                                            Regions.checkUse(
                                                    there,
                                                    p0,
                                                    Permissions.of(AccessFlag.PCI_READ_ONLY)))
                                    != Status.SUCCESS);
        }
    }

    private static Mmap export(SharedMemory memory, Device device) {
        return Mmap.create().setMemory(memory).setPermissions(ALL).addDevice(device).start();
    }

    private static void use(SharedMemory memory, Mmap there) {
        memory.segment().set(ValueLayout.JAVA_LONG, 0, 0x0123456789abcdefL);
        assertThat(Regions.memoryOf(there).get(ValueLayout.JAVA_LONG, 0))
                .isEqualTo(0x0123456789abcdefL);
    }
}
