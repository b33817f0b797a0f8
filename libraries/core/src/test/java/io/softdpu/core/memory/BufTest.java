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
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BufTest {
    private static final int SIZE = 4096;

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private Mmap mmap;
    private BufInventory inventory;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        mmap = machines.add(localMmap(MemorySegment.ofArray(new byte[SIZE])));
        inventory = machines.add(BufInventory.create(4));
        inventory.start();
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private Mmap localMmap(MemorySegment memory) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(device)
                .start();
    }

    @Test
    @Clause({"core-090", "core-091", "core-092"})
    void shouldHaveHeadroomDataroomAndTailroom() {
        Buf buf = inventory.bufByArgs(mmap, 100, 1000, 150, 200);
        assertThat(buf.mmap()).isSameAs(mmap);
        assertThat(buf.offset()).isEqualTo(100);
        assertThat(buf.length()).isEqualTo(1000);
        assertThat(buf.dataOffset()).isEqualTo(150);
        assertThat(buf.dataLength()).isEqualTo(200);
        assertThat(buf.headroom()).isEqualTo(50);
        buf.release();
    }

    @Test
    @Clause({"core-093", "core-094"})
    void shouldHaveTailroomUpToItsEnd() {
        Buf buf = inventory.bufByArgs(mmap, 100, 1000, 150, 200);
        assertThat(buf.tailroom()).isEqualTo(750);
        assertThat(buf.headroom() + buf.dataLength() + buf.tailroom()).isEqualTo(buf.length());
        buf.setData(1000, 100);
        assertThat(buf.tailroom()).as("none").isZero();
        assertThat(buf.headroom()).isEqualTo(900);
        buf.release();
    }

    @Test
    @Clause("core-273")
    void shouldBeginWithoutDataByAddressAndFullByData() {
        Buf empty = inventory.bufByAddress(mmap, 10, 20);
        assertThat(empty.dataOffset()).isEqualTo(10);
        assertThat(empty.dataLength()).isZero();
        assertThat(empty.tailroom()).isEqualTo(20);
        Buf full = inventory.bufByData(mmap, 10, 20);
        assertThat(full.dataLength()).isEqualTo(20);
        assertThat(full.tailroom()).isZero();
        full.setData(15, 5);
        full.resetDataLength();
        assertThat(full.dataLength()).isZero();
        assertThat(full.dataOffset()).isEqualTo(15);
        empty.release();
        full.release();
    }

    @Test
    @Clause({"core-100", "core-102"})
    void shouldGrowItsDataByWhatALibraryAppends() {
        Buf buf = inventory.bufByArgs(mmap, 0, 100, 10, 20);
        Regions.appendData(buf, 30);
        assertThat(buf.dataOffset()).isEqualTo(10);
        assertThat(buf.dataLength()).isEqualTo(50);
        Thrown.with(Status.INVALID_VALUE, () -> Regions.appendData(buf, 41))
                .hasMessageContainingAll("sizeBytes=41", "tailroom=40");
        Thrown.with(Status.INVALID_VALUE, () -> Regions.appendData(buf, -1));
        assertThat(buf.dataLength()).isEqualTo(50);
        buf.release();
    }

    @Test
    @Clause("core-090")
    void shouldRefuseDataThatIsNotWithinTheBuf() {
        Buf buf = inventory.bufByAddress(mmap, 100, 50);
        long[][] wrong = {
            {99, 1},
            {100, 51},
            {151, 0},
            {150, 1},
            {100, -1},
            {Long.MAX_VALUE, 1},
            {100, Long.MAX_VALUE},
            {-1, 0}
        };
        for (long[] data : wrong) {
            Thrown.with(Status.INVALID_VALUE, () -> buf.setData(data[0], data[1]));
        }
        buf.setData(150, 0);
        assertThat(buf.headroom()).isEqualTo(50);
        Thrown.with(Status.INVALID_VALUE, () -> inventory.bufByArgs(mmap, 0, 10, 5, 6));
        buf.release();
        assertThat(inventory.free()).isEqualTo(4);
    }

    @Test
    @Clause({"core-070", "core-066"})
    void shouldRunOutWithAStatusAndComeBack() {
        List<Buf> bufs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            bufs.add(inventory.bufByAddress(mmap, i, 1));
        }
        assertThat(inventory.free()).isZero();
        Thrown.with(Status.NO_MEMORY, () -> inventory.bufByAddress(mmap, 0, 1))
                .hasMessageContainingAll(
                        "total=4", "expected=a buf released, or a larger inventory");
        Thrown.with(Status.IN_USE, inventory::stop)
                .hasMessage(
                        "bufs are in use: bufs=4, total=4, expected=each released;"
                                + " set SOFTDPU_SANITIZE, and each is named with its place");
        Thrown.with(Status.IN_USE, inventory::close);
        bufs.getFirst().release();
        assertThat(inventory.bufByAddress(mmap, 9, 1))
                .as("the only one that is free")
                .isSameAs(bufs.getFirst());
        bufs.forEach(Buf::release);
        assertThat(inventory.free()).isEqualTo(inventory.total()).isEqualTo(4);
    }

    @Test
    @Clause({"core-261", "core-262"})
    void shouldHandOutBufsOnlyWhileStarted() {
        BufInventory second = BufInventory.create(1);
        Thrown.with(Status.BAD_STATE, () -> second.bufByAddress(mmap, 0, 1));
        second.start();
        Thrown.with(Status.BAD_STATE, second::start);
        second.bufByAddress(mmap, 0, 1).release();
        second.stop();
        Thrown.with(Status.BAD_STATE, () -> second.bufByAddress(mmap, 0, 1));
        Thrown.with(Status.BAD_STATE, second::stop);
        second.start();
        second.bufByAddress(mmap, 0, 1).release();
        second.close();
        second.close();
        Thrown.with(Status.BAD_STATE, second::start);
        Thrown.with(Status.BAD_STATE, () -> second.bufByAddress(mmap, 0, 1));
        Thrown.with(Status.INVALID_VALUE, () -> BufInventory.create(0));
        Thrown.with(Status.INVALID_VALUE, () -> BufInventory.create(BufInventory.MAX_ELEMENTS + 1));
    }

    @Test
    @Clause("core-262")
    void shouldEndByAStopAndACloseAfterIt() {
        BufInventory ended = BufInventory.create(1).start();
        ended.bufByAddress(mmap, 0, 1).release();
        ended.stop();
        ended.close();
        Thrown.with(Status.BAD_STATE, ended::start).hasMessageContaining("state=CLOSED");
        Thrown.with(Status.BAD_STATE, ended::stop);
        Thrown.with(Status.BAD_STATE, () -> ended.bufByAddress(mmap, 0, 1));
        ended.close();
    }

    @Test
    @Clause("core-114")
    void shouldRefuseRangesOutsideAndMmapsThatAreNotStarted() {
        long[][] wrong = {
            {-1, 1}, {0, SIZE + 1}, {SIZE, 1}, {SIZE + 1, 0}, {0, -1}, {1, Long.MAX_VALUE}
        };
        for (long[] range : wrong) {
            Thrown.with(
                            Status.INVALID_VALUE,
                            () -> inventory.bufByAddress(mmap, range[0], range[1]))
                    .hasMessageContaining("sizeBytes=4096");
        }
        inventory.bufByAddress(mmap, SIZE, 0).release();
        Mmap idle = Mmap.create().setMemory(MemorySegment.ofArray(new byte[1]));
        Thrown.with(Status.BAD_STATE, () -> inventory.bufByAddress(idle, 0, 1))
                .hasMessageContaining("not started");
        idle.close();
        Thrown.with(Status.INVALID_VALUE, () -> inventory.bufByAddress(null, 0, 1))
                .hasMessageContaining("argument=mmap");
        assertThat(inventory.free()).isEqualTo(4);
        assertThat(Buf.class.getConstructors()).as("ways without an inventory").isEmpty();
    }

    @Test
    void shouldCountReferencesAndRefuseAReleasedBuf() {
        Buf buf = inventory.bufByAddress(mmap, 0, 8);
        buf.retain();
        assertThat(buf.references()).isEqualTo(2);
        buf.release();
        assertThat(inventory.free()).isEqualTo(3);
        buf.release();
        assertThat(buf.references()).isZero();
        Thrown.with(Status.BAD_STATE, buf::release);
        Thrown.with(Status.BAD_STATE, buf::retain);
        Thrown.with(Status.BAD_STATE, buf::mmap);
        Thrown.with(Status.BAD_STATE, buf::resetDataLength);
        Thrown.with(Status.BAD_STATE, () -> inventory.duplicate(buf));
        assertThat(Refusal.statusOf(Regions.markSource(buf, 1))).isEqualTo(Status.BAD_STATE);
    }

    @Test
    @Clause("core-110")
    void shouldBelongToTheLibraryWhileInFlight() {
        Buf buf = inventory.bufByAddress(mmap, 0, 8);
        assertThat(Refusal.statusOf(Regions.markDestination(buf, 1))).isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.markSource(buf, 1)))
                .as("one task at a time")
                .isEqualTo(Status.IN_USE);
        assertThat(Regions.markSource(buf, 1).message()).contains("usedAs=destination,");
        Thrown.with(Status.IN_USE, buf::release);
        Thrown.with(Status.IN_USE, () -> buf.setData(0, 1));
        Thrown.with(Status.IN_USE, buf::resetDataLength);
        Thrown.with(Status.IN_USE, () -> buf.reuseByData(mmap, 0, 1));
        buf.retain();
        buf.release();
        Regions.appendData(buf, 8);
        Regions.clearInFlight(buf);
        buf.release();
        assertThat(inventory.free()).isEqualTo(4);
    }

    @Test
    void shouldNotDescribeAnotherPartOfMemoryThatWasStopped() {
        Buf buf = inventory.bufByData(mmap, 0, 8);
        mmap.stop();

        Thrown.with(Status.BAD_STATE, () -> buf.reuseByData(mmap, 8, 16))
                .hasMessageContaining("mmap is not started");

        assertThat(buf.length()).isEqualTo(8);
        buf.release();
    }

    @Test
    @Clause({"core-068", "core-116"})
    void shouldCoverPartsOfSeveralMmapsFromSeveralInventories() {
        Mmap other = localMmap(MemorySegment.ofArray(new byte[16]));
        BufInventory second = BufInventory.create(1);
        second.start();
        Buf a = inventory.bufByData(mmap, 0, SIZE);
        Buf b = second.bufByData(mmap, 8, 8);
        Buf c = inventory.bufByData(other, 0, 16);
        assertThat(List.of(a.mmap(), b.mmap(), c.mmap())).containsExactly(mmap, mmap, other);
        assertCovers(a, mmap.segment());
        assertCovers(b, mmap.segment().asSlice(8, 8));
        assertCovers(c, other.segment());
        b.release();
        Thrown.with(Status.INVALID_VALUE, () -> second.bufByData(mmap, 8, SIZE - 7));
        Thrown.with(Status.INVALID_VALUE, () -> second.bufByAddress(mmap, SIZE - 8, 9));
        Thrown.with(Status.INVALID_VALUE, () -> second.bufByArgs(mmap, SIZE - 8, 9, SIZE - 8, 1));
        Thrown.with(Status.INVALID_VALUE, () -> inventory.bufByData(other, -1, 1));
        assertThat(second.free()).as("all are refused").isEqualTo(1);
        second.close();
        c.reuseByAddress(mmap, 4, 4);
        assertThat(c.mmap()).isSameAs(mmap);
        assertThat(c.dataLength()).isZero();
        other.close();
        c.reuseByData(mmap, 4, 4);
        assertThat(c.dataLength()).isEqualTo(4);
        Thrown.with(Status.BAD_STATE, () -> c.reuseByData(other, 0, 4));
        Thrown.with(Status.INVALID_VALUE, () -> c.reuseByData(mmap, 0, SIZE + 1));
        assertThat(c.dataLength()).isEqualTo(4);
        a.release();
        c.release();
        mmap.close();
    }

    private static void assertCovers(Buf buf, MemorySegment memory) {
        assertThat(buf.segment()).as("the same place").isEqualTo(memory);
        assertThat(buf.segment().byteSize()).isEqualTo(buf.length()).isEqualTo(memory.byteSize());
    }

    @Test
    @Clause({"core-112", "core-118"})
    void shouldTakeBufsOfAnySizeAnywhereInSeveralMmaps() {
        Mmap other = machines.add(localMmap(MemorySegment.ofArray(new byte[16])));
        assertRange(inventory.bufByAddress(mmap, 0, SIZE), mmap, 0, SIZE);
        assertRange(inventory.bufByAddress(other, 3, 7), other, 3, 7);
        assertRange(inventory.bufByData(mmap, SIZE - 1, 1), mmap, SIZE - 1, 1);
        assertRange(inventory.bufByData(other, 16, 0), other, 16, 0);
        assertThat(inventory.free()).isEqualTo(4);
        Buf first = inventory.bufByData(mmap, 100, 1);
        Buf last = inventory.bufByData(other, 15, 1);
        first.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        last.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 2);
        assertThat(mmap.segment().get(ValueLayout.JAVA_BYTE, 100)).isEqualTo((byte) 1);
        assertThat(other.segment().get(ValueLayout.JAVA_BYTE, 15)).isEqualTo((byte) 2);
        first.release();
        last.release();
    }

    private static void assertRange(Buf buf, Mmap of, long offset, long length) {
        assertThat(buf.mmap()).isSameAs(of);
        assertThat(buf.offset()).isEqualTo(offset);
        assertThat(buf.length()).isEqualTo(length);
        assertThat(buf.segment().byteSize()).isEqualTo(length);
        buf.release();
    }

    @Test
    @Clause("core-063")
    void shouldDuplicateTheDescriptionNotTheMemory() {
        Buf buf = inventory.bufByArgs(mmap, 8, 32, 16, 4);
        Buf twin = inventory.duplicate(buf);
        buf.release();
        assertThat(twin.mmap()).isSameAs(mmap);
        assertThat(twin.headroom()).isEqualTo(8);
        assertThat(twin.dataLength()).isEqualTo(4);
        assertThat(twin.tailroom()).isEqualTo(20);
        for (int i = 0; i < SIZE; i++) {
            mmap.segment().set(ValueLayout.JAVA_BYTE, i, (byte) i);
        }
        byte[] before = mmap.segment().toArray(ValueLayout.JAVA_BYTE);
        twin.setData(20, 10);
        assertThat(mmap.segment().toArray(ValueLayout.JAVA_BYTE))
                .as("moved by the description alone")
                .isEqualTo(before);
        twin.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 7);
        assertThat(mmap.segment().get(ValueLayout.JAVA_BYTE, 8)).isEqualTo((byte) 7);
        twin.release();
    }

    @Test
    @Clause("core-098")
    void shouldLeaveTheMemoryAsItIsWhenReleased(SeededRandom random) {
        random.fill(mmap.segment());
        byte[] before = mmap.segment().toArray(ValueLayout.JAVA_BYTE);
        BufPool pool = machines.add(BufPool.create(1, 64, mmap).start());
        Buf list = inventory.bufByArgs(mmap, 1000, 100, 1020, 30);
        list.chain(inventory.bufByData(mmap, 2000, 50));
        Buf pooled = pool.allocate();
        pooled.setDataLength(64);
        list.chain(pooled);
        list.retain();
        list.release();
        list.release();
        assertThat(pool.free()).isEqualTo(1);
        assertThat(mmap.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
    }

    @Test
    @Clause("core-089")
    void shouldBehaveTheSameOverHeapNativeAndSharedMemory() {
        SharedMemory shared = SharedMemory.allocate(SIZE);
        try (Arena arena = Arena.ofConfined()) {
            Mmap overShared =
                    Mmap.create()
                            .setMemory(shared)
                            .setPermissions(Permissions.LOCAL_READ_WRITE)
                            .addDevice(device)
                            .start();
            for (Mmap one : List.of(mmap, localMmap(arena.allocate(SIZE)), overShared)) {
                Buf buf = inventory.bufByAddress(one, 8, 8);
                Regions.segmentOf(buf).set(ValueLayout.JAVA_BYTE, buf.dataOffset(), (byte) 7);
                Regions.appendData(buf, 1);
                assertThat(buf.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
                assertThat(buf.mmap().isImported()).isFalse();
                buf.release();
                one.close();
            }
        }
        shared.close();
    }

    @Test
    @Clause("core-264")
    void shouldKeepItsMmapOpen() {
        Buf buf = inventory.bufByAddress(mmap, 0, 1);
        Thrown.with(Status.NOT_PERMITTED, mmap::close).hasMessageContaining("users=1");
        assertThat(mmap.state()).isEqualTo(Mmap.State.STARTED);
        buf.release();
        mmap.close();
        Thrown.with(Status.BAD_STATE, () -> inventory.bufByAddress(mmap, 0, 1));
    }

    /** The arithmetic against a model of plain numbers, with random calls, right and wrong ones. */
    @Test
    void shouldKeepItsArithmeticUnderAnyCalls(SeededRandom random) {
        for (int round = 0; round < 300; round++) {
            long offset = random.between(0, SIZE);
            long length = random.between(0, SIZE - offset);
            Buf buf = inventory.bufByAddress(mmap, offset, length);
            long dataOffset = offset;
            long dataLength = 0;
            for (int step = 0; step < 50; step++) {
                long a = random.between(-8, SIZE + 8);
                long b = random.between(-8, SIZE + 8);
                boolean expected;
                boolean done = true;
                switch (random.nextInt(4)) {
                    case 0 -> {
                        expected = a >= offset && b >= 0 && a + b <= offset + length;
                        done = attempt(() -> buf.setData(a, b));
                        dataOffset = expected ? a : dataOffset;
                        dataLength = expected ? b : dataLength;
                    }
                    case 1 -> {
                        expected = a >= 0 && dataOffset + dataLength + a <= offset + length;
                        done = attempt(() -> Regions.appendData(buf, a));
                        dataLength += expected ? a : 0;
                    }
                    case 2 -> {
                        expected = true;
                        buf.resetDataLength();
                        dataLength = 0;
                    }
                    default -> {
                        expected = a >= 0 && b >= 0 && a + b <= SIZE;
                        done = attempt(() -> buf.reuseByData(mmap, a, b));
                        if (expected) {
                            offset = a;
                            length = b;
                            dataOffset = a;
                            dataLength = b;
                        }
                    }
                }
                assertThat(done).isEqualTo(expected);
                assertThat(buf.offset()).isEqualTo(offset);
                assertThat(buf.length()).isEqualTo(length);
                assertThat(buf.dataOffset()).isEqualTo(dataOffset);
                assertThat(buf.dataLength()).isEqualTo(dataLength);
                assertThat(buf.headroom()).isEqualTo(dataOffset - offset);
                assertThat(buf.headroom() + buf.dataLength() + buf.tailroom()).isEqualTo(length);
            }
            buf.release();
        }
    }

    private static boolean attempt(Runnable call) {
        try {
            call.run();
            return true;
        } catch (io.softdpu.core.DpuException e) {
            assertThat(e.status()).isEqualTo(Status.INVALID_VALUE);
            return false;
        }
    }
}
