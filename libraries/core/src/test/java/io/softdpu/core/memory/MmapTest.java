package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Local mmaps: configuration, states, and access to their memory. */
class MmapTest {

    @TempDir Path folder;
    private Machines machines;
    private Machine host;
    private Device pf0;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        host = machines.open(Side.HOST);
        pf0 = machines.device(host, "pf0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private static MemorySegment heap() {
        return MemorySegment.ofArray(new byte[64]);
    }

    private Mmap complete() {
        return machines.add(
                Mmap.create()
                        .setMemory(heap())
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(pf0));
    }

    @Test
    @Clause("core-004")
    void shouldBeCreatedAsAnInstanceOfItsOwn() {
        Mmap first = machines.add(Mmap.create());
        Mmap second = machines.add(Mmap.create());
        assertThat(second).isNotSameAs(first);
        first.setMemory(heap()).setPermissions(Permissions.LOCAL_READ_WRITE).addDevice(pf0).start();
        assertThat(first.sizeBytes()).isEqualTo(64);
        assertThat(second.state()).isEqualTo(Mmap.State.IDLE);
        assertThat(second.sizeBytes()).as("nothing of the other").isZero();
        assertThat(second.devices()).isEmpty();
        Thrown.with(Status.BAD_STATE, second::permissions).hasMessageContaining("item=permissions");
    }

    @Test
    @Clause({"core-004", "core-006", "core-007"})
    void shouldGoFromCreateToClose() {
        Mmap mmap = complete();
        assertThat(mmap.state()).isEqualTo(Mmap.State.IDLE);
        mmap.start();
        assertThat(mmap.state()).isEqualTo(Mmap.State.STARTED);
        assertThat(mmap.sizeBytes()).isEqualTo(64);
        assertThat(mmap.permissions()).isEqualTo(Permissions.LOCAL_READ_WRITE);
        assertThat(mmap.isImported()).isFalse();
        mmap.stop();
        Thrown.with(Status.BAD_STATE, mmap::stop).hasMessageContaining("not started");
        mmap.close();
        mmap.close();
        assertThat(mmap.state()).isEqualTo(Mmap.State.CLOSED);
        Thrown.with(Status.BAD_STATE, mmap::start).hasMessageContaining("closed");
        Thrown.with(Status.BAD_STATE, mmap::segment).hasMessageContaining("closed");
    }

    @Test
    @Clause({"core-005", "core-064"})
    void shouldHoldTheMemoryThatOneCallSetsAndBufsPointInto() {
        MemorySegment memory = heap();
        Mmap mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(pf0)
                                .start());
        assertThat(mmap.sizeBytes()).isEqualTo(64);
        BufInventory inventory = machines.add(BufInventory.create(1).start());
        Buf buf = inventory.bufByData(mmap, 60, 4);
        buf.segment().set(ValueLayout.JAVA_BYTE, 3, (byte) 9);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 63)).isEqualTo((byte) 9);
        Thrown.with(Status.INVALID_VALUE, () -> buf.reuseByData(mmap, 61, 4));
        buf.release();
    }

    @Test
    @Clause("core-005")
    void shouldHoldSharedAndLocalMemoryToTheLastByte() {
        SharedMemory shared = machines.add(SharedMemory.allocate(100));
        LocalMemory local = machines.add(LocalMemory.allocate(100));
        Mmap overShared = machines.add(Mmap.create().setMemory(shared));
        Mmap overLocal = machines.add(Mmap.create().setMemory(local));
        assertThat(overShared.segment()).isEqualTo(shared.segment());
        assertThat(overLocal.segment()).isEqualTo(local.segment());
        BufInventory inventory = machines.add(BufInventory.create(1).start());
        for (Mmap mmap : List.of(overShared, overLocal)) {
            assertThat(mmap.sizeBytes()).isEqualTo(100);
            mmap.setPermissions(Permissions.LOCAL_READ_WRITE).addDevice(pf0).start();
            inventory.bufByData(mmap, 99, 1).release();
            Thrown.with(Status.INVALID_VALUE, () -> inventory.bufByData(mmap, 99, 2));
        }
    }

    @Test
    @Clause("core-079")
    void shouldNameTheItemThatIsMissingAtStart() {
        Mmap mmap = Mmap.create();
        Thrown.with(Status.BAD_STATE, mmap::start).hasMessageContaining("item=memory");
        mmap.setMemory(heap());
        Thrown.with(Status.BAD_STATE, mmap::start).hasMessageContaining("item=permissions");
        mmap.setPermissions(Permissions.LOCAL_READ_ONLY);
        Thrown.with(Status.BAD_STATE, mmap::start).hasMessageContaining("item=device");
        mmap.addDevice(pf0).start();
        mmap.close();
    }

    @Test
    @Clause({"core-065", "core-260"})
    void shouldTakeItsMemoryOnceAndNoConfigurationAfterStart() {
        Mmap mmap = complete();
        Thrown.with(Status.BAD_STATE, () -> mmap.setMemory(heap()));
        mmap.start();
        Thrown.with(Status.BAD_STATE, mmap::start);
        Thrown.with(Status.BAD_STATE, () -> mmap.setPermissions(Permissions.LOCAL_READ_ONLY));
        Device pf1 = machines.device(host, "pf1");
        Thrown.with(Status.BAD_STATE, () -> mmap.addDevice(pf1));
        Thrown.with(Status.BAD_STATE, () -> mmap.removeDevice(pf0));
        Thrown.with(Status.BAD_STATE, () -> mmap.setMemory(heap()));
        assertThat(mmap.permissions()).isEqualTo(Permissions.LOCAL_READ_WRITE);
        assertThat(mmap.devices()).containsExactly(pf0);
    }

    @Test
    @Clause({"core-009", "core-065"})
    void shouldStartAgainWithOtherPermissionsButTheSameMemory() {
        Mmap mmap = complete().start();
        mmap.stop();
        mmap.setPermissions(Permissions.LOCAL_READ_ONLY).start();
        assertThat(mmap.permissions()).isEqualTo(Permissions.LOCAL_READ_ONLY);
        mmap.stop();
        Thrown.with(Status.BAD_STATE, () -> mmap.setMemory(heap()));
    }

    @Test
    @Clause({"core-069", "core-077"})
    void shouldBeOpenToSeveralDevicesAndToNoOther() {
        Device vf = machines.device(host, "pf0vf0");
        Device secondVf = machines.device(host, "pf0vf1");
        Device other = machines.device(host, "pf1");
        Mmap ofOne = complete().start();
        assertThat(Refusal.statusOf(Regions.checkUse(ofOne, pf0, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.checkUse(ofOne, vf, Permissions.LOCAL_READ_ONLY)))
                .isEqualTo(Status.NOT_PERMITTED);
        Mmap mmap = complete().addDevice(vf).addDevice(secondVf).start();
        assertThat(mmap.devices()).containsExactly(pf0, vf, secondVf);
        for (Device device : mmap.devices()) {
            assertThat(
                            Refusal.statusOf(
                                    Regions.checkUse(mmap, device, Permissions.LOCAL_READ_WRITE)))
                    .as("%s", device)
                    .isEqualTo(Status.SUCCESS);
        }
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, other, Permissions.LOCAL_READ_ONLY)))
                .isEqualTo(Status.NOT_PERMITTED);
        Device pf0Again = machines.device(host, "pf0");
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, pf0Again, Permissions.LOCAL_READ_ONLY)))
                .as("another opening of the same function")
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseDevicesTwiceUnknownOnesAndThoseOfAnotherMachine() {
        Mmap mmap = complete();
        Thrown.with(Status.ALREADY_EXIST, () -> mmap.addDevice(pf0));
        Device ofDpu = machines.device(Side.DPU, "p0");
        Thrown.with(Status.INVALID_VALUE, () -> mmap.addDevice(ofDpu))
                .hasMessageContainingAll("p0", "dpu of", "host of");
        Thrown.with(Status.NOT_FOUND, () -> mmap.removeDevice(ofDpu));
        mmap.removeDevice(pf0);
        Thrown.with(Status.BAD_STATE, mmap::start).hasMessageContaining("item=device");
    }

    @Test
    void shouldKeepItsDevicesOpen() {
        Device vf = host.findDevice("pf0vf0").open();
        Mmap mmap = complete().addDevice(vf).start();
        Thrown.with(Status.IN_USE, vf::close).hasMessageContaining("mmap");
        mmap.stop();
        mmap.removeDevice(vf);
        vf.close();
        Thrown.with(Status.BAD_STATE, () -> mmap.addDevice(vf));
    }

    @Test
    void shouldKeepNothingOpenUntilItIsStarted() {
        SharedMemory shared = SharedMemory.allocate(64);
        LocalMemory local = LocalMemory.allocate(64);
        Device vf = host.findDevice("pf0vf0").open();
        Mmap ofShared = Mmap.create().setMemory(shared);
        Mmap ofLocal = Mmap.create().setMemory(local);
        Mmap ofDevice = Mmap.create().setMemory(heap());
        for (Mmap mmap : List.of(ofShared, ofLocal, ofDevice)) {
            mmap.setPermissions(Permissions.LOCAL_READ_WRITE).addDevice(pf0);
        }
        ofDevice.addDevice(vf);
        shared.close();
        local.close();
        vf.close();
        Thrown.with(Status.BAD_STATE, ofShared::start)
                .hasMessageContainingAll("sharedMemoryBytes=64", "user=mmap of 64 bytes");
        Thrown.with(Status.BAD_STATE, ofLocal::start).hasMessageContaining("localMemoryBytes=64");
        Thrown.with(Status.BAD_STATE, ofDevice::start).hasMessageContaining("pf0vf0");
        assertThat(ofShared.segment().scope().isAlive()).isFalse();
        assertThat(ofDevice.removeDevice(vf).start().state()).isEqualTo(Mmap.State.STARTED);
        ofDevice.close();
    }

    /** The devices that came first were taken already. */
    @Test
    void shouldGiveBackWhatAFailedStartHasTaken() {
        SharedMemory shared = SharedMemory.allocate(64);
        Device first = host.findDevice("pf0").open();
        Device second = host.findDevice("pf0vf0").open();
        Mmap mmap =
                Mmap.create()
                        .setMemory(shared)
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(first)
                        .addDevice(second);
        second.close();
        for (int i = 0; i < 3; i++) {
            Thrown.with(Status.BAD_STATE, mmap::start).hasMessageContaining("pf0vf0");
        }
        first.close();
        shared.close();
    }

    @Test
    void shouldKeepItsMemoryOpenAfterAStopWhileItsBufsAreInUse() {
        SharedMemory shared = SharedMemory.allocate(64);
        Device vf = host.findDevice("pf0vf0").open();
        Mmap mmap =
                Mmap.create()
                        .setMemory(shared)
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(pf0)
                        .addDevice(vf)
                        .start();
        try (BufInventory inventory = BufInventory.create(1).start()) {
            Buf buf = inventory.bufByAddress(mmap, 0, 64);
            mmap.stop();
            Thrown.with(Status.IN_USE, shared::close);
            Thrown.with(Status.IN_USE, vf::close);
            mmap.removeDevice(vf);
            vf.close();
            mmap.start();
            mmap.stop();
            Thrown.with(Status.IN_USE, shared::close).hasMessageContaining("users=1");
            Thrown.with(Status.BAD_STATE, () -> inventory.bufByAddress(mmap, 0, 64));
            Thrown.with(Status.IN_USE, shared::close);
            buf.release();
        }
        shared.close();
        Thrown.with(Status.BAD_STATE, mmap::start);
        mmap.close();
    }

    @Test
    @Clause("core-071")
    void shouldRefuseAccessBeyondItsPermissions() {
        Mmap mmap = complete().setPermissions(Permissions.LOCAL_READ_ONLY);
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, Permissions.LOCAL_READ_ONLY)))
                .isEqualTo(Status.BAD_STATE);
        mmap.start();
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, Permissions.LOCAL_READ_ONLY)))
                .isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.NOT_PERMITTED);
        mmap.stop();
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, Permissions.LOCAL_READ_ONLY)))
                .isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldRefuseMemoryThatCannotBeWhatIsPermitted() {
        Mmap mmap =
                Mmap.create()
                        .setMemory(heap().asReadOnly())
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(pf0);
        Thrown.with(Status.INVALID_VALUE, mmap::start).hasMessageContaining("read-only");
        mmap.setPermissions(Permissions.LOCAL_READ_ONLY).start();
        mmap.close();
        Mmap empty = Mmap.create();
        Thrown.with(
                Status.INVALID_VALUE, () -> empty.setMemory(MemorySegment.ofArray(new byte[0])));
    }

    @Test
    @Clause("core-076")
    void shouldKeepSharedMemoryOpenAndLeaveItToItsOwner() {
        Thrown.with(Status.INVALID_VALUE, () -> SharedMemory.allocate(0));
        SharedMemory memory = SharedMemory.allocate(100);
        assertThat(memory.sizeBytes()).isEqualTo(100);
        assertThat(memory.segment().byteSize()).isEqualTo(100);
        memory.segment().fill((byte) 0x5c);
        Mmap mmap =
                Mmap.create()
                        .setMemory(memory)
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(pf0)
                        .start();
        assertThat(mmap.segment()).isEqualTo(memory.segment());
        Thrown.with(Status.IN_USE, memory::close).hasMessageContaining("mmap");
        assertThat(memory.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x5c);
        mmap.close();
        assertThat(memory.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x5c);
        memory.close();
        memory.close();
        Thrown.with(Status.BAD_STATE, memory::segment);
        Thrown.with(Status.BAD_STATE, () -> Mmap.create().setMemory(memory));
    }

    @Test
    void shouldBeKeptOpenByALibrary() {
        Mmap mmap = complete();
        Thrown.with(Status.BAD_STATE, () -> Regions.retain(mmap));
        mmap.start();
        Regions.retain(mmap);
        Thrown.with(Status.NOT_PERMITTED, mmap::close);
        Regions.release(mmap);
        mmap.close();
    }
}
