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
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.memory.AccessBatches;
import io.softdpu.core.spi.memory.DomainAccess;
import io.softdpu.core.spi.memory.GrantedMemory;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exports for RDMA, as packets that name them by key find them. */
class MmapKeyTest {
    private static final int SIZE = 4096 + 100;
    private static final Permissions READ_WRITE =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE);
    private static final Permissions PASSED_ON =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE,
                    AccessFlag.PCI_READ_WRITE,
                    AccessFlag.RDMA_READ,
                    AccessFlag.RDMA_WRITE);

    @TempDir Path folder;
    private Machines machines;
    private Machine dpu;
    private Device p0;
    private SharedMemory memory;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        dpu = machines.open(Side.DPU);
        p0 = machines.device(dpu, "p0");
        memory = machines.add(SharedMemory.allocate(SIZE));
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private Mmap mmap(Permissions permissions, Device... devices) {
        Mmap mmap = machines.add(Mmap.create().setMemory(memory).setPermissions(permissions));
        for (Device device : devices) {
            mmap.addDevice(device);
        }
        return mmap.start();
    }

    private static ExportDescriptor exported(Mmap mmap, Device device) {
        return ExportDescriptor.decode(mmap.exportRdma(device));
    }

    /** The memory that a packet for this device finds, from its first to its last byte. */
    private static GrantedMemory find(Device device, ExportDescriptor blob, AccessFlag right) {
        AccessBatches batches = new AccessBatches(device.toString());
        try (DomainAccess access = Regions.domainOf(device).attach(batches)) {
            batches.begin();
            GrantedMemory found =
                    access.find(blob.remoteKey(), blob.address(), blob.sizeBytes(), right.bit());
            batches.end();
            return found;
        }
    }

    @Test
    void shouldBeFoundByWhatTheBlobNames() {
        ExportDescriptor blob = exported(mmap(READ_WRITE, p0), p0);

        GrantedMemory found = find(p0, blob, AccessFlag.RDMA_WRITE);

        assertThat(found.address()).isEqualTo(blob.address());
        assertThat(found.memory().byteSize()).isEqualTo(SIZE);
        found.memory().set(ValueLayout.JAVA_BYTE, SIZE - 1, (byte) 7);
        found.changed();
        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, SIZE - 1)).isEqualTo((byte) 7);
        assertThat(find(p0, blob, AccessFlag.RDMA_READ)).isSameAs(found);
        assertThat(find(p0, blob, AccessFlag.RDMA_ATOMIC)).as("not granted").isNull();
    }

    @Test
    void shouldNotBeFoundByADeviceThatHasNotExportedIt() {
        Device p1 = machines.device(dpu, "p1");
        Mmap mmap = mmap(READ_WRITE, p0, p1);
        ExportDescriptor first = exported(mmap, p0);
        assertThat(find(p1, first, AccessFlag.RDMA_READ)).isNull();

        ExportDescriptor second = exported(mmap, p1);

        assertThat(second.remoteKey()).isNotEqualTo(first.remoteKey());
        assertThat(find(p1, second, AccessFlag.RDMA_READ)).isNotNull();
        assertThat(find(p1, first, AccessFlag.RDMA_READ)).isNull();
        assertThat(find(p0, second, AccessFlag.RDMA_READ)).isNull();
        assertThat(exported(mmap, p0)).as("the same each time").isEqualTo(first);
        mmap.stop();
        assertThat(find(p0, first, AccessFlag.RDMA_READ)).isNull();
        assertThat(find(p1, second, AccessFlag.RDMA_READ)).isNull();
    }

    /** Both machines are in this process, and each has a device of this name. */
    @Test
    void shouldNotBeFoundByTheSameDeviceOfAnotherMachine() {
        Device other = machines.device(Side.DPU, "p0");
        ExportDescriptor blob = exported(mmap(READ_WRITE, p0), p0);

        assertThat(find(other, blob, AccessFlag.RDMA_READ)).isNull();
        assertThat(find(p0, blob, AccessFlag.RDMA_READ)).isNotNull();
    }

    @Test
    void shouldBeFoundByADeviceThatWasOpenedOnceMore() {
        Device again = machines.device(dpu, "p0");
        Mmap mmap = mmap(READ_WRITE, p0);
        ExportDescriptor blob = exported(mmap, p0);

        assertThat(Regions.domainOf(again)).isSameAs(Regions.domainOf(p0));
        assertThat(find(again, blob, AccessFlag.RDMA_READ)).isNotNull();
        assertThat(exported(mmap, again)).isEqualTo(blob);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotBeFoundAfterItsEnd(boolean closes) {
        Mmap mmap = mmap(READ_WRITE, p0);
        ExportDescriptor before = exported(mmap, p0);
        if (closes) {
            mmap.close();
        } else {
            mmap.stop();
        }
        assertThat(find(p0, before, AccessFlag.RDMA_READ)).isNull();
        if (!closes) {
            ExportDescriptor after = exported(mmap.start(), p0);
            assertThat(after.remoteKey()).isNotEqualTo(before.remoteKey());
            assertThat(find(p0, before, AccessFlag.RDMA_READ)).as("of the start before").isNull();
            assertThat(find(p0, after, AccessFlag.RDMA_READ)).isNotNull();
        }
    }

    /** A packet that has found the memory may be in the middle of a copy into it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndBehindTheBatchThatHasFoundIt(boolean closes) throws InterruptedException {
        Mmap mmap = mmap(READ_WRITE, p0);
        ExportDescriptor blob = exported(mmap, p0);
        AccessBatches batches = new AccessBatches("adapter");
        DomainAccess access = machines.add(Regions.domainOf(p0).attach(batches));
        batches.begin();
        GrantedMemory found =
                access.find(blob.remoteKey(), blob.address(), 1, AccessFlag.RDMA_WRITE.bit());
        Thread owner = Thread.ofPlatform().start(closes ? mmap::close : mmap::stop);
        Await.until("wait", () -> owner.getState() == Thread.State.TIMED_WAITING);

        Thrown.with(Status.IN_USE, memory::close);
        found.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        assertThat(owner.isAlive()).isTrue();
        batches.end();

        assertThat(owner.join(Patience.DEADLINE)).isTrue();
        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 0)).isOne();
        memory.close();
    }

    @Test
    void shouldServeAnImportThatIsExportedAgain() {
        Device pf0 = machines.device(Side.HOST, "pf0");
        Mmap host = mmap(PASSED_ON, pf0);
        Mmap imported = machines.add(Mmap.createFromExport(host.exportPci(pf0), p0));
        ExportDescriptor blob = exported(imported, p0);

        GrantedMemory found = find(p0, blob, AccessFlag.RDMA_WRITE);

        assertThat(found.address()).as("the exporter's").isEqualTo(memory.segment().address());
        found.memory().set(ValueLayout.JAVA_BYTE, 3, (byte) 33);
        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 3)).isEqualTo((byte) 33);
        assertThat(find(pf0, blob, AccessFlag.RDMA_WRITE)).as("of its owner").isNull();
        host.stop();
        assertThat(find(p0, blob, AccessFlag.RDMA_WRITE)).as("revoked by its owner").isNull();
        imported.close();
        assertThat(find(p0, blob, AccessFlag.RDMA_WRITE)).isNull();
    }

    /** Over shared memory nothing here needs it: the peer asks the bus for a lease. */
    @Test
    void shouldNotMapMemoryToBePassedOnUnlessAnAdapterServesIt() {
        Device pf0 = machines.device(Side.HOST, "pf0");
        byte[] ofHost = mmap(PASSED_ON, pf0).exportPci(pf0);
        Mmap imported =
                machines.add(Mmap.createFromExport(ofHost, p0, Mapping.NONE, Patience.LIMIT));

        ExportDescriptor blob = exported(imported, p0);

        assertThat(blob.remoteKey()).isNotZero();
        assertThat(find(p0, blob, AccessFlag.RDMA_READ)).isNull();
        assertThat(Regions.isMapped(imported)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldMapMemoryToBePassedOnForAnAdapterThatServesIt(boolean beforeItsExport) {
        Device pf0 = machines.device(Side.HOST, "pf0");
        Mmap host = mmap(PASSED_ON, pf0);
        Mmap imported =
                machines.add(
                        Mmap.createFromExport(
                                host.exportPci(pf0), p0, Mapping.NONE, Patience.LIMIT));
        DomainAccess serving =
                machines.add(Regions.domainOf(p0).attach(new AccessBatches("serving")));
        if (beforeItsExport) {
            serving.serve();
        }
        ExportDescriptor blob = exported(imported, p0);
        serving.serve();

        GrantedMemory found = find(p0, blob, AccessFlag.RDMA_WRITE);

        assertThat(found.address()).as("the exporter's").isEqualTo(memory.segment().address());
        found.memory().set(ValueLayout.JAVA_BYTE, 3, (byte) 33);
        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 3)).isEqualTo((byte) 33);
        assertThat(Regions.isMapped(imported)).as("for tasks").isFalse();
        assertThat(exported(imported, p0)).as("the same each time").isEqualTo(blob);
        host.stop();
        assertThat(find(p0, blob, AccessFlag.RDMA_WRITE)).as("revoked by its owner").isNull();
        imported.close();
        assertThat(find(p0, blob, AccessFlag.RDMA_WRITE)).isNull();
        assertThat(found.memory().scope().isAlive()).as("mapped").isFalse();
        Await.until("the owner may use the memory again", () -> starts(host));
    }

    private static boolean starts(Mmap stopped) {
        try {
            stopped.start();
            return true;
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.IN_USE);
            return false;
        }
    }

    @Test
    void shouldNotMapMemoryToBePassedOnAfterTheLastServingAdapterHasEnded() {
        Device pf0 = machines.device(Side.HOST, "pf0");
        Mmap imported =
                machines.add(
                        Mmap.createFromExport(
                                mmap(PASSED_ON, pf0).exportPci(pf0),
                                p0,
                                Mapping.NONE,
                                Patience.LIMIT));
        try (DomainAccess serving = Regions.domainOf(p0).attach(new AccessBatches("serving"))) {
            serving.serve();
        }

        assertThat(find(p0, exported(imported, p0), AccessFlag.RDMA_READ)).isNull();
    }

    /** By its key a peer can do no more than by the lease that it could ask for. */
    @Test
    void shouldGrantWhatTheBlobSays() {
        ExportDescriptor blob =
                exported(
                        mmap(
                                Permissions.of(
                                        AccessFlag.LOCAL_READ_WRITE,
                                        AccessFlag.PCI_READ_WRITE,
                                        AccessFlag.RDMA_READ,
                                        AccessFlag.RDMA_ATOMIC),
                                p0),
                        p0);
        assertThat(new Permissions(blob.permissions()))
                .isEqualTo(Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_ATOMIC));
        assertThat(find(p0, blob, AccessFlag.RDMA_READ)).isNotNull();
        assertThat(find(p0, blob, AccessFlag.RDMA_ATOMIC)).isNotNull();
        assertThat(find(p0, blob, AccessFlag.RDMA_WRITE)).isNull();
        assertThat(find(p0, blob, AccessFlag.PCI_READ_WRITE)).isNull();
        assertThat(find(p0, blob, AccessFlag.LOCAL_READ_WRITE)).isNull();
    }

    @Test
    void shouldTellTransportsOfAnImportWhatItsBlobNames() {
        byte[] bytes = mmap(READ_WRITE, p0).exportRdma(p0);
        ExportDescriptor blob = ExportDescriptor.decode(bytes);
        Device t0 = machines.device(Side.TARGET, "t0");
        Mmap imported = machines.add(Mmap.createFromExport(bytes, t0));

        var remote = Regions.remoteOf(imported);

        assertThat(remote.key()).isEqualTo(blob.remoteKey());
        assertThat(remote.address()).isEqualTo(memory.segment().address());
        assertThat(remote.isOf(p0.info().function().gid())).isTrue();
        assertThat(remote.isOf(t0.info().function().gid())).isFalse();
        assertThat(remote.isOf(new byte[0])).isFalse();
        assertThat(Refusal.statusOf(remote.checkAlive())).isEqualTo(Status.SUCCESS);
        MemorySegment mapped = remote.memory();
        assertThat(mapped.byteSize()).isEqualTo(SIZE);
    }
}
