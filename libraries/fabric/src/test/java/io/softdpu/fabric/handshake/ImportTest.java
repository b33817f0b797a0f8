package io.softdpu.fabric.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.Bus;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** States of imports, and their end in each. */
final class ImportTest {
    private static final long SIZE_BYTES = 4096;

    @TempDir Path folder;

    private Bus exporter;
    private Bus importer;
    private SharedSegment memory;

    @BeforeEach
    void openBuses() {
        exporter = bus();
        importer = bus();
        memory = SharedSegment.allocate("import", SIZE_BYTES);
    }

    @AfterEach
    void closeBuses() {
        memory.release();
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

    private Import<ImportedRegion> importing(ExportedRegion region) {
        return importer.importRegion(region.address(), true, true, Patience.NANOS);
    }

    private Import<Attachment> connecting() {
        return importer.connect("name", new byte[0], memory, Patience.NANOS);
    }

    @Test
    void shouldBeWithTheHolderFromTheFutureUntilTheClose() throws Exception {
        ExportedRegion region = exporter.export(memory, true, null);
        Import<ImportedRegion> asked = importing(region);
        asked.future().get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(asked.state()).isEqualTo(ImportState.HANDED_OVER);

        asked.close();
        asked.close();

        assertThat(asked.state()).isEqualTo(ImportState.CLOSED);
        Await.until("the lease has ended", () -> region.leases() == 0);
        region.close();
    }

    @Test
    void shouldStayWithTheHolderWhenTheExporterRevokesIt() throws Exception {
        ExportedRegion region = exporter.export(memory, true, null);
        Import<ImportedRegion> asked = importing(region);
        ImportedRegion imported = asked.future().get(Patience.SECONDS, TimeUnit.SECONDS);

        region.revoke();

        assertThat(imported.revoked()).isTrue();
        assertThat(asked.state()).isEqualTo(ImportState.HANDED_OVER);
        asked.close();
        assertThat(asked.state()).isEqualTo(ImportState.CLOSED);
        Await.until("the memory is released", () -> exporter.retainedBytes() == 0);
    }

    @Test
    void shouldBeClosedWhenTheExporterRefuses() {
        ExportedRegion region = exporter.export(memory, true, null);
        region.close();

        Import<ImportedRegion> asked = importing(region);

        assertThat(asked.future()).failsWithin(Patience.DEADLINE);
        assertThat(asked.state()).isEqualTo(ImportState.CLOSED);
    }

    @Test
    void shouldEndTheRequestWhenClosedBeforeTheReply() throws Exception {
        CompletableFuture<PendingLink> arrived = new CompletableFuture<>();
        exporter.listen("name", arrived::complete);
        Import<Attachment> asked = connecting();
        PendingLink pending = arrived.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(asked.state()).isEqualTo(ImportState.ASKED);

        asked.close();

        assertThat(asked.state()).isEqualTo(ImportState.CLOSED);
        Await.until("the server sees its end", pending::peerGone);
        Await.until("the future has failed", asked.future()::isCancelled);
        pending.refuse(1, "nobody there");
    }

    @Test
    void shouldBeClosedByTheCancellationOfItsFuture() throws Exception {
        CompletableFuture<PendingLink> arrived = new CompletableFuture<>();
        exporter.listen("name", arrived::complete);
        Import<Attachment> asked = connecting();
        PendingLink pending = arrived.get(Patience.SECONDS, TimeUnit.SECONDS);

        asked.future().cancel(false);

        assertThat(asked.state()).isEqualTo(ImportState.CLOSED);
        Await.until("the server sees its end", pending::peerGone);
        pending.refuse(1, "nobody there");
    }

    @Test
    void shouldDeliverToAnEngineUnlessItIsClosedBefore() throws Exception {
        ExportedRegion region = exporter.export(memory, true, null);
        LinkedBlockingQueue<Runnable> mailbox = new LinkedBlockingQueue<>();
        List<ImportedRegion> delivered = new ArrayList<>();

        try (Import<ImportedRegion> first = importing(region);
                Import<ImportedRegion> second = importing(region)) {
            first.deliver(mailbox::add, (object, failure) -> delivered.add(object));
            mailbox.poll(Patience.SECONDS, TimeUnit.SECONDS).run();
            second.deliver(mailbox::add, (object, failure) -> delivered.add(object));
            Runnable late = mailbox.poll(Patience.SECONDS, TimeUnit.SECONDS);
            second.close();
            late.run();

            assertThat(delivered).containsExactly(first.future().resultNow());
        }
        Await.until("the leases have ended", () -> region.leases() == 0);
        region.close();
    }
}
