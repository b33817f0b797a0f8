package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.Regions;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Reuse of memory after an export: an importer that was stopped in the middle of a copy finishes it
 * when it continues, so memory is not used again while an earlier importer may still hold it.
 */
class MmapReuseTest {
    private static final int SIZE = 3 * 4096 + 100;
    private static final Permissions ALL =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE,
                    AccessFlag.PCI_READ_WRITE,
                    AccessFlag.RDMA_READ,
                    AccessFlag.RDMA_WRITE);
    private static final Permissions RDMA_WRITE = Permissions.of(AccessFlag.RDMA_WRITE);

    @TempDir Path folder;
    private Machines machines;
    private Device pf0;
    private Device p0;
    private SharedMemory memory;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        pf0 = machines.device(Side.HOST, "pf0");
        p0 = machines.device(Side.DPU, "p0");
        memory = machines.add(SharedMemory.allocate(SIZE));
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private Mmap mmap(Permissions permissions) {
        return machines.add(
                Mmap.create().setMemory(memory).setPermissions(permissions).addDevice(pf0).start());
    }

    private Mmap imported(byte[] blob, Device device) {
        return machines.add(Mmap.createFromExport(blob, device));
    }

    @Test
    void shouldNotUseMemoryAgainThatAnImporterStillHolds() {
        Mmap mmap = mmap(ALL);
        Mmap remote = imported(mmap.exportPci(pf0), p0);
        Mmap second = imported(mmap.exportRdma(pf0), machines.device(Side.TARGET, "t0"));
        mmap.stop();
        String pid = "" + ProcessHandle.current().pid();
        Thrown.with(Status.IN_USE, mmap::start)
                .hasMessageContainingAll(
                        "leases=2", "pids=[" + pid + ", " + pid + "]", "sizeBytes=" + SIZE);
        Mmap local =
                machines.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(pf0));
        Thrown.with(Status.IN_USE, local::start).hasMessageContaining("leases=2");
        remote.close();
        Await.until("one lease is closed", () -> holders(memory).contains("leases=1"));
        Thrown.with(Status.IN_USE, mmap::start);
        second.close();
        awaitReleased(memory);
        mmap.start();
        local.start();
        assertThat(imported(mmap.exportPci(pf0), p0).sizeBytes()).isEqualTo(SIZE);
    }

    @Test
    void shouldNotExportAgainThroughAnotherMmapWhatAnImporterStillHolds() {
        Mmap first = mmap(ALL);
        Mmap other = mmap(ALL);
        Mmap remote = imported(first.exportPci(pf0), p0);
        first.close();
        Thrown.with(Status.IN_USE, () -> other.exportPci(pf0)).hasMessageContaining("leases=1");
        Thrown.with(Status.IN_USE, () -> BusServices.exportFor(other, pf0, true, null));
        remote.close();
        awaitReleased(memory);
        other.exportPci(pf0);
    }

    /** The re-exporting process has released the memory, and its importer has not. */
    @Test
    void shouldNotUseMemoryAgainThatTheImporterOfAReExportStillHolds() {
        Mmap mmap = mmap(ALL);
        Mmap middle =
                machines.add(
                        Mmap.createFromExport(
                                mmap.exportPci(pf0), p0, Mapping.NONE, Patience.LIMIT));
        Mmap far = imported(middle.exportRdma(p0), machines.device(Side.TARGET, "t0"));
        middle.close();
        assertThat(Refusal.statusOf(Regions.checkUse(far, RDMA_WRITE))).isEqualTo(Status.SHUTDOWN);
        mmap.stop();
        Thrown.with(Status.IN_USE, mmap::start).hasMessageContaining("leases=1");
        far.close();
        awaitReleased(memory);
        mmap.start();
    }

    /** A machine that has closed does not hear of its importers any more. */
    @Test
    void shouldNotUseMemoryAgainOfWhichItCannotKnowWhoHoldsIt() throws Exception {
        Machine leaving = Machine.builder(Side.HOST).fabricFolder(machines.folder()).open();
        Device device = leaving.findDevice("pf0").open();
        Mmap before = Mmap.create().setMemory(memory).setPermissions(ALL).addDevice(device).start();
        Mmap remote = imported(before.exportPci(device), p0);
        before.close();
        device.close();
        leaving.close();
        Mmap after =
                machines.add(Mmap.create().setMemory(memory).setPermissions(ALL).addDevice(pf0));
        Thrown.with(Status.IN_USE, after::start);
        remote.close();
        Thrown.with(Status.IN_USE, after::start).hasMessageContaining("or other memory");
    }

    private static String holders(SharedMemory of) {
        try {
            of.shared().requireReleased();
            return "";
        } catch (FabricException e) {
            return e.getMessage();
        }
    }

    /** Until no lease of a revoked export of it is open any more. */
    static void awaitReleased(SharedMemory of) {
        Await.until("no importer holds the memory", () -> holders(of).isEmpty());
    }
}
