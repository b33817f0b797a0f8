package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.folder.FabricFolder;
import io.softdpu.fabric.folder.FabricPath;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Handshakes;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.RegionProbe;
import io.softdpu.fabric.thread.MappingWorkers;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits of the bus: kept resources, length of a turn, and releases. */
final class BusLimitsTest {
    @TempDir Path folder;
    private Bus exporter;
    private Bus importer;

    @BeforeEach
    void open() {
        exporter = bus();
        importer = bus();
    }

    @AfterEach
    void close() {
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
                        1L << 30,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    @Test
    void shouldRefuseAClientOfAProcessOfWhichTooMuchWaitsToBeMapped() throws Exception {
        exporter.listen("name", arrived -> arrived.refuse(1, "arrived"));
        int pid = (int) ProcessHandle.current().pid();
        CountDownLatch goOn = new CountDownLatch(1);
        for (int i = 0; i < MappingWorkers.WAITING_LIMIT; i++) {
            exporter.runForPeer(pid, () -> await(goOn));
        }
        int memory = BadDescriptor.good(4096);
        try (HostilePeer client = HostilePeer.connect(exporter, "name")) {
            client.send(new Frame.Hello(4096, new byte[0]), memory);

            assertThat(client.receive())
                    .isInstanceOfSatisfying(
                            Frame.Refuse.class,
                            refusal ->
                                    assertThat(refusal.text())
                                            .isEqualTo(
                                                    Text.format(
                                                            "too much memory of a peer waits to be"
                                                                + " mapped: peerPid=%d, limit=%d",
                                                            pid, MappingWorkers.WAITING_LIMIT)));
            assertThat(exporter.mappedBytesOfPeers()).isZero();
        } finally {
            goOn.countDown();
            FileDescriptors.close(memory);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldRefuseAClientWhoseRingsAreTooLargeToMapAtOnce() throws Exception {
        exporter.listen("name", pending -> pending.refuse(1, "not reached"));
        SharedSegment tooLarge =
                SharedSegment.allocate("rings", Handshakes.MAX_JOINING_BYTES + 4096);
        assertThatThrownBy(() ->
                        importer.connect("name", new byte[0], tooLarge, Patience.NANOS)
                                .future()
                                .get(Patience.SECONDS, TimeUnit.SECONDS))
                .hasMessageContaining("size out of range: sizeBytes=16781312, limit=16777216");
        tooLarge.release();
    }

    @Test
    void shouldEndACancelledAttemptToConnectAtOnce() throws Exception {
        CompletableFuture<PendingLink> arrived = new CompletableFuture<>();
        exporter.listen("name", arrived::complete);
        SharedSegment own = SharedSegment.allocate("own", 4096);
        CompletableFuture<Attachment> connecting =
                importer.connect("name", new byte[0], own, Patience.NANOS).future();
        PendingLink pending = arrived.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(pending.peerGone()).isFalse();

        connecting.cancel(false);

        Await.until("the server sees the end", pending::peerGone);
        own.release();
        assertThat(own.retain()).as("no other reference to the memory").isFalse();
        pending.refuse(1, "nobody there");
    }

    @Test
    void shouldGiveBackAnImportThatWasCancelled() throws Exception {
        SharedSegment memory = SharedSegment.allocate("memory", 8 << 20);
        ExportedRegion region = exporter.export(memory, true, null);
        for (int i = 0; i < 20; i++) {
            CompletableFuture<ImportedRegion> importing =
                    importer.importRegion(region.address(), true, true, Patience.NANOS).future();
            if (i % 2 == 1) {
                Await.until(
                        "the region is leased", () -> region.leases() > 0 || importing.isDone());
            }
            if (!importing.cancel(false)) {
                importing.get().close(); // it was there first
            }
            Await.until("the lease is over", () -> region.leases() == 0);
        }
        memory.release();
    }

    @Test
    void shouldForgetReexportsThatHaveBeenRevoked() throws Exception {
        SharedSegment memory = SharedSegment.allocate("memory", 4096);
        ExportedRegion region = exporter.export(memory, true, null);
        ImportedRegion imported =
                importer.importRegion(region.address(), true, true, Patience.NANOS)
                        .future()
                        .get(Patience.SECONDS, TimeUnit.SECONDS);
        for (int i = 0; i < 50; i++) {
            importer.reexport(imported, true, null).revoke();
        }
        assertThat(RegionProbe.children(imported)).isZero();
        ExportedRegion one = importer.reexport(imported, true, null);
        ExportedRegion other = importer.reexport(imported, true, null);
        assertThat(RegionProbe.children(imported)).isEqualTo(2);

        exporter.close();

        Await.until("re-exports end", () -> RegionProbe.children(imported) == 0);
        assertThat(one.revoked()).isTrue();
        assertThat(other.revoked()).isTrue();
        imported.close();
        memory.release();
    }

    @Test
    void shouldStillCountWhatImportersHoldAfterTheExporterHasClosed() throws Exception {
        SharedSegment memory = SharedSegment.allocate("memory", 8192);
        ExportedRegion region = exporter.export(memory, true, null);
        ImportedRegion imported =
                importer.importRegion(region.address(), true, true, Patience.NANOS)
                        .future()
                        .get(Patience.SECONDS, TimeUnit.SECONDS);

        exporter.close();

        assertThat(exporter.retainedBytes()).isEqualTo(8192);
        imported.close();
        memory.release();
    }

    @Test
    void shouldFollowALinkToTheFolderOnlyWhereTheUserChoseIt() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("fabric"));
        assertThatThrownBy(() ->
                        FabricFolder.join(
                                new FabricPath(link, false), new byte[32], "t", Patience.NANOS))
                .isInstanceOf(FabricException.class)
                .hasMessageContaining("fabric folder is a symbolic link: path=" + link);
        FabricFolder.join(new FabricPath(link, true), new byte[32], "t", Patience.NANOS).close();
    }

    @Test
    void shouldSayWhatIsExpectedWhereAPathLeadsToNoFolder() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatThrownBy(() ->
                        FabricFolder.join(
                                new FabricPath(file, true), new byte[32], "t", Patience.NANOS))
                .isInstanceOf(FabricException.class)
                .hasMessageContainingAll("path=" + file, "ENOTDIR", ", expected=a folder")
                .extracting(Throwable::getMessage)
                .asString()
                .containsOnlyOnce(file.toString());
        Path below = file.resolve("below");
        assertThatThrownBy(() ->
                        FabricFolder.join(
                                new FabricPath(below, true), new byte[32], "t", Patience.NANOS))
                .isInstanceOf(FabricException.class)
                .hasMessageContainingAll("path=" + below, "ENOTDIR", ", expected=a folder");
    }

    @Test
    void shouldDropTheOldestSilentClientOfTheProcessThatHasMost() throws Exception {
        CompletableFuture<PendingLink> arrived = new CompletableFuture<>();
        exporter.listen("name", arrived::complete);
        List<HostilePeer> silent = new ArrayList<>();
        try {
            for (int i = 0; i < Handshakes.PENDING_LIMIT + 3; i++) {
                silent.add(HostilePeer.connectPatiently(exporter, "name"));
            }
            silent.getFirst().awaitEnd();
            silent.get(2).awaitEnd();
            HostilePeer last = silent.getLast();
            int memory = BadDescriptor.good(4096);
            last.send(new Frame.Hello(4096, new byte[0]), memory);
            FileDescriptors.close(memory);
            arrived.get(Patience.SECONDS, TimeUnit.SECONDS).refuse(1, "seen");
        } finally {
            silent.forEach(HostilePeer::close);
        }
    }
}
