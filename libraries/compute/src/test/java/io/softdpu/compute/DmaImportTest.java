package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.spi.Regions;
import io.softdpu.junit.ChildJvm;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Copies from the DPU to and from the host's memory, and its revocation. */
@SoftDpuTest(sanitized = false)
class DmaImportTest {
    private static final int SIZE = 2 << 20;
    private static final byte FILLED_WITH = 0x5a;

    private DmaFixture host;
    private DmaFixture dpu;

    @BeforeEach
    void open(SoftDpu card) {
        host = new DmaFixture(card.hostDevice());
        dpu = new DmaFixture(card.dpuDevice()).start(4);
    }

    @AfterEach
    void close() throws Exception {
        dpu.close();
        host.close();
    }

    private Mmap imported(byte[] blob, Mapping mapping) {
        return dpu.add(Mmap.createFromExport(blob, dpu.device, mapping, Patience.LIMIT));
    }

    private Mmap imported(Mmap exported) {
        return imported(exported.exportPci(host.device), Mapping.ACCESS);
    }

    @Test
    @Clause({"core-089", "core-095", "core-122"})
    void shouldCopyFromTheHostAndBack(SeededRandom random) {
        Mmap hostMemory = host.mmap(SIZE, AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE);
        MemorySegment there = hostMemory.segment();
        random.fill(there);
        byte[] before = DmaFixture.bytes(there, 0, SIZE);
        Mmap remote = imported(hostMemory);
        Mmap local = dpu.local(SIZE);
        int half = SIZE / 2;
        assertThat(dpu.copy(dpu.source(remote, 0, half), dpu.destination(local, 0, half)))
                .isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(local.segment(), 0, half))
                .isEqualTo(Arrays.copyOf(before, half));
        random.fill(local.segment());
        assertThat(dpu.copy(dpu.source(local, 100, half), dpu.destination(remote, half, half)))
                .isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(there, half, half))
                .isEqualTo(DmaFixture.bytes(local.segment(), 100, half));
        assertThat(DmaFixture.bytes(there, 0, half)).isEqualTo(Arrays.copyOf(before, half));
    }

    @Test
    @Clause({"core-089", "core-100"})
    void shouldAppendInImportedMemoryAsInItsOwn(SeededRandom random) {
        Mmap hostMemory = host.mmap(4096, AccessFlag.PCI_READ_WRITE);
        Mmap local = dpu.local(4096);
        Mmap read = dpu.local(64);
        random.fill(read.segment());
        appendBehindData(read, imported(hostMemory), hostMemory.segment(), random);
        appendBehindData(read, local, local.segment(), random);
    }

    private void appendBehindData(
            Mmap read, Mmap written, MemorySegment memory, SeededRandom random) {
        random.fill(memory);
        byte[] expected = DmaFixture.bytes(memory, 0, 4096);
        MemorySegment.copy(read.segment(), ValueLayout.JAVA_BYTE, 0, expected, 130, 64);
        Buf destination = dpu.inventory.bufByArgs(written, 100, 200, 110, 20);
        destination.retain(); // its data length is looked at after the copy
        assertThat(dpu.copy(dpu.source(read, 0, 64), destination)).isEqualTo(Status.SUCCESS);
        assertThat(destination.dataOffset()).isEqualTo(110);
        assertThat(destination.dataLength()).isEqualTo(84);
        destination.release();
        assertThat(DmaFixture.bytes(memory, 0, 4096)).isEqualTo(expected);
    }

    @Test
    @Clause({"core-097", "core-104", "core-105"})
    void shouldTakeListsOfLocalAndImportedElements(SeededRandom random) {
        Mmap hostMemory = host.mmap(4096, AccessFlag.PCI_READ_WRITE);
        Mmap remote = imported(hostMemory);
        Mmap local = dpu.local(4096);
        random.fill(hostMemory.segment());
        random.fill(local.segment());
        byte[] expected = new byte[300];
        MemorySegment.copy(hostMemory.segment(), ValueLayout.JAVA_BYTE, 0, expected, 0, 100);
        MemorySegment.copy(local.segment(), ValueLayout.JAVA_BYTE, 50, expected, 100, 200);
        Buf source = dpu.source(remote, 0, 100);
        source.chain(dpu.source(local, 50, 200));
        Buf destination = dpu.destination(local, 1000, 150);
        destination.chain(dpu.destination(remote, 2000, 400));
        assertThat(dpu.copy(source, destination)).isEqualTo(Status.SUCCESS);
        byte[] written = new byte[300];
        MemorySegment.copy(local.segment(), ValueLayout.JAVA_BYTE, 1000, written, 0, 150);
        MemorySegment.copy(hostMemory.segment(), ValueLayout.JAVA_BYTE, 2000, written, 150, 150);
        assertThat(written).isEqualTo(expected);
    }

    @Test
    void shouldWriteNothingThatWasExportedForReading() {
        Mmap remote = imported(host.mmap(4096, AccessFlag.PCI_READ_ONLY));
        Mmap local = dpu.local(4096);
        assertThat(dpu.refused(dpu.source(local, 0, 64), dpu.destination(remote, 0, 64)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(dpu.copy(dpu.source(remote, 0, 64), dpu.destination(local, 0, 64)))
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseAnImportWithoutAMappingAndOneFromRdma() {
        Mmap both =
                host.mmap(
                        4096,
                        AccessFlag.LOCAL_READ_WRITE,
                        AccessFlag.PCI_READ_WRITE,
                        AccessFlag.RDMA_WRITE);
        Mmap unmapped = imported(both.exportPci(host.device), Mapping.NONE);
        Mmap local = dpu.local(4096);
        assertThat(dpu.refused(dpu.source(unmapped, 0, 64), dpu.destination(local, 0, 64)))
                .isEqualTo(Status.NOT_SUPPORTED);
        Mmap byRdma = imported(both.exportRdma(host.device), Mapping.ACCESS);
        assertThat(dpu.refused(dpu.source(byRdma, 0, 64), dpu.destination(local, 0, 64)))
                .isEqualTo(Status.NOT_PERMITTED);
    }

    @Test
    void shouldFailInTheMiddleOfACopyWhoseMemoryIsRevoked() {
        Mmap hostMemory = host.mmap(SIZE, AccessFlag.PCI_READ_WRITE);
        Mmap remote = imported(hostMemory);
        Mmap local = dpu.local(SIZE);
        Buf source = dpu.source(remote, 0, SIZE);
        Buf destination = dpu.destination(local, 0, SIZE);
        DmaMemcpyTask task = dpu.submit(source, destination);
        dpu.engine.progress();
        assertThat(dpu.engine.payloadBytesCopied()).isPositive().isLessThan(SIZE);
        hostMemory.stop();
        assertThat(dpu.dma.inFlightTasks()).isOne();
        dpu.awaitEnd();
        assertThat(task.status()).isEqualTo(Status.SHUTDOWN);
        assertThat(dpu.engine.payloadBytesCopied()).as("not gone on").isLessThan(SIZE);
        assertThat(destination.dataLength()).isZero();
        assertThat(dpu.dma.failure()).isNotNull();
        assertThat(dpu.dma.failure().status()).isEqualTo(Status.SHUTDOWN);
        task.free();
        source.release();
        destination.release();
    }

    @Test
    @Clause({"core-121", "core-122", "core-089"})
    @Smoke
    void shouldCopyTheMemoryOfAnotherProcessBothWays(SoftDpu card) {
        ChildJvm exporter = exporter(card);
        Mmap remote = imported(blobOf(exporter), Mapping.ACCESS);
        Mmap local = dpu.local(SIZE);
        assertThat(dpu.copy(dpu.source(remote, 0, SIZE), dpu.destination(local, 0, SIZE)))
                .isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(local.segment(), 0, SIZE)).containsOnly(FILLED_WITH);
        local.segment().fill((byte) 0x77);
        assertThat(dpu.copy(dpu.source(local, 0, SIZE), dpu.destination(remote, 0, SIZE)))
                .isEqualTo(Status.SUCCESS);
        exporter.send("sum");
        assertThat(exporter.awaitLine("^sum ", Patience.LIMIT)).isEqualTo("sum " + 0x77L * SIZE);
        exporter.send("exit");
        assertThat(exporter.awaitExit(Patience.LIMIT)).isZero();
    }

    @Test
    @StartsProcesses
    void shouldFailWithConnectionResetWhereTheExporterIsKilledInTheMiddle(SoftDpu card) {
        ChildJvm exporter = exporter(card);
        Mmap remote = imported(blobOf(exporter), Mapping.ACCESS);
        Mmap local = dpu.local(SIZE);
        Buf source = dpu.source(remote, 0, SIZE);
        Buf destination = dpu.destination(local, 0, SIZE);
        DmaMemcpyTask task = dpu.submit(source, destination);
        dpu.engine.progress();
        exporter.kill();
        Await.until(
                "the bus has noticed",
                () ->
                        Refusal.statusOf(Regions.checkUse(remote, Permissions.LOCAL_READ_ONLY))
                                == Status.CONNECTION_RESET);
        dpu.awaitEnd();
        assertThat(task.status()).isEqualTo(Status.CONNECTION_RESET);
        task.free();
        source.release();
        destination.release();
    }

    private static ChildJvm exporter(SoftDpu card) {
        return card.start(DmaImportTest::exportMemory);
    }

    /**
     * Process of the host that prints its blob, and the sum of all bytes for each line of input.
     */
    private static void exportMemory(SoftDpu card) throws IOException {
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Device device = card.hostDevice();
        try (SharedMemory memory = SharedMemory.allocate(SIZE);
                Mmap mmap =
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.of(AccessFlag.PCI_READ_WRITE))
                                .addDevice(device)
                                .start()) {
            memory.segment().fill(FILLED_WITH);
            System.out.println("blob " + HexFormat.of().formatHex(mmap.exportPci(device)));
            String line;
            while ((line = input.readLine()) != null && !line.equals("exit")) {
                System.out.println("sum " + sum(memory.segment()));
            }
        }
    }

    private static long sum(MemorySegment memory) {
        long sum = 0;
        for (long i = 0; i < memory.byteSize(); i++) {
            sum += memory.get(ValueLayout.JAVA_BYTE, i);
        }
        return sum;
    }

    private static byte[] blobOf(ChildJvm exporter) {
        String line = exporter.awaitLine("^blob ", Patience.LIMIT);
        return HexFormat.of().parseHex(line.substring("blob ".length()));
    }
}
