package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.NativeMemory;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SystemCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Attempts of an importer with a writable descriptor, which must only be able to change bytes. */
final class WritableImportTest {
    private static final long SIZE_BYTES = 1 << 20;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    @TempDir Path folder;

    private Bus exporter;
    private Bus importer;
    private SharedSegment memory;
    private ImportedRegion imported;
    private int descriptor;

    @BeforeEach
    void exportWritable() throws Exception {
        exporter = bus();
        importer = bus();
        memory = SharedSegment.allocate("writable-export", SIZE_BYTES);
        ExportedRegion exported = exporter.export(memory, true, null);
        imported =
                importer.importRegion(exported.address(), true, true, Patience.NANOS)
                        .future()
                        .get(Patience.SECONDS, TimeUnit.SECONDS);
        descriptor = memoryOf(imported).descriptor();
    }

    @AfterEach
    void close() {
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

    private static SharedSegment memoryOf(ImportedRegion region) {
        SharedSegment mapped = region.memory();
        assertThat(mapped).isNotNull();
        return mapped;
    }

    @Test
    void shouldKeepItsSizeAndItsSeals() {
        assertThatThrownBy(() -> FileDescriptors.truncate(descriptor, 0))
                .hasMessageContaining("(EPERM)");
        assertThatThrownBy(() -> FileDescriptors.truncate(descriptor, SIZE_BYTES * 2))
                .hasMessageContaining("(EPERM)");
        assertThatThrownBy(() -> Memfd.addSeals(descriptor, Memfd.SEAL_FUTURE_WRITE))
                .hasMessageContaining("(EPERM)");
    }

    @Test
    void shouldReadZerosWhereAPeerPunchedAHole() {
        memory.segment().fill((byte) 0x5a);
        long page = MemoryMapping.pageSize();

        SystemCalls.punchHole(descriptor, page, page);

        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, page - 1)).isEqualTo((byte) 0x5a);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, page)).isZero();
        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 2 * page - 1)).isZero();
        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 2 * page)).isEqualTo((byte) 0x5a);
        memory.segment().set(ValueLayout.JAVA_LONG, page, 7);
        assertThat(memoryOf(imported).segment().get(ValueLayout.JAVA_LONG, page)).isEqualTo(7);
    }

    /** Every way in which the exporter touches memory, while the pages go again and again. */
    @Test
    void shouldSurviveHolesUnderItsOwnAccesses() throws Exception {
        CompletableFuture<Void> punching =
                CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < 300; i++) {
                        SystemCalls.punchHole(descriptor, 0, SIZE_BYTES);
                    }
                });
        MemorySegment own = memory.segment();
        boolean finished = false;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(SIZE_BYTES);
            while (!finished) {
                finished = punching.isDone();
                own.fill((byte) 0x5a);
                MemorySegment.copy(own, 0, copy, 0, SIZE_BYTES);
                NativeMemory.copy(own, 0, copy, 0, SIZE_BYTES);
                for (long offset = 0; offset < SIZE_BYTES; offset += 4096) {
                    long seen = copy.get(ValueLayout.JAVA_LONG, offset);
                    assertThat(seen).isIn(0L, 0x5a5a_5a5a_5a5a_5a5aL);
                    boolean unused = WORD.compareAndSet(own, offset, 0L, 0x5a5a_5a5a_5a5a_5a5aL);
                }
            }
        }
        punching.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    /**
     * A writable descriptor stays writable in whatever hands, so narrowing it to reading would be a
     * promise that nothing keeps.
     */
    @Test
    void shouldNotBePassedOnAsReadOnly() {
        assertThatThrownBy(() -> importer.reexport(imported, false, null))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.NOT_SUPPORTED))
                .hasMessage(
                        "one memory is exported either read-only or writable: imported=writable,"
                                + " asked=read-only");
    }
}
