package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Attempts to write by an importer of a read-only region, whose descriptor must only allow to read.
 * Each test is an importer that makes system calls itself.
 */
final class ReadOnlyImportTest {
    private static final long SIZE_BYTES = 64 << 10;

    @TempDir Path folder;

    private Bus exporter;
    private Bus importer;
    private SharedSegment memory;
    private ExportedRegion exported;
    private ImportedRegion imported;
    private int descriptor;

    @BeforeEach
    void exportReadOnly() throws Exception {
        exporter = bus();
        importer = bus();
        memory = SharedSegment.allocate("readonly-export", SIZE_BYTES);
        memory.segment().fill((byte) 0x5a);
        exported = exporter.export(memory, false, null);
        imported = importRegion(importer, exported, false);
        descriptor = memoryOf(imported).descriptor();
    }

    @AfterEach
    void shouldHaveLeftTheMemoryAsItWas() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment expected = arena.allocate(SIZE_BYTES).fill((byte) 0x5a);
            assertThat(memory.segment().mismatch(expected)).as("first byte changed").isEqualTo(-1);
            assertThat(memoryOf(imported).segment().mismatch(expected)).isEqualTo(-1);
        }
        // The owner's mapping, older than the seals, is not bound by them.
        memory.segment().set(ValueLayout.JAVA_LONG, 8, 42);
        assertThat(memoryOf(imported).segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);

        imported.close();
        importer.close();
        exporter.close();
        memory.release();
    }

    private Bus bus() {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("fabric"),
                        new byte[32],
                        "t",
                        Patience.NANOS,
                        1 << 20,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    private static ImportedRegion importRegion(Bus bus, ExportedRegion region, boolean writable)
            throws Exception {
        return bus.importRegion(region.address(), writable, true, Patience.NANOS)
                .future()
                .get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    private static SharedSegment memoryOf(ImportedRegion region) {
        SharedSegment mapped = region.memory();
        assertThat(mapped).isNotNull();
        return mapped;
    }

    private static void assertRefused(String error, ThrowingCallable attempt) {
        assertThatThrownBy(attempt).hasMessageContaining("(" + error + ")");
    }

    @Test
    void shouldRefuseStoresThroughTheSegment() {
        assertThatThrownBy(
                        () -> memoryOf(imported).segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldStayReadOnlyAgainstChangedProtection() {
        assertRefused(
                "EACCES",
                () -> SystemCalls.protect(memoryOf(imported).address(), SIZE_BYTES, true));
    }

    @Test
    void shouldStayReadOnlyAgainstANewMap() {
        assertRefused("EPERM", () -> MemoryMapping.map(descriptor, SIZE_BYTES, true));
    }

    @Test
    void shouldStayReadOnlyAgainstANewMapWhoseProtectionIsChanged() {
        long address = MemoryMapping.map(descriptor, SIZE_BYTES, false);
        try {
            assertRefused("EACCES", () -> SystemCalls.protect(address, SIZE_BYTES, true));
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
    }

    /** The kernel opens it: the mode of a memfd permits its owner. The seals hold all the same. */
    @Test
    void shouldStayReadOnlyAgainstReopeningThroughProc() {
        int reopened =
                FileDescriptors.open(
                        ResourceSnapshot.procPath(descriptor).toString(),
                        FileDescriptors.O_RDWR,
                        0);
        try (Arena arena = Arena.ofConfined()) {
            long zeros = arena.allocate(8).address();

            assertRefused("EPERM", () -> MemoryMapping.map(reopened, SIZE_BYTES, true));
            assertRefused("EPERM", () -> SystemCalls.pwrite(reopened, zeros, 8, 0));
            assertRefused("EPERM", () -> FileDescriptors.truncate(reopened, 0));
            assertRefused("EPERM", () -> SystemCalls.punchHole(reopened, 0, SIZE_BYTES));
        } finally {
            FileDescriptors.close(reopened);
        }
    }

    @Test
    void shouldStayReadOnlyAgainstReopeningWithTruncation() {
        String path = ResourceSnapshot.procPath(descriptor).toString();

        assertRefused(
                "EPERM",
                () ->
                        FileDescriptors.open(
                                path, FileDescriptors.O_RDWR | FileDescriptors.O_TRUNC, 0));
    }

    @Test
    void shouldStayReadOnlyAgainstPwrite() {
        try (Arena arena = Arena.ofConfined()) {
            long zeros = arena.allocate(8).address();

            assertRefused("EPERM", () -> SystemCalls.pwrite(descriptor, zeros, 8, 0));
        }
    }

    @Test
    void shouldStayReadOnlyAgainstTruncation() {
        assertRefused("EPERM", () -> FileDescriptors.truncate(descriptor, 0));
        assertRefused("EPERM", () -> FileDescriptors.truncate(descriptor, SIZE_BYTES * 2));
    }

    @Test
    void shouldStayReadOnlyAgainstHolePunching() {
        assertRefused("EPERM", () -> SystemCalls.punchHole(descriptor, 0, SIZE_BYTES));
    }

    @Test
    void shouldStayReadOnlyAgainstNewSeals() {
        assertRefused("EPERM", () -> Memfd.addSeals(descriptor, Memfd.SEAL_WRITE));
    }

    @Test
    void shouldStayReadOnlyAgainstTheMemoryFileOfTheProcess() throws IOException {
        try (RandomAccessFile own = new RandomAccessFile("/proc/self/mem", "rw")) {
            own.seek(memoryOf(imported).address());
            assertThat(own.readByte()).isEqualTo((byte) 0x5a);
            own.seek(memoryOf(imported).address());

            assertThatThrownBy(() -> own.write(1)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void shouldNotLetAnImporterAskForMore() {
        assertThatThrownBy(() -> importRegion(importer, exported, true))
                .hasRootCauseInstanceOf(FabricException.class)
                .hasMessageContaining("read-only");
    }

    @Test
    void shouldStayReadOnlyWhenPassedOn() throws Exception {
        ExportedRegion passedOn = importer.reexport(imported, false, null);
        ImportedRegion far = importRegion(exporter, passedOn, false);
        int farDescriptor = memoryOf(far).descriptor();

        assertRefused("EPERM", () -> MemoryMapping.map(farDescriptor, SIZE_BYTES, true));
        assertRefused("EPERM", () -> SystemCalls.punchHole(farDescriptor, 0, SIZE_BYTES));

        far.close();
    }

    /** One importer must not be able to end another's lease, or to keep its own. */
    @Test
    void shouldLetNoImporterChangeTheGenerationPage() {
        String name = HostilePeer.exporterName(exported.address().busId());
        try (HostilePeer client = HostilePeer.connect(exporter, name);
                Arena arena = Arena.ofConfined()) {
            client.send(
                    new Frame.Lease(
                            exported.address().regionId(), exported.address().key(), false));
            assertThat(client.receive()).isInstanceOf(Frame.Grant.class);
            int page = client.message().takeDescriptor(1);
            long sizeBytes = MemoryMapping.pageSize();
            long zeros = arena.allocate(8).address();
            try {
                assertRefused("EPERM", () -> MemoryMapping.map(page, sizeBytes, true));
                assertRefused("EPERM", () -> SystemCalls.pwrite(page, zeros, 8, 0));
                assertRefused("EPERM", () -> FileDescriptors.truncate(page, 0));
                assertRefused("EPERM", () -> SystemCalls.punchHole(page, 0, sizeBytes));
                assertRefused("EPERM", () -> Memfd.addSeals(page, Memfd.SEAL_WRITE));
            } finally {
                FileDescriptors.close(page);
            }
            assertThat(imported.revoked()).isFalse();
        }
    }
}
