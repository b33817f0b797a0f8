package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Revocation of a region while another process leases it. */
final class LeaseRaceTest {
    private static final long SIZE_BYTES = 4096;
    private static final int ROUNDS = 300;

    @TempDir Path folder;

    private Bus exporter;
    private Bus importer;

    @BeforeEach
    void openBuses() {
        exporter = bus();
        importer = bus();
    }

    @AfterEach
    void closeBuses() {
        importer.close();
        exporter.close();
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

    private CompletableFuture<ImportedRegion> importing(ExportedRegion region) {
        return importer.importRegion(region.address(), true, true, Patience.NANOS).future();
    }

    private void awaitLeasesClosed() {
        Await.until("all leases have closed", () -> exporter.retainedBytes() == 0);
    }

    @Test
    void shouldKeepMemoryBackForEachImporterThatGotIt() throws Exception {
        SharedSegment memory = SharedSegment.allocate("race", SIZE_BYTES);
        for (int i = 0; i < ROUNDS; i++) {
            ExportedRegion region = exporter.export(memory, true, null);
            ImportedRegion imported = importing(region).get(Patience.SECONDS, TimeUnit.SECONDS);

            region.revoke();

            assertThat(exporter.retainedBytes()).as("round %d", i).isEqualTo(SIZE_BYTES);
            assertThat(imported.revoked()).isTrue();
            imported.close();
            awaitLeasesClosed();
        }
        memory.release();
    }

    /** No wrong descriptor may be sent if the exporter releases the memory at the same time. */
    @Test
    void shouldGiveTheRegionOrNothing() throws Exception {
        ResourceSnapshot before = ResourceSnapshot.now();
        for (int i = 0; i < ROUNDS; i++) {
            SharedSegment memory = SharedSegment.allocate("race", SIZE_BYTES);
            memory.segment().set(ValueLayout.JAVA_INT, 0, i);
            ExportedRegion region = exporter.export(memory, true, null);
            CompletableFuture<ImportedRegion> importing = importing(region);
            memory.release();

            region.revoke();

            try (ImportedRegion imported = importing.get(Patience.SECONDS, TimeUnit.SECONDS)) {
                SharedSegment mapped = imported.memory();
                assertThat(mapped).isNotNull();
                assertThat(mapped.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
                assertThat(imported.revoked()).isTrue();
            } catch (ExecutionException e) {
                assertThat(e.getCause())
                        .isInstanceOfSatisfying(
                                FabricException.class,
                                refusal ->
                                        assertThat(refusal.kind())
                                                .isIn(
                                                        FabricException.Kind.REFUSED,
                                                        FabricException.Kind.PEER_GONE));
            }
        }
        awaitLeasesClosed();
        ResourceSnapshot.awaitAgain(before);
    }
}
