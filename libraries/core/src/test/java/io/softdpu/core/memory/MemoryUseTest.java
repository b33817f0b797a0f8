package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.testkit.Clause;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Use of memory: its cost, its mappings, and its threads. */
class MemoryUseTest {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();
    private static final int SIZE = 1 << 20;

    @TempDir Path folder;
    private Machines machines;
    private Device pf0;
    private Device p0;
    private SharedMemory shared;
    private Mmap mmap;
    private BufInventory inventory;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        pf0 = machines.device(Side.HOST, "pf0");
        p0 = machines.device(Side.DPU, "p0");
        shared = machines.add(SharedMemory.allocate(SIZE));
        mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(shared)
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.LOCAL_READ_WRITE,
                                                AccessFlag.PCI_READ_WRITE))
                                .addDevice(pf0)
                                .start());
        inventory = machines.add(BufInventory.create(8).start());
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    /** Number of bytes of shared memory that this process has mapped. */
    private static long mappings() throws IOException {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains("memfd:")).count();
        }
    }

    @Test
    @Clause("core-073")
    void shouldMapMemoryWhenAnMmapBeginsAndNeverForABuf() throws IOException {
        long before = mappings();
        Mmap imported = machines.add(Mmap.createFromExport(mmap.exportPci(pf0), p0));
        long mapped = mappings();
        assertThat(mapped).as("the import maps the memory").isGreaterThan(before);
        for (int i = 0; i < 1000; i++) {
            Buf buf = inventory.bufByAddress(imported, i, SIZE - i);
            buf.reuseByData(i % 2 == 0 ? mmap : imported, 0, i);
            REGIONS.segmentOf(buf).set(ValueLayout.JAVA_BYTE, 0, (byte) i);
            buf.release();
        }
        assertThat(mappings()).isEqualTo(mapped);
    }

    @Test
    @Clause({"core-263", "core-074"})
    void shouldKeepExportedMemoryInItsPlace() {
        long address = shared.segment().address();
        shared.segment().set(ValueLayout.JAVA_LONG, 8, 1);
        Mmap imported = machines.add(Mmap.createFromExport(mmap.exportPci(pf0), p0));
        MemorySegment far = REGIONS.memoryOf(imported);
        Thrown.with(Status.IN_USE, shared::close);
        System.gc(); // nothing that this could move
        assertThat(mmap.segment().address()).isEqualTo(address);
        assertThat(far.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(1);
        far.set(ValueLayout.JAVA_LONG, 16, 2);
        assertThat(shared.segment().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(classes = {Buf.class, BufInventory.class, BufPool.class, BufArray.class})
    @Clause({"core-096", "core-117"})
    void shouldHaveNothingThatWouldMakeItSafeForSeveralThreads(Class<?> type) {
        Stream<Member> members =
                Stream.concat(
                        Stream.of(type.getDeclaredMethods()), Stream.of(type.getDeclaredFields()));
        assertThat(members)
                .noneMatch(member ->
                        Modifier.isSynchronized(member.getModifiers())
                                || Modifier.isVolatile(member.getModifiers()));
    }

    @Test
    void shouldGoFromThreadToThread() throws InterruptedException {
        Buf buf = inventory.bufByAddress(mmap, 0, 8);
        Thread other =
                new Thread(() -> {
                    buf.setData(0, 4);
                    buf.release();
                    inventory.bufByData(mmap, 0, 8);
                });
        other.start();
        other.join();
        assertThat(buf.references()).as("taken again over there").isEqualTo(1);
        assertThat(buf.dataLength()).isEqualTo(8);
        buf.release();
        assertThat(inventory.free()).isEqualTo(8);
    }

    @Test
    @Clause({"core-095", "core-089", "core-088"})
    void shouldLetTasksUseWhatTheProgramCannotReach() {
        Mmap imported = machines.add(Mmap.createFromExport(mmap.exportPci(pf0), p0));
        Buf remote = inventory.bufByAddress(imported, 64, 64);
        Buf near = inventory.bufByAddress(mmap, 64, 64);
        Thrown.with(Status.NOT_PERMITTED, remote::segment).hasMessageContaining("only tasks");
        assertThat(near.segment().byteSize()).isEqualTo(64);
        for (Buf buf : new Buf[] {remote, near}) { // in all else they are the same
            buf.setData(70, 10);
            buf.resetDataLength();
            assertThat(REGIONS.markDestination(buf, 1)).isEqualTo(Status.SUCCESS);
            shared.segment().set(ValueLayout.JAVA_BYTE, 70, (byte) 0);
            REGIONS.segmentOf(buf).set(ValueLayout.JAVA_BYTE, buf.dataOffset(), (byte) 3);
            assertThat(shared.segment().get(ValueLayout.JAVA_BYTE, 70))
                    .as("in the exporter's memory itself")
                    .isEqualTo((byte) 3);
            REGIONS.appendData(buf, 1);
            REGIONS.clearInFlight(buf);
            assertThat(buf.dataLength()).isEqualTo(1);
            assertThat(buf.headroom()).isEqualTo(6);
        }
        assertThat(REGIONS.checkUse(imported, p0, Permissions.LOCAL_READ_WRITE))
                .isEqualTo(Status.SUCCESS);
        remote.chain(near);
        remote.release();
    }
}
