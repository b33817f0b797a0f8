package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.linux.RestrictedThreads;
import io.softdpu.testkit.Clause;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Use of memory: its cost, its mappings, and its threads. */
class MemoryUseTest {
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

    /**
     * Mappings of the shared memory in this process, each with the kilobytes that are resident: a
     * page that was never populated or touched through a mapping does not count.
     */
    private Map<String, Long> mappings() throws IOException {
        String own = Long.toHexString(shared.segment().address()) + "-";
        Map<String, Map<String, Long>> perFile = new HashMap<>();
        String file = "";
        String mapping = "";
        String ownFile = "";
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                String[] fields = line.split(" +"); // range, rights, offset, device, inode, name
                mapping = fields[0];
                file = fields[3] + " " + fields[4];
                ownFile = mapping.startsWith(own) ? file : ownFile;
            } else if (line.startsWith("Rss:")) {
                perFile.computeIfAbsent(file, f -> new TreeMap<>())
                        .put(mapping, Long.parseLong(line.replaceAll("[^0-9]", "")));
            }
        }
        return perFile.get(ownFile);
    }

    @Test
    @Clause("core-073")
    void shouldMapMemoryWhenAnMmapBeginsAndNeverForABuf() throws IOException {
        assertThat(mappings().values()).as("local").containsExactly((long) SIZE >> 10);
        Mmap imported = machines.add(Mmap.createFromExport(mmap.exportPci(pf0), p0));
        BufPool pool = machines.add(BufPool.create(1, 64, imported).start());
        BufArray array = machines.add(BufArray.create(1).setMemory(imported, 64, 0).start());
        Map<String, Long> mapped = mappings();
        assertThat(mapped.values())
                .as("local and imported, before the first buf")
                .containsExactly((long) SIZE >> 10, (long) SIZE >> 10);
        // Populating and unmapping are refused meanwhile, as in progress.
        RestrictedThreads.Scope before = RestrictedThreads.enter(RestrictedThreads.Scope.BUS);
        try {
            for (int i = 0; i < 1000; i++) {
                Buf buf = inventory.bufByAddress(i % 2 == 0 ? mmap : imported, i, SIZE - i);
                buf.reuseByData(i % 2 == 0 ? imported : mmap, 0, i);
                buf.chain(pool.allocate());
                buf.chain(array.get(0));
                Regions.segmentOf(buf).set(ValueLayout.JAVA_BYTE, 0, (byte) i);
                buf.release();
            }
        } finally {
            RestrictedThreads.leave(before);
        }
        assertThat(mappings()).isEqualTo(mapped);
    }

    @Test
    @Clause({"core-263", "core-074"})
    void shouldKeepExportedMemoryInItsPlace() {
        long address = shared.segment().address();
        shared.segment().set(ValueLayout.JAVA_LONG, 8, 1);
        Mmap imported = machines.add(Mmap.createFromExport(mmap.exportPci(pf0), p0));
        MemorySegment far = Regions.memoryOf(imported);
        Thrown.with(Status.IN_USE, shared::close);
        System.gc(); // nothing that this could move
        assertThat(mmap.segment().address()).isEqualTo(address);
        assertThat(far.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(1);
        far.set(ValueLayout.JAVA_LONG, 16, 2);
        assertThat(shared.segment().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(2);
    }

    private static Stream<Class<?>> bufsAndTheirOwners() {
        return Stream.concat(
                Stream.of(Buf.class, BufList.class, BufOwner.class),
                Stream.of(BufOwner.class.getPermittedSubclasses()));
    }

    @ParameterizedTest
    @MethodSource("bufsAndTheirOwners")
    @Clause({"core-096", "core-117"})
    void shouldHaveNothingThatWouldMakeItSafeForSeveralThreads(Class<?> type) throws IOException {
        ClassModel code;
        try (InputStream in = type.getResourceAsStream(type.getSimpleName() + ".class")) {
            code = ClassFile.of().parse(in.readAllBytes());
        }
        List<String> synchronisation = new ArrayList<>();
        for (FieldModel field : code.fields()) {
            if (field.flags().has(java.lang.reflect.AccessFlag.VOLATILE)) {
                synchronisation.add("volatile " + field.fieldName());
            }
        }
        for (MethodModel method : code.methods()) {
            if (method.flags().has(java.lang.reflect.AccessFlag.SYNCHRONIZED)) {
                synchronisation.add("synchronized " + method.methodName());
            }
            for (CodeElement element :
                    method.code().map(CodeModel::elementList).orElse(List.of())) {
                if (synchronises(element)) {
                    synchronisation.add(method.methodName() + ": " + element);
                }
            }
        }
        assertThat(synchronisation).isEmpty();
    }

    /** Whether an instruction takes a monitor, or calls a lock, an atomic or the like. */
    private static boolean synchronises(CodeElement element) {
        return switch (element) {
            case MonitorInstruction monitor -> true;
            case InvokeInstruction call -> {
                String owner = call.owner().asInternalName();
                yield owner.startsWith("java/util/concurrent/")
                        || owner.equals("java/lang/invoke/VarHandle");
            }
            default -> false;
        };
    }

    /** The threads of a transport carry out tasks beside that of the engine. */
    @Test
    void shouldTellMemoryThatOneThreadAloneCanAccess() {
        try (Arena confined = Arena.ofConfined();
                Arena every = Arena.ofShared()) {
            assertThat(Refusal.statusOf(Regions.checkAnyThread(mmap))).isEqualTo(Status.SUCCESS);
            assertThat(Regions.checkAnyThread(of(every.allocate(8)))).isNull();
            assertThat(Regions.checkAnyThread(of(MemorySegment.ofArray(new byte[8])))).isNull();
            Mmap own = of(confined.allocate(8));
            Refusal refusal = Regions.checkAnyThread(own);
            assertThat(Refusal.statusOf(refusal)).isEqualTo(Status.NOT_SUPPORTED);
            assertThat(refusal.message()).contains("confined to a thread", "shared arena");
            own.close();
        }
    }

    private Mmap of(MemorySegment memory) {
        return machines.add(
                Mmap.create()
                        .setMemory(memory)
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(pf0)
                        .start());
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
    @Clause("core-114")
    void shouldLetTasksUseABufAsItsMmapSays() {
        Mmap readOnly =
                machines.add(
                        Mmap.create()
                                .setMemory(MemorySegment.ofArray(new byte[64]))
                                .setPermissions(Permissions.LOCAL_READ_ONLY)
                                .addDevice(pf0)
                                .start());
        Device other = machines.device(pf0.machine(), "pf1");
        Buf buf = inventory.bufByAddress(readOnly, 0, 64);
        assertThat(Refusal.statusOf(new MemoryRight(pf0, Permissions.LOCAL_READ_ONLY).check(buf)))
                .isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(new MemoryRight(pf0, Permissions.LOCAL_READ_WRITE).check(buf)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(Refusal.statusOf(new MemoryRight(other, Permissions.LOCAL_READ_ONLY).check(buf)))
                .isEqualTo(Status.NOT_PERMITTED);
        buf.release();
        Thrown.with(Status.INVALID_VALUE, () -> BufPool.create(1, 64, null))
                .hasMessageContaining("argument=mmap");
        BufArray array = machines.add(BufArray.create(1));
        Thrown.with(Status.BAD_STATE, array::start).hasMessageContaining("item=memory");
    }

    @Test
    @Clause({"core-112", "core-118"})
    void shouldTakeBufsBeyondFourGibibytes() throws IOException {
        long size = 6L << 30;
        // A file with a hole: addresses without memory but for the page that is written.
        try (Arena arena = Arena.ofShared();
                FileChannel file =
                        FileChannel.open(
                                folder.resolve("hole"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                Mmap large = Mmap.create()) {
            MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, size, arena);
            large.setMemory(memory)
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(pf0)
                    .start();
            Buf whole = inventory.bufByData(large, 0, size);
            assertThat(whole.segment()).isEqualTo(memory);
            assertThat(whole.segment().byteSize()).isEqualTo(size);
            whole.release();
            Buf last = inventory.bufByArgs(large, size - 8, 8, size - 1, 1);
            assertThat(last.segment()).isEqualTo(memory.asSlice(size - 8));
            assertThat(last.segment().byteSize()).isEqualTo(8);
            Regions.segmentOf(last).set(ValueLayout.JAVA_BYTE, last.dataOffset(), (byte) 6);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, size - 1)).isEqualTo((byte) 6);
            last.release();
        }
    }

    @Test
    @Clause({"core-095", "core-089", "core-088"})
    void shouldLetTasksUseWhatTheProgramCannotReach() {
        Mmap imported = machines.add(Mmap.createFromExport(mmap.exportPci(pf0), p0));
        Buf remote = inventory.bufByAddress(imported, 64, 64);
        Buf near = inventory.bufByAddress(mmap, 64, 64);
        Buf element = machines.add(BufArray.create(1).setMemory(imported, 64, 64).start()).get(0);
        Thrown.with(Status.NOT_PERMITTED, remote::segment).hasMessageContaining("only tasks");
        assertThat(near.segment().byteSize()).isEqualTo(64);
        for (Buf buf : new Buf[] {remote, near, element}) { // in all else they are the same
            buf.setData(70, 10);
            buf.resetDataLength();
            assertThat(Refusal.statusOf(Regions.markDestination(buf, 1))).isEqualTo(Status.SUCCESS);
            shared.segment().set(ValueLayout.JAVA_BYTE, 70, (byte) 0);
            Regions.segmentOf(buf).set(ValueLayout.JAVA_BYTE, buf.dataOffset(), (byte) 3);
            assertThat(shared.segment().get(ValueLayout.JAVA_BYTE, 70))
                    .as("in the exporter's memory itself")
                    .isEqualTo((byte) 3);
            Regions.appendData(buf, 1);
            Regions.clearInFlight(buf);
            assertThat(buf.dataLength()).isEqualTo(1);
            assertThat(buf.headroom()).isEqualTo(6);
        }
        assertThat(Refusal.statusOf(Regions.checkUse(imported, p0, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.SUCCESS);
        remote.chain(near);
        remote.release();
    }
}
