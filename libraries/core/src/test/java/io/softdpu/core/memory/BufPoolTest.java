package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BufPoolTest {
    private static final int SIZE = 4096;

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private Mmap mmap;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        SharedMemory memory = machines.add(SharedMemory.allocate(SIZE));
        mmap = machines.add(mmap(Mmap.create().setMemory(memory)));
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private Mmap mmap(Mmap withMemory) {
        return withMemory
                .setPermissions(
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                .addDevice(device)
                .start();
    }

    @Test
    @Clause({"core-115", "core-116", "core-120"})
    void shouldHandOutBufsOfOneSizeAtPlacesOfItsOwn() {
        BufPool pool = machines.add(BufPool.create(3, 100, mmap).start());
        assertThat(pool.mmap()).isSameAs(mmap);
        assertThat(pool.elementSizeBytes()).isEqualTo(100);
        assertThat(pool.elementAlignment()).isEqualTo(1);
        assertThat(pool.total()).isEqualTo(pool.free()).isEqualTo(3);
        Buf buf = pool.allocate();
        assertThat(buf.mmap()).isSameAs(mmap);
        assertThat(buf.length()).isEqualTo(buf.tailroom()).isEqualTo(100);
        assertThat(buf.dataLength()).isEqualTo(buf.headroom()).isZero();
        assertThat(buf.references()).isEqualTo(1);
        assertThat(pool.free()).isEqualTo(2);
        buf.setData(buf.offset() + 10, 20);
        buf.release();
        assertThat(pool.free()).isEqualTo(3);
        Buf next = pool.allocate();
        assertThat(next.dataOffset())
                .as("without the data of the one before")
                .isEqualTo(next.offset());
        assertThat(next.dataLength()).isZero();
        next.release();
    }

    @Test
    @Clause("core-113")
    void shouldAlignItsBufsAndKeepThemApart(SeededRandom random) {
        long base = mmap.segment().address();
        for (int round = 0; round < 200; round++) {
            int elements = (int) random.between(1, 8);
            long size = random.between(1, 200);
            long alignment = 1L << random.between(0, 8);
            BufPool pool =
                    BufPool.create(elements, size, mmap).setElementAlignment(alignment).start();
            assertThat(pool.elementAlignment()).isEqualTo(alignment);
            assertApart(pool, size, base, alignment);
            pool.stop();
            long other = 1L << random.between(0, 8);
            pool.setElementAlignment(other).start();
            assertApart(pool, size, base, other);
            pool.close();
        }
    }

    private static void assertApart(BufPool pool, long size, long base, long alignment) {
        List<Buf> bufs = new ArrayList<>();
        while (pool.free() > 0) {
            bufs.add(pool.allocate());
        }
        bufs.sort(Comparator.comparingLong(Buf::offset));
        long end = 0;
        for (Buf buf : bufs) {
            assertThat((base + buf.offset()) % alignment).isZero();
            assertThat(buf.offset()).as("behind the one before").isGreaterThanOrEqualTo(end);
            assertThat(buf.length()).isEqualTo(size);
            end = buf.offset() + buf.length();
        }
        assertThat(end).isLessThanOrEqualTo(SIZE);
        bufs.forEach(Buf::release);
    }

    @Test
    @Clause("core-113")
    void shouldNeverHandOutAPlaceTwice(SeededRandom random) {
        BufPool pool = machines.add(BufPool.create(16, 64, mmap).start());
        List<Buf> out = new ArrayList<>();
        for (int step = 0; step < 2000; step++) {
            if (pool.free() > 0 && (out.isEmpty() || random.nextBoolean())) {
                Buf taken = pool.allocate();
                assertThat(out).noneMatch(buf -> buf.offset() == taken.offset());
                out.add(taken);
            } else {
                out.remove(random.nextInt(out.size())).release();
            }
            assertThat(pool.free()).isEqualTo(16 - out.size());
        }
        out.forEach(Buf::release);
    }

    @Test
    void shouldAlignToTheMemoryOfAnMmapThatBeginsAnywhere() {
        MemorySegment heap = MemorySegment.ofArray(new byte[1000]).asSlice(3);
        Mmap odd = machines.add(mmap(Mmap.create().setMemory(heap)));
        BufPool pool = machines.add(BufPool.create(2, 10, odd).setElementAlignment(64).start());
        Buf first = pool.allocate();
        Buf second = pool.allocate();
        assertThat(first.offset()).isEqualTo(61);
        assertThat(second.offset()).isEqualTo(125);
        first.release();
        second.release();
    }

    @Test
    @Clause("core-070")
    void shouldRunOutWithAStatusAndComeBack() {
        BufPool pool = machines.add(BufPool.create(2, 8, mmap).start());
        Buf first = pool.allocate();
        Buf second = pool.allocate();
        Thrown.with(Status.EMPTY, pool::allocate)
                .hasMessageContainingAll("total=2", "expected=a buf released, or a larger pool");
        Thrown.with(Status.IN_USE, pool::stop).hasMessageContainingAll("bufs=2", "total=2");
        Thrown.with(Status.IN_USE, pool::close);
        first.release();
        pool.allocate().release();
        second.release();
    }

    @Test
    void shouldRefuseWhatDoesNotFit() {
        Thrown.with(Status.INVALID_VALUE, () -> BufPool.create(0, 8, mmap));
        Thrown.with(
                Status.INVALID_VALUE, () -> BufPool.create(BufInventory.MAX_ELEMENTS + 1, 8, mmap));
        Thrown.with(Status.INVALID_VALUE, () -> BufPool.create(1, 0, mmap));
        BufPool pool = machines.add(BufPool.create(5, 1000, mmap));
        for (long wrong : new long[] {0, -1, 3, 96, Long.MIN_VALUE + 1}) {
            Thrown.with(Status.INVALID_VALUE, () -> pool.setElementAlignment(wrong))
                    .hasMessageContaining("power of two");
        }
        Thrown.with(Status.INITIALIZATION, pool::start)
                .hasMessageContainingAll("elements=5", "elementSizeBytes=1000", "mmapBytes=4096");
        BufPool four = machines.add(BufPool.create(4, 1000, mmap).start());
        Thrown.with(Status.BAD_STATE, () -> four.setElementAlignment(1))
                .hasMessage("pool cannot be configured: state=STARTED, expected=IDLE");
        for (long size : new long[] {SIZE + 1L, Long.MAX_VALUE}) {
            BufPool large = BufPool.create(1, size, mmap);
            Thrown.with(Status.INITIALIZATION, large::start);
            large.setElementAlignment(1L << 62);
            Thrown.with(Status.INITIALIZATION, large::start);
            large.close();
        }
        BufPool exact = BufPool.create(1, SIZE, mmap).start();
        exact.allocate().release();
        exact.close();
    }

    @Test
    void shouldStartAgainAndNotBeforeItsMmap() {
        BufPool pool = BufPool.create(1, 8, mmap);
        Thrown.with(Status.BAD_STATE, pool::allocate);
        Thrown.with(Status.BAD_STATE, pool::stop);
        mmap.stop();
        Thrown.with(Status.BAD_STATE, pool::start).hasMessageContaining("mmap");
        mmap.start();
        pool.start();
        Thrown.with(Status.BAD_STATE, pool::start);
        Thrown.with(Status.NOT_PERMITTED, mmap::close);
        mmap.stop();
        Thrown.with(Status.BAD_STATE, pool::allocate).hasMessageContaining("mmap");
        mmap.start();
        pool.allocate().release();
        pool.stop();
        Thrown.with(Status.BAD_STATE, pool::allocate);
        pool.setElementAlignment(8).start();
        pool.close();
        pool.close();
        Thrown.with(Status.BAD_STATE, pool::start);
        Thrown.with(Status.BAD_STATE, pool::allocate);
        mmap.close();
    }

    @Test
    @Clause({"core-115", "core-120"})
    void shouldKeepItsBufsWhereTheyAre() {
        BufPool pool = machines.add(BufPool.create(1, 8, mmap).start());
        Buf buf = pool.allocate();
        long offset = buf.offset();
        Thrown.with(Status.NOT_PERMITTED, () -> buf.reuseByAddress(mmap, 0, 1))
                .hasMessageContaining("inventory");
        Thrown.with(Status.NOT_PERMITTED, () -> buf.reuseByData(mmap, 0, 1));
        assertThat(buf.offset()).isEqualTo(offset);
        assertThat(buf.length()).isEqualTo(8);
        buf.release();
    }

    @Test
    @Clause("core-089")
    void shouldGiveBufsThatAreLikeAnyOther() {
        BufPool pool = machines.add(BufPool.create(2, 8, mmap).start());
        BufInventory inventory = machines.add(BufInventory.create(2).start());
        Buf head = inventory.bufByAddress(mmap, 2000, 4);
        Buf buf = pool.allocate();
        buf.retain();
        buf.release();
        head.chain(buf);
        assertThat(Refusal.statusOf(Regions.markDestination(head, 2))).isEqualTo(Status.SUCCESS);
        Thrown.with(Status.IN_USE, buf::resetDataLength);
        BufLists.appendData(head, 10);
        Regions.clearInFlight(head);
        assertThat(buf.dataLength()).isEqualTo(6);
        Buf twin = inventory.duplicate(buf);
        assertThat(twin.dataLength()).isEqualTo(6);
        twin.reuseByData(mmap, 0, 1);
        twin.release();
        head.release();
        assertThat(pool.free()).isEqualTo(2);
        assertThat(inventory.free()).isEqualTo(2);
    }

    @Test
    @Clause("core-088")
    void shouldLieInImportedMemoryAsWell() {
        Device p0 = machines.device(Side.DPU, "p0");
        Mmap remote = machines.add(Mmap.createFromExport(mmap.exportPci(device), p0));
        BufPool pool = machines.add(BufPool.create(4, 64, remote).setElementAlignment(64).start());
        Buf buf = pool.allocate();
        assertThat(buf.mmap().isImported()).isTrue();
        Thrown.with(Status.NOT_PERMITTED, buf::segment);
        assertThat(Regions.segmentOf(buf).byteSize()).isEqualTo(SIZE);
        buf.release();
    }
}
