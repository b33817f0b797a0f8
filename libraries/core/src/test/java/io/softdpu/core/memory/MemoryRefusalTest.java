package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Reasons of the checks of mmaps and bufs, and their texts for messages. */
class MemoryRefusalTest {
    private static final int SIZE = 4096;
    private static final Permissions LOCAL_WRITE = Permissions.LOCAL_READ_WRITE;
    private static final Permissions LOCAL_READ = Permissions.LOCAL_READ_ONLY;
    private static final Permissions PCI_READ = Permissions.of(AccessFlag.PCI_READ_ONLY);
    private static final Permissions RDMA_WRITE = Permissions.of(AccessFlag.RDMA_WRITE);

    @TempDir Path folder;
    private Machines machines;
    private Device pf0;
    private Device vf;
    private Device p0;
    private Device t0;
    private BufInventory inventory;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        pf0 = machines.device(Side.HOST, "pf0");
        vf = machines.device(Side.HOST, "pf0vf0");
        p0 = machines.device(Side.DPU, "p0");
        t0 = machines.device(Side.TARGET, "t0");
        inventory = machines.add(BufInventory.create(8));
        inventory.start();
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private Mmap mmap(Permissions permissions) {
        SharedMemory memory = machines.add(SharedMemory.allocate(SIZE));
        return machines.add(
                Mmap.create().setMemory(memory).setPermissions(permissions).addDevice(pf0).start());
    }

    private Mmap overPci(Mmap exported, Mapping mapping) {
        return machines.add(
                Mmap.createFromExport(exported.exportPci(pf0), p0, mapping, Patience.LIMIT));
    }

    private Mmap overRdma(Mmap exported) {
        return machines.add(Mmap.createFromExport(exported.exportRdma(pf0), t0));
    }

    private static Arguments check(
            String name,
            Status status,
            List<String> parts,
            Function<MemoryRefusalTest, @Nullable Refusal> check) {
        return Arguments.of(name, status, parts, check);
    }

    static Stream<Arguments> checks() {
        return Stream.of(
                check(
                        "not started",
                        Status.BAD_STATE,
                        List.of(
                                "mmap is not started: mmap=mmap[local, state=IDLE",
                                "expected=Mmap.start()"),
                        test -> {
                            Mmap mmap = test.mmap(LOCAL_WRITE);
                            mmap.stop();
                            return Regions.checkUse(mmap, LOCAL_READ);
                        }),
                check(
                        "local permission missing",
                        Status.NOT_PERMITTED,
                        List.of(
                                "mmap does not grant LOCAL_READ_WRITE: granted=[LOCAL_READ_ONLY]",
                                "mmap=mmap[local",
                                "expected=Mmap.setPermissions with it, before start"),
                        test -> Regions.checkUse(test.mmap(LOCAL_READ), LOCAL_WRITE)),
                check(
                        "device missing",
                        Status.NOT_PERMITTED,
                        List.of(
                                "device was not added to the mmap: device=",
                                "devices=[",
                                "expected=Mmap.addDevice, before start"),
                        test -> Regions.checkUse(test.mmap(LOCAL_WRITE), test.vf, LOCAL_READ)),
                check(
                        "memory closed",
                        Status.BAD_STATE,
                        List.of("memory was closed before its mmap: mmap=mmap[local"),
                        test -> {
                            Arena arena = Arena.ofShared();
                            Mmap mmap = test.over(arena.allocate(SIZE));
                            arena.close();
                            return Regions.checkUse(mmap, LOCAL_READ);
                        }),
                check(
                        "right of the exporter missing",
                        Status.NOT_PERMITTED,
                        List.of(
                                "exporter does not grant LOCAL_READ_WRITE: granted=[",
                                "mmap=mmap[imported over PCIe from host/",
                                "expected=PCI_READ_WRITE by Mmap.setPermissions of the exporter"),
                        test ->
                                Regions.checkUse(
                                        test.overPci(test.mmap(PCI_READ), Mapping.ACCESS),
                                        LOCAL_WRITE)),
                check(
                        "import from RDMA as local memory",
                        Status.NOT_PERMITTED,
                        List.of(
                                "mmap was imported from RDMA, and is not memory of this machine:"
                                        + " needed=[LOCAL_READ_ONLY]",
                                "mmap=mmap[imported over RDMA from host/"),
                        test ->
                                Regions.checkUse(
                                        test.overRdma(test.mmap(remotelyWritable())), LOCAL_READ)),
                check(
                        "right of an RDMA exporter missing",
                        Status.NOT_PERMITTED,
                        List.of(
                                "exporter does not grant RDMA_READ: granted=[",
                                "expected=RDMA_READ by Mmap.setPermissions of the exporter"),
                        test ->
                                Regions.checkUse(
                                        test.overRdma(test.mmap(remotelyWritable())),
                                        Permissions.of(AccessFlag.RDMA_READ))),
                check(
                        "import without a mapping",
                        Status.NOT_SUPPORTED,
                        List.of(
                                "mmap was imported without a mapping, for re-export only:"
                                        + " mmap=mmap[imported over PCIe without a mapping",
                                "expected=an import with Mapping.ACCESS"),
                        test ->
                                Regions.checkUse(
                                        test.overPci(test.mmap(PCI_READ), Mapping.NONE),
                                        LOCAL_READ)),
                check(
                        "revoked",
                        Status.SHUTDOWN,
                        List.of(
                                "exporter has revoked the memory: mmap=mmap[imported over PCIe",
                                "expected=a new export, imported again"),
                        test -> {
                            Mmap exported = test.mmap(PCI_READ);
                            Mmap imported = test.overPci(exported, Mapping.ACCESS);
                            exported.stop();
                            return Regions.checkUse(imported, LOCAL_READ);
                        }),
                check(
                        "element of a list without a permission",
                        Status.NOT_PERMITTED,
                        List.of("mmap does not grant LOCAL_READ_WRITE: granted=[LOCAL_READ_ONLY]"),
                        test -> {
                            Mmap readable = test.mmap(LOCAL_READ);
                            Buf head = test.buf(test.mmap(LOCAL_WRITE));
                            head.chain(test.inventory.bufByData(readable, 0, 8));
                            return new MemoryRight(test.pf0, LOCAL_WRITE).check(head);
                        }),
                check(
                        "buf released",
                        Status.BAD_STATE,
                        List.of("buf was released: buf=buf[released, dataOffsetBytes=0"),
                        test -> {
                            Buf buf = test.inventory.bufByData(test.mmap(LOCAL_WRITE), 0, 8);
                            buf.release();
                            return Regions.markSource(buf, 1);
                        }),
                check(
                        "buf behind the head",
                        Status.NOT_PERMITTED,
                        List.of(
                                "buf is in a list behind its head: buf=buf[",
                                "behind the head of listLength=2",
                                "expected=the head of the list"),
                        test -> {
                            Mmap mmap = test.mmap(LOCAL_WRITE);
                            Buf head = test.buf(mmap);
                            Buf second = test.inventory.bufByData(mmap, 8, 8);
                            head.chain(second);
                            return Regions.markSource(second, 2);
                        }),
                check(
                        "list too long",
                        Status.INVALID_VALUE,
                        List.of(
                                "buf list is too long: listLength=2, buf=buf[",
                                "expected=1 at most"),
                        test -> {
                            Mmap mmap = test.mmap(LOCAL_WRITE);
                            Buf head = test.buf(mmap);
                            head.chain(test.inventory.bufByData(mmap, 8, 8));
                            return Regions.markDestination(head, 1);
                        }),
                check(
                        "buf in flight",
                        Status.IN_USE,
                        List.of(
                                "buf is in flight: usedAs=source, buf=buf[",
                                "expected=the completion of the task that has it"),
                        test -> {
                            Buf buf = test.buf(test.mmap(LOCAL_WRITE));
                            assertThat(Regions.markSource(buf, 1)).isNull();
                            Refusal refusal = Regions.markDestination(buf, 1);
                            Regions.clearInFlight(buf);
                            return refusal;
                        }));
    }

    private static Permissions remotelyWritable() {
        return Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE);
    }

    private Mmap over(MemorySegment memory) {
        return machines.add(
                Mmap.create().setMemory(memory).setPermissions(LOCAL_WRITE).addDevice(pf0).start());
    }

    /** A buf that is released at the end. */
    private Buf buf(Mmap mmap) {
        Buf buf = inventory.bufByData(mmap, 0, 8);
        machines.add((AutoCloseable) buf::release);
        return buf;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("checks")
    void shouldNameReasonObjectActualAndExpected(
            String name,
            Status status,
            List<String> parts,
            Function<MemoryRefusalTest, @Nullable Refusal> check) {
        Refusal refusal = Objects.requireNonNull(check.apply(this), "not refused");

        assertThat(refusal.status()).isEqualTo(status);
        assertThat(refusal.message()).startsWith(parts.getFirst()).contains(parts);
    }

    @Test
    void shouldAddDetailsOfTheCallerToAReason() {
        Refusal refusal = Refusal.of(Status.IN_USE, "buf is in flight: bufs=%d", 1);
        assertThat(Refusal.with(refusal, "operand=source"))
                .hasToString("IN_USE: buf is in flight: bufs=1, operand=source");
        assertThat(Refusal.with(null, "operand=source")).isNull();
        assertThat(Refusal.statusOf(null)).isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(refusal)).isEqualTo(Status.IN_USE);
    }

    @Test
    void shouldNameTheSetterOfAMissingItem() {
        Mmap mmap = machines.add(Mmap.create());
        assertThatThrownBy(mmap::start)
                .hasMessageStartingWith("mandatory item is missing: item=memory, mmap=mmap[")
                .hasMessageEndingWith("expected=Mmap.setMemory, before start");
        mmap.setMemory(MemorySegment.ofArray(new byte[64]));
        assertThatThrownBy(mmap::start)
                .hasMessageStartingWith("mandatory item is missing: item=permissions, ")
                .hasMessageEndingWith("expected=Mmap.setPermissions, before start");
        mmap.setPermissions(LOCAL_WRITE);
        assertThatThrownBy(mmap::start)
                .hasMessageStartingWith("mandatory item is missing: item=device, ")
                .hasMessageEndingWith("expected=Mmap.addDevice, before start");
        mmap.addDevice(pf0);
        assertThatThrownBy(() -> inventory.bufByData(mmap, 0, 8))
                .hasMessageStartingWith("mmap is not started: mmap=mmap[local, state=IDLE")
                .hasMessageEndingWith("expected=Mmap.start()");
        BufInventory idle = machines.add(BufInventory.create(1));
        assertThatThrownBy(() -> idle.bufByData(mmap, 0, 8))
                .hasMessage("inventory is not started: state=IDLE, expected=start()");
        assertThatThrownBy(() -> mmap(LOCAL_WRITE).exportPci(pf0))
                .hasMessageStartingWith("export over PCIe needs PCI_READ_ONLY or PCI_READ_WRITE: ")
                .hasMessageEndingWith(
                        "expected=Mmap.setPermissions with one of them, before start");
    }

    // ---- texts ----

    @Test
    void shouldDescribeABufByItsDataAndItsMmap() {
        Mmap mmap = mmap(LOCAL_WRITE);
        Buf buf = inventory.bufByAddress(mmap, 100, 50);
        buf.setData(110, 25);
        assertThat(buf)
                .hasToString(
                        "buf[dataOffsetBytes=110, dataLengthBytes=25, headroomBytes=10,"
                                + " tailroomBytes=15,"
                                + Text.format(" references=1, mmap=%s]", mmap));
        buf.release();
        assertThat(buf)
                .hasToString(
                        "buf[released, dataOffsetBytes=110, dataLengthBytes=25, headroomBytes=10,"
                                + " tailroomBytes=15]");
    }

    @Test
    void shouldDescribeTheLengthOfAList() {
        Mmap mmap = mmap(LOCAL_WRITE);
        Buf head = buf(mmap);
        Buf second = inventory.bufByData(mmap, 8, 8);
        assertThat(head.toString()).doesNotContain("listLength");
        head.chain(second);
        assertThat(head.toString()).contains(", listLength=2, ");
        assertThat(second.toString()).contains(", behind the head of listLength=2, ");
    }

    @Test
    void shouldDescribeALocalMmapInEachState() {
        Mmap mmap = machines.add(Mmap.create());
        assertThat(mmap)
                .hasToString("mmap[local, state=IDLE, sizeBytes=0, permissions=null, devices=[]]");
        mmap.setMemory(MemorySegment.ofArray(new byte[64]))
                .setPermissions(LOCAL_WRITE)
                .addDevice(pf0)
                .start();
        assertThat(mmap)
                .hasToString(
                        Text.format(
                                "mmap[local, state=STARTED, sizeBytes=64,"
                                        + " permissions=[LOCAL_READ_WRITE], devices=[%s]]",
                                pf0));
        mmap.close();
        assertThat(mmap.toString()).startsWith("mmap[local, state=CLOSED, ");
    }

    @Test
    void shouldDescribeTheOriginOfAnImportAlsoAfterItsEnd() {
        Mmap exported = mmap(PCI_READ);
        Mmap imported = overPci(exported, Mapping.ACCESS);
        String origin = "mmap[imported over PCIe from " + pf0.info().function().key() + ", state=";
        assertThat(imported.toString())
                .startsWith(origin + "STARTED, sizeBytes=4096, ")
                .endsWith("devices=[" + p0 + "]]");
        exported.stop();
        assertThat(imported.toString()).startsWith(origin + "STARTED");
        imported.close();
        assertThat(imported.toString()).startsWith(origin + "CLOSED");
        assertThat(overRdma(mmap(remotelyWritable())).toString())
                .startsWith("mmap[imported over RDMA from host/");
    }
}
