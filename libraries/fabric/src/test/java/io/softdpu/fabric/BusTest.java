package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.engine.WaitPermission;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.error.RefuseCode;
import io.softdpu.fabric.folder.FabricFolder;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.EndpointListener;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BusTest {
    /** A time limit whose end is awaited. */
    private static final long SHORT_NANOS = 200_000_000;

    private static final byte[] TOPOLOGY = new byte[32];

    @TempDir Path folder;
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        try (var left = Files.list(folder.resolve("fabric"))) {
            assertThat(left.map(p -> p.getFileName().toString())).containsOnly("topology");
        }
    }

    private Bus bus() {
        return bus(TOPOLOGY, Patience.NANOS);
    }

    private Bus bus(byte[] topology, long timeoutNanos) {
        Bus bus =
                Bus.open(
                        new Bus.Config(
                                folder.resolve("fabric"),
                                topology,
                                "test",
                                timeoutNanos,
                                1L << 30,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
        open.add(bus);
        return bus;
    }

    private SharedSegment memory(long sizeBytes) {
        SharedSegment memory = SharedSegment.allocate("softdpu-test", sizeBytes);
        open.add(memory::release);
        return memory;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    private static <T> T get(Import<T> asked) throws Exception {
        return get(asked.future());
    }

    private static FabricException failure(Import<?> asked) {
        return failure(asked.future());
    }

    private static FabricException failure(CompletableFuture<?> future) {
        try {
            future.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return (FabricException) e.getCause();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        throw new AssertionError("did not fail");
    }

    @Test
    void shouldWaitForNoLockOnTheBusThread() throws Exception {
        Bus bus = bus();
        Path lockFile = folder.resolve("fabric").resolve(FabricFolder.hash("name") + ".lock");
        int lock =
                FileDescriptors.open(
                        lockFile.toString(),
                        FileDescriptors.O_RDWR | FileDescriptors.O_CREAT,
                        0600);
        open.add(() -> Files.deleteIfExists(lockFile));
        open.add(() -> FileDescriptors.close(lock));
        assertThat(FileDescriptors.tryLockShared(lock)).isTrue(); // as one that examines the name
        CompletableFuture<Endpoint> listening = new CompletableFuture<>();
        CompletableFuture<Boolean> granted = new CompletableFuture<>();

        bus.threads()
                .loop()
                .execute(() -> {
                    granted.complete(WaitPermission.isGranted());
                    try {
                        listening.complete(bus.listen("name", _ -> {}));
                    } catch (FabricException e) {
                        listening.completeExceptionally(e);
                    }
                });

        assertThat(get(granted)).isFalse();
        assertThat(failure(listening).kind()).isEqualTo(FabricException.Kind.TIMED_OUT);
        assertThat(failure(listening))
                .hasMessageContainingAll("processes examine it", "outside progress");
    }

    @Test
    void shouldAgreeOnEqualTopologiesOfDifferentNames() {
        bus();
        Bus other =
                Bus.open(
                        new Bus.Config(
                                folder.resolve("fabric"),
                                TOPOLOGY,
                                "another name",
                                Patience.NANOS,
                                1L << 30,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
        other.close();
    }

    @Test
    void shouldShareMemoryBothWays() throws Exception {
        SharedSegment memory = memory(10_000);
        ExportedRegion exported = bus().export(memory, true, null);
        ImportedRegion imported =
                get(bus().importRegion(exported.address(), true, true, Patience.NANOS));
        memory.segment().set(ValueLayout.JAVA_LONG, 8, 42);
        assertThat(imported.memory().segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
        imported.memory().segment().set(ValueLayout.JAVA_BYTE, 9_999, (byte) 7);
        assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 9_999)).isEqualTo((byte) 7);
        assertThat(imported.sizeBytes()).isEqualTo(10_000);
        assertThat(exported.leases()).isEqualTo(1);
        imported.close();
        Await.until("the lease is over", () -> exported.leases() == 0);
    }

    @Test
    void shouldRetainRevokedMemoryUntilTheLastLeaseCloses() throws Exception {
        Bus exporter = bus();
        ExportedRegion exported = exporter.export(memory(8192), true, null);
        ImportedRegion imported =
                get(bus().importRegion(exported.address(), true, true, Patience.NANOS));
        assertThat(imported.revoked()).isFalse();
        exported.revoke();
        assertThat(imported.revoked()).isTrue();
        assertThat(exporter.retainedBytes()).isEqualTo(8192);
        Await.until("the peer is gone", imported.link()::peerGone);
        assertThat(imported.revokedExplicitly()).as("revoked, and not just gone").isTrue();
        assertThat(
                        failure(bus().importRegion(exported.address(), true, true, Patience.NANOS))
                                .kind())
                .isEqualTo(FabricException.Kind.REFUSED);
        imported.close();
        Await.until("the memory is released", () -> exporter.retainedBytes() == 0);
    }

    @Test
    void shouldDetectTheEndOfTheExporter() throws Exception {
        Bus exporter = bus();
        ExportedRegion exported = exporter.export(memory(4096), true, null);
        ImportedRegion imported =
                get(bus().importRegion(exported.address(), true, true, Patience.NANOS));
        CountDownLatch gone = new CountDownLatch(1);
        imported.link().onPeerGone(gone::countDown);
        exporter.close();
        assertThat(gone.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(imported.revoked()).isTrue();
        imported.close();
    }

    @Test
    void shouldPassAnImportOnWithoutMappingItAndEndWithIt() throws Exception {
        SharedSegment memory = memory(4096);
        ExportedRegion exported = bus().export(memory, true, null);
        Bus middle = bus();
        ImportedRegion unmapped =
                get(middle.importRegion(exported.address(), true, false, Patience.NANOS));
        assertThat(unmapped.memory()).isNull();
        ExportedRegion passedOn = middle.reexport(unmapped, true, null);
        Bus far = bus();
        ImportedRegion imported =
                get(far.importRegion(passedOn.address(), true, true, Patience.NANOS));
        imported.memory().segment().set(ValueLayout.JAVA_LONG, 0, 99);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(99);

        assertThatThrownBy(() -> far.reexport(imported, false, null))
                .hasMessageContaining("cannot be passed on again");
        exported.revoke();
        assertThat(imported.revoked()).as("the grandchild sees it at once").isTrue();
        assertThat(passedOn.revoked()).isTrue();
        imported.close();
        unmapped.close();
        assertThat(failure(far.importRegion(passedOn.address(), true, true, Patience.NANOS)).kind())
                .isEqualTo(FabricException.Kind.REFUSED);
    }

    @Test
    void shouldMapForPeersOfItsOwnWhatIsPassedOn() throws Exception {
        SharedSegment memory = memory(4096);
        ExportedRegion exported = bus().export(memory, true, null);
        Bus middle = bus();
        ImportedRegion passedOn =
                get(middle.importRegion(exported.address(), true, false, Patience.NANOS));
        long pageBytes = middle.mappedBytesOfPeers();

        SharedSegment mapped = passedOn.mapForPeers();

        mapped.segment().set(ValueLayout.JAVA_LONG, 0, 77);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(77);
        assertThat(passedOn.mapForPeers()).isSameAs(mapped);
        assertThat(passedOn.memory()).as("for use by this process").isNull();
        assertThat(middle.mappedBytesOfPeers()).isEqualTo(pageBytes + 4096);
        ExportedRegion reexport = middle.reexport(passedOn, true, null);
        ImportedRegion far =
                get(bus().importRegion(reexport.address(), true, true, Patience.NANOS));
        assertThat(far.memory().segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(77);
        far.close();
        passedOn.close();
        assertThat(passedOn.mapForPeers()).isNull();
        Await.until("all is unmapped", () -> middle.mappedBytesOfPeers() == 0);
    }

    /** The exporter may have ended, or have taken the memory back. */
    @Test
    void shouldNotMapForPeersWhatIsRevoked() throws Exception {
        ExportedRegion exported = bus().export(memory(4096), true, null);
        Bus middle = bus();
        ImportedRegion passedOn =
                get(middle.importRegion(exported.address(), true, false, Patience.NANOS));
        long pageBytes = middle.mappedBytesOfPeers();
        exported.revoke();

        assertThat(passedOn.mapForPeers()).isNull();
        assertThat(middle.mappedBytesOfPeers()).isEqualTo(pageBytes);
        passedOn.close();
    }

    @Test
    void shouldRefuseWrongKeyMoreThanGrantedAndForeignAddresses() throws Exception {
        ExportedRegion exported = bus().export(memory(4096), false, null);
        RegionAddress right = exported.address();
        Bus importer = bus();
        RegionAddress wrongKey =
                new RegionAddress(
                        right.bootId(),
                        right.fabricId(),
                        right.busId(),
                        right.regionId(),
                        new RegionAddress.Id(right.key().high(), right.key().low() ^ 1),
                        right.sizeBytes());
        FabricException refused =
                failure(importer.importRegion(wrongKey, false, true, Patience.NANOS));
        assertThat(refused.kind()).isEqualTo(FabricException.Kind.REFUSED);
        assertThat(refused.refusalCode()).isEqualTo(RefuseCode.NOT_FOUND);
        assertThat(failure(importer.importRegion(right, true, true, Patience.NANOS)).refusalCode())
                .isEqualTo(RefuseCode.NOT_PERMITTED);
        RegionAddress otherBoot =
                new RegionAddress(
                        new RegionAddress.Id(1, 2),
                        right.fabricId(),
                        right.busId(),
                        right.regionId(),
                        right.key(),
                        right.sizeBytes());
        assertThatThrownBy(() -> importer.importRegion(otherBoot, false, true, Patience.NANOS))
                .hasMessageContaining("another kernel");
        RegionAddress longer =
                new RegionAddress(
                        right.bootId(),
                        right.fabricId(),
                        right.busId(),
                        right.regionId(),
                        right.key(),
                        right.sizeBytes() + 1);
        assertThat(failure(importer.importRegion(longer, false, true, Patience.NANOS)).kind())
                .isEqualTo(FabricException.Kind.MALFORMED);
        ImportedRegion readOnly = get(importer.importRegion(right, false, true, Patience.NANOS));
        assertThat(readOnly.memory().segment().isReadOnly()).isTrue();
        assertThatThrownBy(() -> importer.reexport(readOnly, true, null))
                .hasMessageContaining("granted=read-only");
        readOnly.close();
    }

    @Test
    void shouldExportOneMemoryEitherReadOnlyOrWritable() {
        SharedSegment memory = memory(4096);
        Bus bus = bus();
        bus.export(memory, true, null);
        assertThatThrownBy(() -> bus.export(memory, false, null))
                .isInstanceOf(FabricException.class)
                .hasMessageContaining("either read-only or writable");
    }

    @Test
    void shouldConnectByNameExchangeMemoryAndRing() throws Exception {
        Bus server = bus();
        Bus client = bus();
        BlockingQueue<PendingLink> arrived = new ArrayBlockingQueue<>(1);
        server.listen("comch:test", arrived::add);
        SharedSegment clientMemory = memory(4096);
        SharedSegment serverMemory = memory(8192);
        Import<Attachment> connecting =
                client.connect("comch:test", new byte[] {1, 2, 3}, clientMemory, Patience.NANOS);
        PendingLink pending = arrived.poll(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(pending).isNotNull();
        assertThat(pending.payload()).containsExactly(1, 2, 3);
        assertThat(pending.remoteBytes()).isEqualTo(4096);
        Attachment atServer = pending.accept(new byte[] {9}, serverMemory);
        Attachment atClient = get(connecting);
        assertThat(atClient.payload()).containsExactly(9);
        atClient.remote().segment().set(ValueLayout.JAVA_INT, 0, 5);
        assertThat(serverMemory.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(5);
        atServer.remote().segment().set(ValueLayout.JAVA_INT, 0, 6);
        assertThat(clientMemory.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(6);

        try (EventPoller poller = new EventPoller()) {
            poller.add(atClient.link());
            assertThat(poller.sleep(0)).as("nothing rang").isFalse();
            atServer.link().ring();
            assertThat(poller.sleep(Patience.NANOS)).isTrue();
            assertThat(poller.sleep(0)).as("drained").isFalse();
            poller.wake();
            poller.wake();
            assertThat(poller.sleep(Patience.NANOS)).isTrue();
            assertThat(poller.sleep(0)).as("wakes are merged").isFalse();
            atServer.link().close();
            Await.until("the peer is gone", atClient.link()::peerGone);
            poller.clear();
            assertThat(poller.sleep(0)).as("a closed link ends no further wait").isFalse();
        }
        assertThatThrownBy(() -> pending.refuse(1, "late"))
                .isInstanceOf(IllegalStateException.class);
        atClient.link().close();
        atClient.remote().release();
        atServer.remote().release();
    }

    @Test
    void shouldServeOthersAfterAListenerThrewAnError() {
        Bus server = bus();
        server.listen(
                "broken",
                pending -> {
                    pending.refuse(1, "before the error");
                    throw new AssertionError("a listener's bug");
                });
        server.listen("sound", pending -> pending.refuse(24, "no"));
        Bus client = bus();
        failure(client.connect("broken", new byte[0], memory(4096), Patience.NANOS));
        assertThat(
                        failure(client.connect("sound", new byte[0], memory(4096), Patience.NANOS))
                                .kind())
                .isEqualTo(FabricException.Kind.REFUSED);
    }

    @Test
    void shouldTellTheClientWhyItWasRefused() throws Exception {
        bus().listen("n", pending -> pending.refuse(24, "server full: clients=1"));
        FabricException refused =
                failure(bus().connect("n", new byte[0], memory(4096), Patience.NANOS));
        assertThat(refused.kind()).isEqualTo(FabricException.Kind.REFUSED);
        assertThat(refused.refusalCode()).isEqualTo(24);
        assertThat(refused).hasMessage("server full: clients=1");
    }

    @Test
    void shouldFailAtOnceIfNoProcessServesTheName() {
        assertThat(
                        failure(bus().connect("nobody", new byte[0], memory(4096), Patience.NANOS))
                                .kind())
                .isEqualTo(FabricException.Kind.NOT_FOUND);
    }

    @Test
    void shouldTimeOutWhereTheServerNeverDecides() {
        BlockingQueue<PendingLink> arrived = new LinkedBlockingQueue<>();
        bus().listen("slow", arrived::add);
        Bus client = bus();
        // On a busy machine the time may be over before the server has heard of the client.
        for (long limit = SHORT_NANOS; arrived.isEmpty(); limit *= 2) {
            Import<Attachment> connecting =
                    client.connect("slow", new byte[0], memory(4096), limit);
            assertThat(failure(connecting).kind()).isEqualTo(FabricException.Kind.TIMED_OUT);
        }
        PendingLink pending = arrived.remove();
        Await.until("the peer is gone", pending::peerGone);
        assertThatThrownBy(() -> pending.accept(new byte[0], memory(4096)))
                .hasMessageContaining("gave up");
    }

    @Test
    void shouldGiveANameToOneLivingProcessOnly() {
        Bus one = bus();
        Bus two = bus();
        Endpoint first = one.listen("name", PendingLinkRefuser.INSTANCE);
        assertThatThrownBy(() -> two.listen("name", PendingLinkRefuser.INSTANCE))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.IN_USE))
                .hasMessageContainingAll(
                        "name=name, pid=" + ProcessHandle.current().pid() + ", folder=",
                        "expected=another name, or the end of that process");
        first.close();
        two.listen("name", PendingLinkRefuser.INSTANCE);
    }

    @Test
    void shouldTakeOverWhatAKilledProcessLeft() throws Exception {
        bus().close();
        String hash = FabricFolder.hash("name");
        Files.createFile(folder.resolve("fabric").resolve(hash + ".lock"));
        Files.createFile(folder.resolve("fabric").resolve(hash + ".sock"));
        Bus bus = bus();
        assertThat(folder.resolve("fabric").resolve(hash + ".sock")).doesNotExist();
        Files.createFile(folder.resolve("fabric").resolve(hash + ".lock"));
        Files.createFile(folder.resolve("fabric").resolve(hash + ".sock"));
        bus.listen("name", PendingLinkRefuser.INSTANCE);
        assertThat(failure(bus().connect("name", new byte[0], memory(64), Patience.NANOS)).kind())
                .isEqualTo(FabricException.Kind.REFUSED);
    }

    @Test
    void shouldRefuseAFolderWithAnotherTopologyWhileItIsInUse() {
        byte[] other = new byte[32];
        other[0] = 1;
        Bus first = bus();
        assertThatThrownBy(() -> bus(other, Patience.NANOS))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.CONFLICT))
                .hasMessageContaining("theirs=00")
                .hasMessageContaining("ours=01");
        first.close();
        bus(other, Patience.NANOS);
    }

    @Test
    void shouldDropASilentClientAfterTheHandshakeTimeout() throws Exception {
        Bus server = bus(TOPOLOGY, SHORT_NANOS);
        server.listen("quiet", PendingLinkRefuser.INSTANCE);
        int socket = io.softdpu.linux.UnixSocket.create();
        try {
            assertThat(
                            io.softdpu.linux.UnixSocket.connect(
                                    socket, server.fabricFolder().socketAddress("quiet")))
                    .isZero();
            Await.until(
                    "the server has hung up", () -> io.softdpu.linux.Doorbell.drain(socket) < 0);
        } finally {
            io.softdpu.linux.FileDescriptors.close(socket);
        }
    }

    @Test
    void shouldFailWhatIsUnderWayWhenTheBusCloses() {
        BlockingQueue<PendingLink> arrived = new ArrayBlockingQueue<>(1);
        bus().listen("slow", arrived::add);
        Bus client = bus();
        Import<Attachment> connecting =
                client.connect("slow", new byte[0], memory(4096), Patience.NANOS);
        Await.until("the client has arrived", () -> !arrived.isEmpty());
        client.close();
        assertThat(failure(connecting).kind()).isEqualTo(FabricException.Kind.CLOSED);
        assertThatThrownBy(() -> client.listen("x", PendingLinkRefuser.INSTANCE))
                .hasMessageContaining("bus closed");
        arrived.remove().refuse(10, "test ends");
    }

    private enum PendingLinkRefuser implements EndpointListener {
        INSTANCE;

        @Override
        public void arriving(PendingLink pending) {
            pending.refuse(2, "nobody wanted");
        }
    }

    @Test
    void shouldNameTheProcessThatServesAName() {
        Bus bus = bus();
        assertThat(bus.servingPid("served")).isEmpty();
        bus.listen("served", pending -> {});
        assertThat(bus().servingPid("served")).hasValue((int) ProcessHandle.current().pid());
    }

    @Test
    void shouldReportAClientThatGivesUpBeforeItIsDecidedOn() throws Exception {
        CompletableFuture<PendingLink> arrived = new CompletableFuture<>();
        CompletableFuture<Boolean> gone = new CompletableFuture<>();
        bus().listen("slow", arrived::complete);
        Import<Attachment> connecting =
                bus().connect("slow", new byte[0], memory(4096), Patience.NANOS);
        PendingLink pending = get(arrived);
        pending.onPeerGone(() -> gone.complete(true));
        assertThat(gone).isNotDone();

        connecting.close();

        assertThat(get(gone)).isTrue();
        pending.refuse(1, "gone");
    }
}
