package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.Regions;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Exports, imports and re-exports between machines of one fabric folder. */
class MmapExportTest {
    private static final int SIZE = 3 * 4096 + 100;
    private static final Permissions ALL =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE,
                    AccessFlag.PCI_READ_WRITE,
                    AccessFlag.RDMA_READ,
                    AccessFlag.RDMA_WRITE);
    private static final Permissions PCI_WRITE = Permissions.of(AccessFlag.PCI_READ_WRITE);
    private static final Permissions PCI_READ = Permissions.of(AccessFlag.PCI_READ_ONLY);
    private static final Permissions RDMA_READ = Permissions.of(AccessFlag.RDMA_READ);
    private static final Permissions RDMA_WRITE = Permissions.of(AccessFlag.RDMA_WRITE);

    @TempDir Path folder;
    private Machines machines;
    private Machine host;
    private Machine dpu;
    private Device pf0;
    private Device p0;
    private SharedMemory memory;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        host = machines.open(Side.HOST);
        dpu = machines.open(Side.DPU);
        pf0 = machines.device(host, "pf0");
        p0 = machines.device(dpu, "p0");
        memory = machines.add(SharedMemory.allocate(SIZE));
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    @Test
    void shouldEndAnImportOfAnInterruptedThreadAndLetItBeRepeated() {
        byte[] blob = mmap(pf0, memory, ALL).exportPci(pf0);
        Thread.currentThread().interrupt();
        Thrown.with(Status.CONNECTION_ABORTED, () -> Mmap.createFromExport(blob, p0))
                .hasMessageContainingAll(
                        "interrupted", "call=Mmap.createFromExport", "awaited=the exporter");
        assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
        assertThat(machines.add(Mmap.createFromExport(blob, p0)).sizeBytes()).isEqualTo(SIZE);
    }

    private Mmap mmap(Device device, SharedMemory over, Permissions permissions) {
        return machines.add(
                Mmap.create()
                        .setMemory(over)
                        .setPermissions(permissions)
                        .addDevice(device)
                        .start());
    }

    private Mmap mmap(Permissions permissions) {
        return mmap(pf0, memory, permissions);
    }

    private Mmap imported(byte[] blob, Device device) {
        return machines.add(Mmap.createFromExport(blob, device));
    }

    @Test
    @Clause({"core-074", "core-083", "core-087"})
    void shouldGiveTheDpuTheHostsMemoryItself() {
        byte[] blob = mmap(ALL).exportPci(pf0);
        Mmap remote = imported(blob.clone(), p0);
        assertThat(remote.isImported()).isTrue();
        assertThat(remote.state()).isEqualTo(Mmap.State.STARTED);
        assertThat(remote.sizeBytes()).isEqualTo(SIZE);
        assertThat(remote.permissions()).isEqualTo(ALL);
        assertThat(remote.devices()).containsExactly(p0);
        memory.segment().set(ValueLayout.JAVA_BYTE, 5, (byte) 55);
        MemorySegment seen = Regions.memoryOf(remote);
        assertThat(seen.byteSize()).isEqualTo(SIZE);
        assertThat(seen.get(ValueLayout.JAVA_BYTE, 5)).isEqualTo((byte) 55);
        seen.set(ValueLayout.JAVA_BYTE, SIZE - 1, (byte) 66);
        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, SIZE - 1)).isEqualTo((byte) 66);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, p0, PCI_WRITE)))
                .isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, PCI_READ))).isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, RDMA_READ)))
                .as("RDMA rights are there to be passed on")
                .isEqualTo(Status.NOT_PERMITTED);
    }

    @Test
    @Clause("core-075")
    void shouldBeEitherLocalOrImported() {
        Mmap local = mmap(ALL);
        Mmap remote = imported(local.exportPci(pf0), p0);
        assertThat(local.isImported()).isFalse();
        assertThat(local.segment().byteSize()).isEqualTo(SIZE);
        LocalMemory unshared = machines.add(LocalMemory.allocate(SIZE));
        Mmap notToBeExported = machines.add(Mmap.create().setMemory(unshared));
        assertThat(notToBeExported.isImported()).isFalse();
        Mmap ofTheHeap =
                machines.add(Mmap.create().setMemory(MemorySegment.ofArray(new byte[SIZE])));
        assertThat(ofTheHeap.isImported()).isFalse();
        assertThat(remote.isImported()).isTrue();
        Thrown.with(Status.NOT_PERMITTED, remote::segment);
        Thrown.with(Status.NOT_PERMITTED, remote::stop);
        Mmap byRdma = imported(local.exportRdma(pf0), machines.device(Side.TARGET, "t0"));
        assertThat(byRdma.isImported()).isTrue();
        Thrown.with(Status.NOT_PERMITTED, byRdma::segment);
        Thrown.with(Status.NOT_PERMITTED, byRdma::stop);
        local.stop();
        assertThat(local.state()).isEqualTo(Mmap.State.IDLE);
    }

    @Test
    @Clause({"core-095", "core-089"})
    void shouldLetTasksButNotTheProgramReachImportedMemory() {
        Mmap remote = imported(mmap(ALL).exportPci(pf0), p0);
        try (BufInventory inventory = BufInventory.create(1)) {
            inventory.start();
            Buf buf = inventory.bufByData(remote, 10, 20);
            assertThat(buf.mmap().isImported()).isTrue();
            Thrown.with(Status.NOT_PERMITTED, buf::segment).hasMessageContaining("tasks");
            Thrown.with(Status.NOT_PERMITTED, remote::segment);
            assertThat(Regions.segmentOf(buf).byteSize()).isEqualTo(SIZE);
            Thrown.with(Status.NOT_PERMITTED, remote::close).hasMessageContaining("users=1");
            buf.release();
        }
    }

    @Test
    @Clause({"core-080", "core-081", "core-085"})
    void shouldRefuseAnExportWithoutTheRightsForIt() {
        Mmap local = mmap(Permissions.LOCAL_READ_WRITE);
        Thrown.with(Status.NOT_PERMITTED, () -> local.exportPci(pf0))
                .hasMessageContaining("PCI_READ_ONLY or PCI_READ_WRITE");
        Thrown.with(Status.NOT_PERMITTED, () -> local.exportRdma(pf0))
                .hasMessageContaining("RDMA_READ");
        local.close();
        Mmap pciOnly = mmap(Permissions.of(AccessFlag.PCI_READ_WRITE));
        pciOnly.exportPci(pf0);
        Thrown.with(Status.NOT_PERMITTED, () -> pciOnly.exportRdma(pf0));
        pciOnly.close();
        Mmap unwritable = mmap(RDMA_WRITE);
        Thrown.with(Status.NOT_PERMITTED, () -> unwritable.exportRdma(pf0))
                .hasMessageContaining("LOCAL_READ_WRITE");
        unwritable.close();
        Mmap rdmaOnly = mmap(Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE));
        rdmaOnly.exportRdma(pf0);
        Thrown.with(Status.NOT_PERMITTED, () -> rdmaOnly.exportPci(pf0));
        for (AccessFlag one :
                List.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC)) {
            SharedMemory other = machines.add(SharedMemory.allocate(4096));
            Permissions enough = Permissions.of(AccessFlag.LOCAL_READ_WRITE, one);
            assertThat(mmap(pf0, other, enough).exportRdma(pf0)).as("%s", one).isNotEmpty();
        }
    }

    @Test
    @Clause("core-082")
    void shouldRefuseAnExportUnlessStarted() {
        Mmap mmap = mmap(ALL);
        mmap.stop();
        Thrown.with(Status.BAD_STATE, () -> mmap.exportPci(pf0));
        Thrown.with(Status.BAD_STATE, () -> mmap.exportRdma(pf0));
        Thrown.with(Status.BAD_STATE, () -> BusServices.exportFor(mmap, pf0, true, null));
    }

    @Test
    @Clause("core-069")
    void shouldExportThroughEachOfItsDevicesAndNoOther() {
        Device vf = machines.device(host, "pf0vf0");
        Device pf1 = machines.device(host, "pf1");
        Mmap mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(ALL)
                                .addDevice(pf0)
                                .addDevice(vf)
                                .start());
        assertThat(mmap.exportPci(pf0)).isNotEmpty();
        assertThat(mmap.exportPci(vf)).isNotEmpty();
        assertThat(mmap.exportRdma(vf)).isNotEmpty();
        Thrown.with(Status.NOT_PERMITTED, () -> mmap.exportPci(pf1)).hasMessageContaining("pf1");
        Thrown.with(Status.NOT_PERMITTED, () -> mmap.exportRdma(pf1));
    }

    @Test
    void shouldSayWhatToExportThroughInsteadOfAPortOfTheDpu() {
        Mmap mmap =
                machines.add(
                        Mmap.create().setMemory(memory).setPermissions(ALL).addDevice(p0).start());
        Thrown.with(Status.NOT_SUPPORTED, () -> mmap.exportPci(p0))
                .hasMessageStartingWith("device has no parent port on the DPU")
                .hasMessageEndingWith(
                        ", expected=exportPci on a function of the host, or exportRdma");
        assertThat(mmap.exportRdma(p0)).isNotEmpty();
    }

    @Test
    void shouldSayThatAStartedMmapWasConfigured() {
        Mmap mmap = mmap(ALL);
        Thrown.with(Status.BAD_STATE, () -> mmap.setPermissions(ALL))
                .hasMessageMatching(
                        "mmap is started: call=setPermissions, mmap=.*, expected=IDLE, by"
                                + " Mmap.stop");
    }

    @Test
    void shouldSayWhatMemoryCanBeExported() {
        Mmap mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(MemorySegment.ofArray(new byte[16]))
                                .setPermissions(ALL)
                                .addDevice(pf0)
                                .start());
        Thrown.with(Status.NOT_SUPPORTED, () -> mmap.exportPci(pf0))
                .hasMessageContaining("SharedMemory.allocate");
        Thrown.with(Status.NOT_SUPPORTED, () -> mmap.exportRdma(pf0))
                .hasMessageContaining("SharedMemory.allocate");
    }

    @Test
    void shouldExportOverPcieOnlyWhereSomethingIsAcrossTheBus() {
        Mmap onPort = mmap(p0, memory, ALL);
        Thrown.with(Status.NOT_SUPPORTED, () -> onPort.exportPci(p0)).hasMessageContaining("p0");
        Device sf = machines.device(dpu, "p0s0");
        SharedMemory other = machines.add(SharedMemory.allocate(4096));
        assertThat(imported(mmap(sf, other, ALL).exportPci(sf), p0).sizeBytes()).isEqualTo(4096);
    }

    @Test
    void shouldExportOneMemoryReadOnlyOrWritableButNotBoth() {
        mmap(PCI_READ).exportPci(pf0);
        Mmap writer =
                machines.add(
                        Mmap.create().setMemory(memory).setPermissions(PCI_WRITE).addDevice(pf0));
        Thrown.with(Status.NOT_SUPPORTED, writer::start)
                .hasMessageContaining("either read-only or writable");
        writer.setPermissions(PCI_READ).start();

        SharedMemory second = machines.add(SharedMemory.allocate(4096));
        mmap(pf0, second, PCI_WRITE);
        Mmap reader =
                machines.add(
                        Mmap.create().setMemory(second).setPermissions(RDMA_READ).addDevice(pf0));
        Thrown.with(Status.NOT_SUPPORTED, reader::start);

        SharedMemory third = machines.add(SharedMemory.allocate(4096));
        Mmap mixed =
                mmap(pf0, third, Permissions.of(AccessFlag.PCI_READ_WRITE, AccessFlag.RDMA_READ));
        mixed.exportPci(pf0);
        Thrown.with(Status.NOT_SUPPORTED, () -> mixed.exportRdma(pf0))
                .hasMessageContaining("not both");
    }

    @Test
    @Clause("core-071")
    void shouldGiveAReadOnlyExportForReadingOnly() {
        Permissions ownerWrites =
                Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_ONLY);
        Mmap remote = imported(mmap(ownerWrites).exportPci(pf0), p0);
        assertThat(Regions.memoryOf(remote).isReadOnly()).isTrue();
        assertThat(Refusal.statusOf(Regions.checkUse(remote, Permissions.LOCAL_READ_ONLY)))
                .isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, Permissions.LOCAL_READ_WRITE)))
                .as("the owner's own right is not the importer's")
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, PCI_READ))).isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, PCI_WRITE)))
                .isEqualTo(Status.NOT_PERMITTED);
        memory.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        assertThat(Regions.memoryOf(remote).get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 1);
    }

    @Test
    @Clause("core-050")
    void shouldBeImportedThroughTheParentOfTheExportingFunctionAlone() {
        Device p1 = machines.device(dpu, "p1");
        for (String name : new String[] {"pf0", "pf0vf0", "pf0vf1", "pf1", "pf1vf0"}) {
            Device function = machines.device(host, name);
            byte[] blob = mmap(function, memory, PCI_WRITE).exportPci(function);
            Device parent = name.startsWith("pf0") ? p0 : p1;
            Device other = parent == p0 ? p1 : p0;
            assertThat(imported(blob, parent).sizeBytes()).isEqualTo(SIZE);
            Thrown.with(Status.NOT_PERMITTED, () -> Mmap.createFromExport(blob, other))
                    .hasMessageContainingAll(
                            "device=" + other, "exporter=" + function, "parent=" + parent);
            Thrown.with(Status.NOT_PERMITTED, () -> Mmap.createFromExport(blob, function));
        }
    }

    @Test
    @Clause({"core-084", "core-081", "core-087"})
    void shouldBeImportedForRdmaAnywhere() {
        Mmap mmap = mmap(ALL);
        byte[] blob = mmap.exportRdma(pf0);
        assertThat(mmap.exportRdma(pf0)).as("the same each time").isEqualTo(blob);
        Device t0 = machines.device(Side.TARGET, "t0");
        Mmap remote = imported(blob, t0);
        assertThat(remote.sizeBytes()).isEqualTo(SIZE);
        assertThat(remote.permissions().bits()).isEqualTo(2 + 4);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, t0, RDMA_WRITE)))
                .isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, PCI_READ)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, Permissions.LOCAL_READ_ONLY)))
                .as("not memory of this machine, even if a mapping makes it look so")
                .isEqualTo(Status.NOT_PERMITTED);
        Regions.memoryOf(remote).set(ValueLayout.JAVA_BYTE, 7, (byte) 7);
        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 7)).isEqualTo((byte) 7);
        ExportDescriptor said = ExportDescriptor.decode(blob);
        assertThat(said.gid()).isEqualTo(pf0.info().function().gid());
        assertThat(said.remoteKey()).isNotZero();
        assertThat(said.address()).isEqualTo(memory.segment().address());
        Thrown.with(Status.NOT_SUPPORTED, () -> remote.exportRdma(t0));
        Thrown.with(Status.NOT_SUPPORTED, () -> remote.exportPci(t0));
        mmap.stop();
        remote.close();
        MmapReuseTest.awaitReleased(memory);
        mmap.start();
        assertThat(mmap.exportRdma(pf0)).as("a new key after a stop").isNotEqualTo(blob);
    }

    @Test
    void shouldPassAnImportOnForRdmaWithoutMappingIt() throws Exception {
        Mmap source = mmap(ALL);
        Mmap middle =
                machines.add(
                        Mmap.createFromExport(
                                source.exportPci(pf0), p0, Mapping.NONE, Patience.LIMIT));
        assertThat(Regions.isMapped(middle)).isFalse();
        assertThat(Refusal.statusOf(Regions.checkUse(middle, PCI_READ)))
                .isEqualTo(Status.NOT_SUPPORTED);
        Thrown.with(Status.NOT_SUPPORTED, () -> Regions.memoryOf(middle))
                .hasMessageContaining("re-export");
        byte[] blob = middle.exportRdma(p0);
        Device t0 = machines.device(Side.TARGET, "t0");
        Mmap far = imported(blob, t0);
        ExportDescriptor said = ExportDescriptor.decode(blob);
        assertThat(said.interfaceName()).isEqualTo("p0");
        assertThat(said.address()).isEqualTo(memory.segment().address());
        Regions.memoryOf(far).set(ValueLayout.JAVA_LONG, 8, 1234567);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(1234567);
        Thrown.with(Status.NOT_SUPPORTED, () -> middle.exportPci(p0))
                .hasMessageContaining("only for RDMA");
        Thrown.with(Status.NOT_SUPPORTED, () -> BusServices.exportFor(middle, p0, true, null));

        source.stop();
        assertThat(Refusal.statusOf(Regions.checkUse(far, RDMA_WRITE))).isEqualTo(Status.SHUTDOWN);
        Thrown.with(Status.SHUTDOWN, () -> middle.exportRdma(p0));
        far.close();
        Thrown.with(Status.NOT_FOUND, () -> Mmap.createFromExport(blob, t0));
    }

    @Test
    void shouldEndTheReExportWithTheImport() {
        Mmap middle = imported(mmap(ALL).exportPci(pf0), p0);
        Mmap far = imported(middle.exportRdma(p0), machines.device(Side.TARGET, "t0"));
        assertThat(Refusal.statusOf(Regions.checkUse(far, RDMA_READ))).isEqualTo(Status.SUCCESS);
        middle.close();
        assertThat(Refusal.statusOf(Regions.checkUse(far, RDMA_READ))).isEqualTo(Status.SHUTDOWN);
    }

    @Test
    @Clause("core-081")
    void shouldPassOnNoMoreThanWasGranted() {
        Mmap noRdma = imported(mmap(PCI_WRITE).exportPci(pf0), p0);
        Thrown.with(Status.NOT_PERMITTED, () -> noRdma.exportRdma(p0));
        SharedMemory other = machines.add(SharedMemory.allocate(4096));
        Mmap mixed =
                imported(
                        mmap(
                                        pf0,
                                        other,
                                        Permissions.of(
                                                AccessFlag.PCI_READ_ONLY, AccessFlag.RDMA_READ))
                                .exportPci(pf0),
                        p0);
        Mmap far = imported(mixed.exportRdma(p0), machines.device(Side.TARGET, "t0"));
        assertThat(Regions.memoryOf(far).isReadOnly()).isTrue();
    }

    @Test
    void shouldRevokeItsExportsWhenItStops() {
        Mmap mmap = mmap(ALL);
        byte[] blob = mmap.exportPci(pf0);
        Mmap remote = imported(blob, p0);
        var forLibrary = BusServices.exportFor(mmap, pf0, true, null);
        mmap.stop();
        assertThat(forLibrary.revoked()).isTrue();
        assertThat(Refusal.statusOf(Regions.checkUse(remote, PCI_READ))).isEqualTo(Status.SHUTDOWN);
        Thrown.with(Status.NOT_FOUND, () -> Mmap.createFromExport(blob, p0))
                .hasMessageContaining("not exported");
        Thrown.with(Status.NOT_PERMITTED, remote::stop).hasMessageContaining("closed");
        remote.close();
        MmapReuseTest.awaitReleased(memory);
        mmap.start();
        assertThat(imported(mmap.exportPci(pf0), p0).sizeBytes()).isEqualTo(SIZE);
    }

    @Test
    @Clause({"core-008", "core-264"})
    void shouldCloseInAnyOrderWithAnErrorOrNone() {
        Mmap mmap = mmap(ALL);
        Mmap remote = imported(mmap.exportPci(pf0), p0);
        Thrown.with(Status.IN_USE, memory::close);
        Thrown.with(Status.IN_USE, p0::close).hasMessageContaining("mmap");
        mmap.close();
        memory.close();
        MemorySegment seen = Regions.memoryOf(remote);
        assertThat(seen.get(ValueLayout.JAVA_BYTE, 0)).as("still there").isZero();
        assertThat(Refusal.statusOf(Regions.checkUse(remote, PCI_READ))).isEqualTo(Status.SHUTDOWN);
        remote.close();
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> seen.get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("core-008")
    void shouldStopAtACloseWhatIsStartedAndExported() {
        Mmap mmap = mmap(ALL);
        byte[] blob = mmap.exportPci(pf0);
        Mmap remote = imported(blob, p0);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, PCI_WRITE))).isEqualTo(Status.SUCCESS);
        mmap.close();
        assertThat(mmap.state()).isEqualTo(Mmap.State.CLOSED);
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.BAD_STATE);
        assertThat(Refusal.statusOf(Regions.checkUse(remote, PCI_WRITE)))
                .isEqualTo(Status.SHUTDOWN);
        Thrown.with(Status.SHUTDOWN, () -> remote.exportRdma(p0));
        Thrown.with(Status.NOT_FOUND, () -> Mmap.createFromExport(blob, p0))
                .hasMessageContaining("not exported");
        Thrown.with(Status.BAD_STATE, () -> mmap.exportPci(pf0));
    }

    @Test
    void shouldRefuseNewMemoryWhilePeersHoldTooMuchOfTheOld() {
        Machine small =
                machines.add(
                        Machine.builder(Side.HOST)
                                .fabricFolder(machines.folder())
                                .retainedLimitBytes(4096)
                                .open());
        Device pf1 = machines.device(small, "pf1");
        Device p1 = machines.device(dpu, "p1");
        SharedMemory spare = machines.add(SharedMemory.allocate(4096));
        Mmap mmap = mmap(pf1, memory, PCI_WRITE);
        Mmap remote = imported(mmap.exportPci(pf1), p1);
        mmap.stop();
        Thrown.with(Status.NO_MEMORY, () -> SharedMemory.allocate(1))
                .hasMessageContainingAll("retainedBytes=" + SIZE, "limitBytes=4096");
        Mmap next = mmap(pf1, spare, PCI_WRITE);
        Thrown.with(Status.NO_MEMORY, () -> next.exportPci(pf1))
                .hasMessageContainingAll("retainedBytes=" + SIZE, "limitBytes=4096");
        remote.close();
        Await.until(
                "the lease is closed",
                () -> {
                    try {
                        SharedMemory.allocate(1).close();
                        return true;
                    } catch (io.softdpu.core.DpuException e) {
                        return false;
                    }
                });
        next.exportPci(pf1);
        mmap.start().exportPci(pf1);
    }

    @ParameterizedTest
    @CsvSource({
        "kernel, NOT_FOUND, kernel",
        "fabric, NOT_FOUND, fabric folder",
        "exporter, NOT_FOUND, no process serves",
        "region, NOT_FOUND, not exported",
        "key, NOT_FOUND, not exported",
        "topology, BAD_CONFIG, topology",
        "device, INVALID_VALUE, device",
        "orphan, INVALID_VALUE, port"
    })
    void shouldRefuseABlobThatIsNotOfThisPlace(String what, Status status, String message) {
        ExportDescriptor real = ExportDescriptor.decode(mmap(ALL).exportPci(pf0));
        RegionAddress r = real.region();
        RegionAddress.Id other = new RegionAddress.Id(1, 2);
        RegionAddress region =
                new RegionAddress(
                        what.equals("kernel") ? other : r.bootId(),
                        what.equals("fabric") ? other : r.fabricId(),
                        what.equals("exporter") ? other : r.busId(),
                        what.equals("region") ? 999 : r.regionId(),
                        what.equals("key") ? other : r.key(),
                        r.sizeBytes());
        boolean orphan = what.equals("orphan");
        byte[] blob =
                new ExportDescriptor(
                                real.kind(),
                                real.permissions(),
                                0,
                                real.address(),
                                real.gid(),
                                what.equals("topology") ? new byte[16] : real.topologyDigest(),
                                region,
                                orphan ? Side.DPU : real.side(),
                                what.equals("device") ? "pf9" : orphan ? "p1" : "pf0")
                        .encode();
        Thrown.with(status, () -> Mmap.createFromExport(blob, p0)).hasMessageContaining(message);
    }

    @Test
    void shouldRefuseABlobFromAnotherFolder() throws Exception {
        byte[] blob = mmap(ALL).exportPci(pf0);
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        try (Machines others = new Machines(elsewhere)) {
            Device otherP0 = others.device(Side.DPU, "p0");
            Thrown.with(Status.NOT_FOUND, () -> Mmap.createFromExport(blob, otherP0))
                    .hasMessageContainingAll(
                            "another fabric folder", otherP0.machine().fabricFolder().toString());
        }
    }

    @Test
    void shouldRefuseGarbageAndLeaveNothingBehind() {
        Thrown.with(Status.INVALID_VALUE, () -> Mmap.createFromExport(new byte[200], p0));
        byte[] blob = mmap(ALL).exportPci(pf0);
        Thrown.with(
                Status.INVALID_VALUE,
                () -> Mmap.createFromExport(blob, p0, Mapping.ACCESS, Duration.ZERO));
        p0.close();
        Thrown.with(Status.BAD_STATE, () -> Mmap.createFromExport(blob, p0));
    }

    @Test
    void shouldNotImportMoreThanItsLimit() {
        Machine small =
                machines.add(
                        Machine.builder(Side.DPU)
                                .fabricFolder(machines.folder())
                                .importLimitBytes(4096)
                                .open());
        Device p0OfSmall = machines.device(small, "p0");
        byte[] blob = mmap(ALL).exportPci(pf0);
        Thrown.with(Status.TOO_BIG, () -> Mmap.createFromExport(blob, p0OfSmall))
                .hasMessageContainingAll("sizeBytes=" + SIZE, "limitBytes=4096");
        SharedMemory page = machines.add(SharedMemory.allocate(4096));
        assertThat(imported(mmap(pf0, page, ALL).exportPci(pf0), p0OfSmall).sizeBytes())
                .isEqualTo(4096);
    }

    @Test
    void shouldLeaveNothingBehind() throws Exception {
        machines.close();
        exportAndImportOnce();
        LeakCheck before = LeakCheck.begin(folder);
        exportAndImportOnce();
        before.assertNothingLeft();
    }

    private void exportAndImportOnce() throws Exception {
        machines = new Machines(folder);
        Device device = machines.device(Side.HOST, "pf0");
        Device port = machines.device(Side.DPU, "p0");
        Device far = machines.device(Side.TARGET, "t0");
        SharedMemory shared = machines.add(SharedMemory.allocate(SIZE));
        Mmap remote = imported(mmap(device, shared, ALL).exportPci(device), port);
        imported(remote.exportRdma(port), far);
        Thrown.with(Status.NOT_PERMITTED, () -> imported(remote.exportRdma(far), far));
        machines.close();
    }

    @Test
    void shouldDetectThatTheExporterHasEnded() {
        Machine leaving = machines.open(Side.HOST);
        Device device = leaving.findDevice("pf0").open();
        SharedMemory theirs = SharedMemory.allocate(4096);
        Mmap mmap = Mmap.create().setMemory(theirs).setPermissions(ALL).addDevice(device).start();
        byte[] blob = mmap.exportPci(device);
        Mmap remote = imported(blob, p0);
        mmap.close();
        device.close();
        leaving.close();
        theirs.close();
        assertThat(Refusal.statusOf(Regions.checkUse(remote, PCI_READ))).isEqualTo(Status.SHUTDOWN);
        Thrown.with(Status.NOT_FOUND, () -> Mmap.createFromExport(blob, p0))
                .hasMessageContaining("no process serves");
    }
}
