package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BufArrayTest {
    private static final int SIZE = 4096;

    @TempDir Path folder;
    private Machines machines;
    private Mmap mmap;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        Device device = machines.device(Side.HOST, "pf0");
        mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(MemorySegment.ofArray(new byte[SIZE]))
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(device)
                                .start());
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private BufArray array(int elements, long sizeBytes, long startOffset) {
        return machines.add(BufArray.create(elements).setMemory(mmap, sizeBytes, startOffset));
    }

    @Test
    @Clause({"core-115", "core-116", "core-119"})
    void shouldHaveOneBufForEachNumber() {
        BufArray array = array(4, 100, 7).setTarget(BufArray.Target.CPU).start();
        assertThat(array.total()).isEqualTo(4);
        assertThat(array.elementSizeBytes()).isEqualTo(100);
        for (int i = 0; i < 4; i++) {
            Buf buf = array.get(i);
            assertThat(array.get(i)).isSameAs(buf);
            assertThat(buf.mmap()).isSameAs(mmap);
            assertThat(buf.offset()).isEqualTo(7 + 100L * i);
            assertThat(buf.length()).isEqualTo(buf.tailroom()).isEqualTo(100);
            assertThat(buf.dataLength()).isZero();
            assertThat(buf.references()).isEqualTo(1);
        }
        Thrown.with(Status.INVALID_VALUE, () -> array.get(-1)).hasMessageContaining("index=-1");
        Thrown.with(Status.INVALID_VALUE, () -> array.get(4))
                .hasMessageContainingAll("index=4", "total=4");
    }

    /** A refused target leaves the array as it was: the one of the CPU works. */
    @ParameterizedTest
    @EnumSource(names = {"GPU", "DPA"})
    @Clause(
            value = "core-278",
            refused = "no accelerator has kernels that would use the bufs: fidelity.md")
    void shouldRefuseTargetsThatThereAreNot(BufArray.Target target) {
        BufArray array = array(2, 8, 0).setTarget(BufArray.Target.CPU);
        Thrown.with(Status.NOT_SUPPORTED, () -> array.setTarget(target))
                .hasMessageContainingAll("target=" + target, "supported=CPU");
        array.start();
        assertThat(array.get(0).length()).isEqualTo(8);
        assertThat(Refusal.statusOf(Regions.markSource(array.get(1), 1)))
                .as("usable by a task")
                .isEqualTo(Status.SUCCESS);
        Regions.clearInFlight(array.get(1));
    }

    @Test
    @Clause({"core-115", "core-119"})
    void shouldKeepItsBufs() {
        BufArray array = array(2, 8, 0).start();
        Buf buf = array.get(0);
        Thrown.with(Status.NOT_PERMITTED, buf::release).hasMessageContaining("array's");
        assertThat(buf.references()).isEqualTo(1);
        Thrown.with(Status.NOT_PERMITTED, () -> buf.reuseByData(mmap, 0, 1));
        buf.retain();
        Thrown.with(Status.IN_USE, array::stop).hasMessageContaining("index=0");
        buf.release();
        assertThat(Refusal.statusOf(Regions.markSource(array.get(1), 1))).isEqualTo(Status.SUCCESS);
        Thrown.with(Status.IN_USE, array::close).hasMessageContaining("index=1");
        Regions.clearInFlight(array.get(1));
        array.stop();
        assertThat(buf.references()).isZero();
        Thrown.with(Status.BAD_STATE, buf::resetDataLength);
        Thrown.with(Status.BAD_STATE, buf::mmap);
    }

    @Test
    void shouldLetItsBufsIntoListsAndHaveThemBack() {
        BufArray array = array(3, 8, 0).start();
        BufInventory inventory = machines.add(BufInventory.create(2).start());
        Buf head = inventory.bufByData(mmap, 1000, 8);
        array.get(1).setData(8, 5);
        head.chain(array.get(1));
        head.chain(inventory.bufByData(mmap, 2000, 8));
        Thrown.with(Status.IN_USE, array::stop).hasMessageContaining("index=1");
        head.release();
        assertThat(inventory.free()).isEqualTo(2);
        assertThat(array.get(1).isInList()).isFalse();
        assertThat(array.get(1).references()).isEqualTo(1);
        assertThat(array.get(1).dataLength()).as("left as it was").isEqualTo(5);
        Buf first = array.get(0);
        first.chain(array.get(2));
        Thrown.with(Status.NOT_PERMITTED, first::release);
        assertThat(first.listLength()).isEqualTo(2);
        first.unchain(array.get(2));
        array.stop();
    }

    @Test
    void shouldRefuseWhatDoesNotFit() {
        Thrown.with(Status.INVALID_VALUE, () -> BufArray.create(0));
        BufArray array = array(4, 1024, 0);
        Thrown.with(Status.INVALID_VALUE, () -> array.setMemory(mmap, 0, 0));
        Thrown.with(Status.INVALID_VALUE, () -> array.setMemory(mmap, 8, -1));
        array.setMemory(mmap, 1024, 1);
        Thrown.with(Status.INITIALIZATION, array::start)
                .hasMessageContainingAll("startOffsetBytes=1", "mmapBytes=4096");
        array.setMemory(mmap, Long.MAX_VALUE / 2, 0);
        Thrown.with(Status.INITIALIZATION, array::start);
        array.setMemory(mmap, 1, Long.MAX_VALUE);
        Thrown.with(Status.INITIALIZATION, array::start);
        array.setMemory(mmap, 1024, 0).start();
    }

    @Test
    void shouldStartAgainElsewhereAndNotBeforeItsMmap() {
        BufArray array = machines.add(BufArray.create(2));
        Thrown.with(Status.BAD_STATE, array::start).hasMessageContaining("item=memory");
        Thrown.with(Status.BAD_STATE, () -> array.get(0));
        Thrown.with(Status.BAD_STATE, array::stop);
        array.setMemory(mmap, 8, 0);
        mmap.stop();
        Thrown.with(Status.BAD_STATE, array::start).hasMessageContaining("mmap");
        mmap.start();
        array.start();
        Thrown.with(Status.BAD_STATE, array::start);
        Thrown.with(Status.BAD_STATE, () -> array.setMemory(mmap, 8, 0));
        Thrown.with(Status.BAD_STATE, () -> array.setTarget(BufArray.Target.CPU));
        Thrown.with(Status.NOT_PERMITTED, mmap::close);
        array.get(0).setData(0, 8);
        array.stop();
        array.setMemory(mmap, 16, 100).start();
        assertThat(array.get(1).offset()).isEqualTo(116);
        assertThat(array.get(0).dataLength()).isZero();
        array.close();
        array.close();
        Thrown.with(Status.BAD_STATE, array::start);
        Thrown.with(Status.BAD_STATE, () -> array.get(0));
        mmap.close();
    }
}
