package io.softdpu.core.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory that was found right once, and is not any more. */
class MemoryRightTest {
    private static final Permissions WRITABLE =
            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE);

    @TempDir Path folder;
    private Machines machines;
    private Device pf0;
    private Mmap mmap;
    private MemoryRight writes;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        pf0 = machines.device(Side.HOST, "pf0");
        mmap = started(pf0, WRITABLE);
        writes = new MemoryRight(pf0, Permissions.LOCAL_READ_WRITE);
        assertThat(check(mmap)).isEqualTo(Status.SUCCESS);
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private Mmap started(Device device, Permissions permissions) {
        return machines.add(
                Mmap.create()
                        .setMemory(machines.add(SharedMemory.allocate(64)))
                        .setPermissions(permissions)
                        .addDevice(device)
                        .start());
    }

    private Status check(Mmap used) {
        return Refusal.statusOf(writes.check(used));
    }

    @Test
    void shouldNotOutliveAStop() {
        mmap.stop();
        assertThat(check(mmap)).isEqualTo(Status.BAD_STATE);
        mmap.start();
        assertThat(check(mmap)).isEqualTo(Status.SUCCESS);
        mmap.stop();
        mmap.setPermissions(Permissions.LOCAL_READ_ONLY).start();
        assertThat(check(mmap)).as("other permissions").isEqualTo(Status.NOT_PERMITTED);
        mmap.stop();
        mmap.setPermissions(WRITABLE).start();
        assertThat(check(mmap)).isEqualTo(Status.SUCCESS);
        Device pf1 = machines.device(pf0.machine(), "pf1");
        mmap.stop();
        mmap.removeDevice(pf0).addDevice(pf1).start();
        assertThat(check(mmap)).as("another device").isEqualTo(Status.NOT_PERMITTED);
        mmap.close();
        assertThat(check(mmap)).isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldBeThatOfOneMmapAlone() {
        Mmap readable = started(pf0, Permissions.LOCAL_READ_ONLY);
        Mmap foreign = started(machines.device(pf0.machine(), "pf1"), WRITABLE);
        for (int i = 0; i < 3; i++) {
            assertThat(check(readable)).isEqualTo(Status.NOT_PERMITTED);
            assertThat(check(foreign)).isEqualTo(Status.NOT_PERMITTED);
            assertThat(check(mmap)).isEqualTo(Status.SUCCESS);
        }
    }

    @Test
    void shouldLookAtEachElementOfAList() {
        BufInventory inventory = machines.add(BufInventory.create(3).start());
        Buf head = inventory.bufByAddress(mmap, 0, 8);
        head.chain(inventory.bufByAddress(mmap, 8, 8));
        assertThat(Refusal.statusOf(writes.check(head))).isEqualTo(Status.SUCCESS);
        head.chain(inventory.bufByAddress(started(pf0, Permissions.LOCAL_READ_ONLY), 0, 8));
        assertThat(Refusal.statusOf(writes.check(head))).isEqualTo(Status.NOT_PERMITTED);
        head.release();
    }

    @Test
    void shouldEndWhenTheExporterRevokesTheMemory() {
        Device p0 = machines.device(Side.DPU, "p0");
        Mmap imported = machines.add(Mmap.createFromExport(mmap.exportPci(pf0), p0));
        BufInventory inventory = machines.add(BufInventory.create(1).start());
        Buf buf = inventory.bufByAddress(imported, 0, 8); // keeps it open
        writes = new MemoryRight(p0, Permissions.LOCAL_READ_WRITE);
        assertThat(check(imported)).isEqualTo(Status.SUCCESS);
        mmap.stop();
        for (int i = 0; i < 2; i++) {
            assertThat(check(imported)).isEqualTo(Status.SHUTDOWN);
        }
        buf.release();
    }

    /** Memory of the program, which nothing keeps open, is looked at each time. */
    @Test
    void shouldEndWhenTheProgramClosesItsMemory() {
        try (Arena arena = Arena.ofShared()) {
            mmap =
                    machines.add(
                            Mmap.create()
                                    .setMemory(arena.allocate(64))
                                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                                    .addDevice(pf0)
                                    .start());
            assertThat(check(mmap)).isEqualTo(Status.SUCCESS);
        }
        assertThat(check(mmap)).isEqualTo(Status.BAD_STATE);
    }
}
