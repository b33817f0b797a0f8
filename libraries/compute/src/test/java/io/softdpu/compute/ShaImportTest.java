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
import io.softdpu.testkit.StartsProcesses;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Hashes on the DPU of another process's memory, and its revocation. */
@SoftDpuTest(sanitized = false)
@StartsProcesses
class ShaImportTest {
    private static final int SIZE = 1 << 20;
    private static final byte FILLED_WITH = 0x5a;

    private ShaFixture dpu;
    private ChildJvm exporter;
    private Mmap remote;

    @BeforeEach
    void open(SoftDpu card) {
        dpu = new ShaFixture(card.dpuDevice()).start(4);
        exporter = card.start(ShaImportTest::exportMemory);
        String line = exporter.awaitLine("^blob ", Patience.LIMIT);
        byte[] blob = HexFormat.of().parseHex(line.substring("blob ".length()));
        remote =
                dpu.base.add(
                        Mmap.createFromExport(
                                blob, dpu.base.device, Mapping.ACCESS, Patience.LIMIT));
    }

    @AfterEach
    void close() throws Exception {
        dpu.close();
    }

    @Test
    @Clause({"core-123", "core-089", "core-121"})
    void shouldHashMemoryOfAnotherProcessAndAppendTheDigestThere() {
        byte[] filled = new byte[SIZE];
        Arrays.fill(filled, FILLED_WITH);
        byte[] expected = ShaFixture.expected(ShaAlgorithm.SHA512, filled);
        Mmap digests = dpu.base.local(64);
        Buf local = dpu.base.destination(digests, 0, 64);
        assertThat(dpu.hash(ShaAlgorithm.SHA512, dpu.base.source(remote, 0, SIZE), local))
                .isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(digests.segment(), 0, 64)).isEqualTo(expected);
        Buf there = dpu.base.destination(remote, 100, 64);
        assertThat(dpu.hash(ShaAlgorithm.SHA512, dpu.base.source(remote, 0, SIZE), there))
                .isEqualTo(Status.SUCCESS);
        exporter.send("at 100");
        assertThat(exporter.awaitLine("^bytes ", Patience.LIMIT))
                .isEqualTo("bytes " + HexFormat.of().formatHex(expected));
        local.release();
        there.release();
        exporter.send("exit");
        assertThat(exporter.awaitExit(Patience.LIMIT)).isZero();
    }

    @Test
    void shouldFailWithShutdownWhereTheMemoryIsRevokedInTheMiddle() {
        failsInTheMiddle(() -> exporter.send("stop"), Status.SHUTDOWN);
        exporter.send("exit");
        assertThat(exporter.awaitExit(Patience.LIMIT)).isZero();
    }

    @Test
    void shouldFailWithConnectionResetWhereTheExporterIsKilledInTheMiddle() {
        failsInTheMiddle(exporter::kill, Status.CONNECTION_RESET);
    }

    private void failsInTheMiddle(Runnable end, Status expected) {
        Mmap digests = dpu.base.local(64);
        Buf source = dpu.base.source(remote, 0, SIZE);
        Buf destination = dpu.base.destination(digests, 0, 64);
        ShaPartialHashTask task =
                dpu.sha.allocatePartialHash(ShaAlgorithm.SHA256, source, destination);
        task.submit();
        dpu.engine.progress();
        end.run();
        Await.until(
                "the bus has noticed",
                () ->
                        Refusal.statusOf(Regions.checkUse(remote, Permissions.LOCAL_READ_ONLY))
                                == expected);
        dpu.awaitEnd();
        assertThat(task.status()).isEqualTo(expected);
        assertThat(dpu.engine.payloadBytesCopied()).as("not gone on").isLessThan(SIZE);
        assertThat(destination.dataLength()).isZero();
        assertThat(task.hasResult()).isFalse();
        assertThat(dpu.sha.failure()).isNotNull();
        assertThat(dpu.sha.failure().status()).isEqualTo(expected);
        task.free();
        source.release();
        destination.release();
    }

    /** Process of the host that prints its blob, and does what the lines of its input tell it. */
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
                if (line.equals("stop")) {
                    mmap.stop();
                } else {
                    byte[] bytes = DmaFixture.bytes(memory.segment(), 100, 64);
                    System.out.println("bytes " + HexFormat.of().formatHex(bytes));
                }
            }
        }
    }
}
