package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
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
import io.softdpu.core.spi.memory.Grant;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Imports of RDMA exports of another fabric folder or kernel: by their blob alone. */
class RemoteImportTest {
    private static final int SIZE = 3 * 4096 + 100;
    private static final long IMPORT_LIMIT = 1 << 20;
    private static final Permissions EXPORTED =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE,
                    AccessFlag.PCI_READ_WRITE,
                    AccessFlag.RDMA_READ,
                    AccessFlag.RDMA_WRITE);
    private static final Permissions READ_WRITE =
            Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE);
    private static final RegionAddress.Id OTHER = new RegionAddress.Id(1, 2);

    @TempDir Path folder;
    private Machines there;
    private Machines here;
    private Device pf0;
    private Device p0;
    private SharedMemory memory;
    private Mmap exporter;
    private byte[] blob;

    @BeforeEach
    void open() {
        there = new Machines(folder.resolve("there"));
        here = new Machines(folder.resolve("here"));
        pf0 = there.device(Side.HOST, "pf0");
        p0 =
                here.device(
                        here.add(
                                Machine.builder(Side.DPU)
                                        .fabricFolder(here.folder())
                                        .importLimitBytes(IMPORT_LIMIT)
                                        .open()),
                        "p0");
        memory = there.add(SharedMemory.allocate(SIZE));
        exporter =
                there.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(EXPORTED)
                                .addDevice(pf0)
                                .start());
        blob = exporter.exportRdma(pf0);
    }

    @AfterEach
    void close() throws Exception {
        here.close();
        there.close();
    }

    /** Whatever the mapping is, there is none. */
    @ParameterizedTest
    @EnumSource(Mapping.class)
    void shouldBeUsableAtOnceWithoutLeaseAndMapping(Mapping mapping) {
        ExportDescriptor named = ExportDescriptor.decode(blob);
        Mmap imported = here.add(Mmap.createFromExport(blob.clone(), p0, mapping, Patience.LIMIT));

        assertThat(imported.state()).isEqualTo(Mmap.State.STARTED);
        assertThat(imported.isImported()).isTrue();
        assertThat(imported.sizeBytes()).isEqualTo(SIZE);
        assertThat(imported.permissions()).isEqualTo(READ_WRITE);
        assertThat(imported.devices()).containsExactly(p0);
        assertThat(imported)
                .asString()
                .contains("imported over RDMA by its key from host/pf0", "STARTED")
                .doesNotContain(Integer.toHexString(named.remoteKey()));
        assertThat(Regions.isMapped(imported)).isFalse();
        Thrown.with(Status.NOT_SUPPORTED, () -> Regions.memoryOf(imported));
        Thrown.with(Status.NOT_PERMITTED, imported::segment);
        Thrown.with(Status.NOT_PERMITTED, imported::stop);

        RemoteMemory remote = Regions.remoteOf(imported);
        assertThat(remote.key()).isEqualTo(named.remoteKey()).isNotZero();
        assertThat(remote.address()).isEqualTo(memory.segment().address());
        assertThat(remote.isOf(pf0.info().function().gid())).isTrue();
        assertThat(remote.isOf(p0.info().function().gid())).isFalse();
        assertThat(remote.memory()).isNull();
        assertThat(BusServices.isOnBus(remote)).isFalse();
        assertThat(BusServices.exporterOf(remote)).isEqualTo(named.region().busId());

        assertThat(leases()).as("nobody was asked").isZero();
    }

    @Test
    void shouldGrantTheRightsOfTheBlobAlone() {
        Mmap imported = here.add(Mmap.createFromExport(blob, p0));
        assertThat(statusOf(imported, READ_WRITE)).isEqualTo(Status.SUCCESS);
        assertThat(statusOf(imported, Permissions.of(AccessFlag.RDMA_ATOMIC)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(statusOf(imported, Permissions.LOCAL_READ_ONLY))
                .as("no memory of this machine")
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(statusOf(imported, Permissions.of(AccessFlag.PCI_READ_ONLY)))
                .isEqualTo(Status.NOT_PERMITTED);
        Thrown.with(Status.NOT_SUPPORTED, () -> imported.exportPci(p0))
                .hasMessageContaining("imported mmap");
        Thrown.with(Status.NOT_SUPPORTED, () -> imported.exportRdma(p0))
                .hasMessageContaining("import from RDMA");
    }

    /** The answer of the peer to an operation tells it, and nothing else does. */
    @Test
    void shouldNotSeeTheEndOfTheExport() {
        Mmap imported = here.add(Mmap.createFromExport(blob, p0));
        Grant grant = Regions.grantOf(imported);
        exporter.close();
        memory.close();

        assertThat(grant.holds()).isTrue();
        assertThat(Regions.grantOf(imported)).isSameAs(grant);
        assertThat(statusOf(imported, READ_WRITE)).isEqualTo(Status.SUCCESS);
        assertThat(Regions.remoteOf(imported).checkAlive()).isNull();
        Mmap late = here.add(Mmap.createFromExport(blob, p0));
        assertThat(late.state()).isEqualTo(Mmap.State.STARTED);
    }

    @Test
    void shouldEndByItsCloseAlone() {
        LeakCheck before = LeakCheck.begin(folder);
        Mmap imported = Mmap.createFromExport(blob, p0);
        Thrown.with(Status.IN_USE, p0::close).hasMessageContaining("mmap");
        BufInventory inventory = here.add(BufInventory.create(1).start());
        Buf buf = inventory.bufByData(imported, SIZE - 8, 8);
        Thrown.with(Status.INVALID_VALUE, () -> inventory.bufByData(imported, SIZE - 8, 9));
        Thrown.with(Status.NOT_PERMITTED, imported::close).hasMessageContaining("bufs=1");
        buf.release();
        imported.close();
        imported.close();

        assertThat(imported.state()).isEqualTo(Mmap.State.CLOSED);
        assertThat(statusOf(imported, READ_WRITE)).isEqualTo(Status.BAD_STATE);
        before.assertNothingLeft();
        p0.close();
        Thrown.with(Status.BAD_STATE, () -> Mmap.createFromExport(blob, p0));
    }

    @Test
    void shouldComeFromAnotherKernelAsWell() {
        Device ofTheSameFolder = there.device(Side.TARGET, "t0");
        RegionAddress region = ExportDescriptor.decode(blob).region();
        byte[] foreign = changed(OTHER, region.fabricId(), SIZE, new byte[16]);

        Mmap imported = there.add(Mmap.createFromExport(foreign, ofTheSameFolder));

        assertThat(BusServices.isOnBus(Regions.remoteOf(imported))).isFalse();
        assertThat(Regions.isMapped(imported)).isFalse();
        Mmap leased = there.add(Mmap.createFromExport(blob, ofTheSameFolder));
        assertThat(BusServices.isOnBus(Regions.remoteOf(leased))).as("its own folder").isTrue();
    }

    /** Machines on a network have no topology in common. */
    @Test
    void shouldComeFromAnotherTopologyThatIsElsewhere() {
        RegionAddress region = ExportDescriptor.decode(blob).region();
        byte[] elsewhere = changed(region.bootId(), region.fabricId(), SIZE, new byte[16]);

        here.add(Mmap.createFromExport(elsewhere, p0));

        Device t0 = there.device(Side.TARGET, "t0");
        Thrown.with(Status.BAD_CONFIG, () -> Mmap.createFromExport(elsewhere, t0));
    }

    @Test
    void shouldBeRefusedOverPci() {
        byte[] pci = exporter.exportPci(pf0);
        Thrown.with(Status.NOT_FOUND, () -> Mmap.createFromExport(pci, p0))
                .hasMessageContaining("another fabric folder");
    }

    @Test
    void shouldNotBeLargerThanTheLimit() {
        RegionAddress region = ExportDescriptor.decode(blob).region();
        for (long size : new long[] {1, IMPORT_LIMIT}) {
            byte[] allowed = changed(region.bootId(), region.fabricId(), size, new byte[16]);
            assertThat(here.add(Mmap.createFromExport(allowed, p0)).sizeBytes()).isEqualTo(size);
        }
        for (long size : new long[] {IMPORT_LIMIT + 1, Long.MAX_VALUE}) {
            byte[] tooBig = changed(region.bootId(), region.fabricId(), size, new byte[16]);
            Thrown.with(Status.TOO_BIG, () -> Mmap.createFromExport(tooBig, p0))
                    .hasMessageContaining("limitBytes=" + IMPORT_LIMIT);
        }
    }

    /** Nobody who could be asked knows better, so the bytes are all there is to check. */
    @Test
    void shouldBeRefusedIfAnyByteWasChanged() {
        LeakCheck before = LeakCheck.begin(folder);
        for (int at = 0; at < blob.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = blob.clone();
                damaged[at] ^= (byte) (1 << bit);
                assertThat(statusOf(damaged))
                        .as("offset %d, bit %d", at, bit)
                        .isEqualTo(
                                at == 4 || at == 5
                                        ? Status.UNSUPPORTED_VERSION
                                        : Status.INVALID_VALUE);
            }
        }
        for (int length = 0; length < 2 * blob.length; length++) {
            if (length != blob.length) {
                assertThat(statusOf(Arrays.copyOf(blob, length)))
                        .as("length %d", length)
                        .isEqualTo(Status.INVALID_VALUE);
            }
        }
        before.assertNothingLeft();
    }

    private byte[] changed(
            RegionAddress.Id bootId, RegionAddress.Id fabricId, long sizeBytes, byte[] topology) {
        ExportDescriptor of = ExportDescriptor.decode(blob);
        RegionAddress region = of.region();
        return new ExportDescriptor(
                        of.kind(),
                        of.permissions(),
                        of.remoteKey(),
                        of.address(),
                        of.gid(),
                        topology,
                        new RegionAddress(
                                bootId,
                                fabricId,
                                region.busId(),
                                region.regionId(),
                                region.key(),
                                sizeBytes),
                        of.side(),
                        of.interfaceName())
                .encode();
    }

    private Status statusOf(byte[] bytes) {
        try (Mmap imported = Mmap.createFromExport(bytes, p0)) {
            return imported.state() == Mmap.State.STARTED ? Status.SUCCESS : Status.UNKNOWN;
        } catch (DpuException e) {
            return e.status();
        }
    }

    private Status statusOf(Mmap imported, Permissions needed) {
        return Refusal.statusOf(Regions.checkUse(imported, p0, needed));
    }

    /** Stopping keeps nothing back where nobody has a lease. */
    private long leases() {
        exporter.stop();
        long retained = BusServices.bus(pf0).retainedBytes();
        exporter.start();
        return retained;
    }
}
