package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.folder.FabricFolder;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.link.Mailbox;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusLoop;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Identity;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ReplacedEpoll;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Failures of the operating system, which the modules above see as failures of the bus. */
class SystemFailureTest {
    @TempDir Path folder;

    private Bus bus() {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("fabric"),
                        new byte[32],
                        "t",
                        Patience.NANOS,
                        1L << 20,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    private static void assertSystemFailure(Throwable thrown) {
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.SYSTEM));
    }

    @Test
    void shouldFailAConnectToASocketOfAnotherTypeAsTheSystemDoes() throws Exception {
        SharedSegment inbound = SharedSegment.allocate("inbound", 4096);
        Path socket = folder.resolve("fabric").resolve(FabricFolder.hash("other") + ".sock");
        try (Bus bus = bus();
                ServerSocketChannel stream =
                        ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            stream.bind(UnixDomainSocketAddress.of(socket));

            assertThatThrownBy(() ->
                            bus.connect("other", new byte[0], inbound, Patience.NANOS)
                                    .future()
                                    .get(Patience.SECONDS, TimeUnit.SECONDS))
                    .cause()
                    .satisfies(SystemFailureTest::assertSystemFailure);
        } finally {
            inbound.release();
            Files.deleteIfExists(socket);
        }
    }

    /** As after an Error of that thread, which nothing else would notice. */
    @Test
    void shouldFailWhatWaitsForABusThreadThatHasFailedAndAllLaterRequests() throws Exception {
        SharedSegment inbound = SharedSegment.allocate("inbound", 4096);
        CompletableFuture<PendingLink> pending = new CompletableFuture<>();
        try (Bus other = bus();
                Endpoint _ = other.listen("silent", pending::complete);
                Bus bus = bus()) {
            CompletableFuture<Attachment> waiting =
                    bus.connect("silent", new byte[0], inbound, Patience.NANOS).future();
            PendingLink unanswered = pending.get(Patience.SECONDS, TimeUnit.SECONDS);
            failThread(bus.threads().loop());

            assertThatThrownBy(() -> waiting.get(Patience.SECONDS, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(FabricException.class);
            assertThatThrownBy(() ->
                            bus.connect("silent", new byte[0], inbound, Patience.NANOS).future())
                    .satisfies(SystemFailureTest::assertSystemFailure)
                    .hasMessageContaining("bus thread has failed: folder=" + bus.folder());
            assertThatThrownBy(() -> bus.listen("name", link -> {}))
                    .hasMessageContaining("bus thread has failed");
            unanswered.refuse(1, "was connected");
        } finally {
            inbound.release();
        }
    }

    /** Its epoll fails until it shuts down. */
    private static void failThread(BusLoop loop) {
        loop.execute(() -> {
            ReplacedEpoll replaced = new ReplacedEpoll(loop.epollDescriptor());
            loop.join(
                    new BusLoop.Handler() {
                        @Override
                        public void onEvents(int events) {}

                        @Override
                        public void onShutdown() {
                            replaced.close();
                        }
                    });
        });
    }

    @Test
    void shouldNotFollowASymbolicLinkInThePlaceOfASocket() throws Exception {
        Path link = folder.resolve("fabric").resolve(FabricFolder.hash("linked") + ".sock");
        Path elsewhere = folder.resolve("elsewhere");
        try (Bus bus = bus();
                Bus other =
                        Bus.open(
                                new Bus.Config(
                                        elsewhere,
                                        new byte[32],
                                        "t",
                                        Patience.NANOS,
                                        1L << 20,
                                        Long.MAX_VALUE,
                                        Long.MAX_VALUE));
                Endpoint _ = other.listen("linked", pending -> pending.refuse(1, "was followed"))) {
            Files.createSymbolicLink(
                    link, elsewhere.resolve(FabricFolder.hash("linked") + ".sock"));

            assertRefusedToConnect(
                    bus, "linked", "type=symbolic link, uid=" + Identity.effectiveUid());
        } finally {
            Files.deleteIfExists(link);
        }
    }

    @Test
    void shouldNotConnectToARegularFileInThePlaceOfASocket() throws Exception {
        Path file = folder.resolve("fabric").resolve(FabricFolder.hash("file") + ".sock");
        try (Bus bus = bus()) {
            Files.createFile(file);

            assertRefusedToConnect(
                    bus, "file", "type=regular file, uid=" + Identity.effectiveUid());
        } finally {
            Files.deleteIfExists(file);
        }
    }

    @Test
    void shouldNotConnectToASocketFileOfAnotherUser() throws Exception {
        assumeTrue(Identity.effectiveUid() == 0, "only root can give a file to another user");
        Path file = folder.resolve("fabric").resolve(FabricFolder.hash("given") + ".sock");
        try (Bus bus = bus();
                Endpoint _ = bus.listen("given", pending -> pending.refuse(1, "was connected"))) {
            Files.setAttribute(file, "unix:uid", 65_534);

            assertRefusedToConnect(bus, "given", "type=socket, uid=65534");
        }
    }

    /** That nothing is connected, the reason is named, and no descriptor stays open. */
    private static void assertRefusedToConnect(Bus bus, String name, String expected) {
        SharedSegment inbound = SharedSegment.allocate("inbound", 4096);
        ResourceSnapshot before = ResourceSnapshot.now();
        try {
            assertThatThrownBy(() ->
                            bus.connect(name, new byte[0], inbound, Patience.NANOS)
                                    .future()
                                    .get(Patience.SECONDS, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            FabricException.class,
                            e ->
                                    assertThat(e.kind())
                                            .as(e.getMessage())
                                            .isEqualTo(FabricException.Kind.NOT_PERMITTED))
                    .hasMessageContaining("name=" + name + ", " + expected);
            ResourceSnapshot.awaitAgain(before);
        } finally {
            inbound.release();
        }
    }

    @Test
    void shouldFailToServeANameWhoseLockCannotBeOpenedAsTheSystemDoes() throws IOException {
        try (Bus bus = bus()) {
            Path lock = folder.resolve("fabric").resolve(FabricFolder.hash("blocked") + ".lock");
            Files.createDirectory(lock);

            assertThatThrownBy(() -> bus.listen("blocked", pending -> pending.refuse(1, "no")))
                    .satisfies(SystemFailureTest::assertSystemFailure);
            Files.delete(lock);
        }
    }

    @Test
    void shouldFailToJoinAFolderWhoseTopologyCannotBeReadAsTheSystemDoes() throws IOException {
        Path topology = folder.resolve("fabric").resolve("topology");
        bus().close();
        Files.write(topology, new byte[] {(byte) 0xff, (byte) 0xfe});
        int file = FileDescriptors.open(topology.toString(), FileDescriptors.O_RDWR, 0);
        try {
            assertThat(FileDescriptors.tryLockShared(file)).isTrue();

            assertThatThrownBy(this::bus).satisfies(SystemFailureTest::assertSystemFailure);
        } finally {
            FileDescriptors.close(file);
        }
    }

    @Test
    void shouldRefuseMoreMemoryThanThereAreAddresses() {
        assertThatThrownBy(() -> SharedSegment.allocate("all", Long.MAX_VALUE))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.NO_MEMORY));
    }

    @Test
    void shouldLeaveFilesAloneThatNoBusHasMade() throws IOException {
        Path fabric = folder.resolve("fabric");
        bus().close();
        Path other = Files.createFile(fabric.resolve("yarn.lock"));
        Path stale = Files.createFile(fabric.resolve("0123456789abcdef.lock"));

        assertThatThrownBy(this::bus).hasMessageContaining("file=yarn.lock");
        assertThat(other).exists();
        assertThat(stale).exists();

        Files.delete(other);
        bus().close();
        assertThat(stale).doesNotExist();
    }

    @Test
    void shouldRunWhatIsLeftForAnEngineThatHasEnded() {
        EventPoller poller = new EventPoller();
        Mailbox mailbox = new Mailbox(poller);
        StringBuilder ran = new StringBuilder();
        mailbox.post(() -> ran.append("before,"));
        mailbox.post(() -> {
            throw new IllegalStateException("fails");
        });
        mailbox.close();
        poller.close();
        assertThat(ran).hasToString("before,");

        mailbox.post(() -> ran.append("after"));

        assertThat(ran).hasToString("before,after");
        assertThat(mailbox.isEmpty()).isTrue();
    }
}
