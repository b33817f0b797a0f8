package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LingeringSocket;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Descriptors whose last close blocks for minutes, wherever a peer can send one: neither the bus
 * thread nor an engine closes them. Each test fails by its deadline if one of these blocks.
 */
final class LingeringDescriptorTest {
    @TempDir Path folder;

    private final BlockingQueue<PendingLink> arrived = new LinkedBlockingQueue<>();
    private Bus victim;
    private Bus client;
    private LingeringSocket lingering;
    private ResourceSnapshot before;

    @BeforeEach
    void open() throws Exception {
        victim = bus();
        client = bus();
        victim.listen("victim", arrived::add);
        assertOthersAreServed(); // what is loaded at the first use is there
        lingering = LingeringSocket.open();
        before = ResourceSnapshot.now();
    }

    @AfterEach
    void close() throws Exception {
        lingering.close();
        client.close();
        victim.close();
    }

    private Bus bus() {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("fabric"),
                        new byte[32],
                        "t",
                        Patience.NANOS,
                        8 << 20,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    @Test
    void shouldServeOthersWhileARefusedDescriptorLingers() throws Exception {
        try (HostilePeer peer = HostilePeer.connect(victim, "victim")) {
            peer.send(new Frame.Hello(4096, new byte[0]), lingering.descriptor());
            lingering.sent();
            assertThat(peer.receive()).isInstanceOf(Frame.Refuse.class);
            peer.awaitEnd();
        }
        assertOthersAreServed();
        assertDescriptorsGo(1);
    }

    @Test
    void shouldServeOthersWhileSurplusDescriptorsLinger() throws Exception {
        int[] surplus = new int[DescriptorPassing.MAX_DESCRIPTORS];
        java.util.Arrays.fill(surplus, lingering.descriptor());
        try (HostilePeer peer = HostilePeer.connect(victim, "victim")) {
            peer.send(new Frame.Hello(4096, new byte[0]), surplus);
            lingering.sent();
            assertThat(peer.receive()).isInstanceOf(Frame.Refuse.class);
            peer.awaitEnd();
        }
        assertOthersAreServed();
        assertDescriptorsGo(1);
    }

    @Test
    void shouldServeOthersWhileDescriptorsOfAnUnreadFrameLinger() throws Exception {
        CountDownLatch sent = holdTheBusThread();
        try (HostilePeer peer = HostilePeer.connect(victim, "victim")) {
            peer.sendBytes(new byte[] {1, 2, 3}); // ends the handshake, with the next still there
            peer.sendBytes(new byte[] {1}, lingering.descriptor());
            lingering.sent();
            sent.countDown();
            assertThat(peer.receive()).isInstanceOf(Frame.Refuse.class);
        }
        assertOthersAreServed();
        assertDescriptorsGo(1);
    }

    @Test
    void shouldRefuseDescriptorsBesideARequestForARegion() throws Exception {
        SharedSegment memory = SharedSegment.allocate("exported", MemoryMapping.pageSize());
        ExportedRegion region = victim.export(memory, true, null);
        String name = HostilePeer.exporterName(region.address().busId());
        try (HostilePeer peer = HostilePeer.connect(victim, name)) {
            Frame.Lease lease =
                    new Frame.Lease(region.address().regionId(), region.address().key(), true);
            byte[] frame = Frame.encode(lease);
            int error = peer.trySendBytes(frame, lingering.descriptor());
            lingering.sent(error);
            if (error == 0) { // a kernel that cannot refuse them before they are sent
                assertThat(peer.receive()).isInstanceOf(Frame.Refuse.class);
                peer.awaitEnd();
            }
            assertThat(region.leases()).isZero();
        }
        assertOthersAreServed();
        region.close();
        memory.release();
    }

    @Test
    void shouldServeOthersWhileDescriptorsInABacklogLinger() throws Exception {
        Endpoint endpoint = victim.listen("closing", arrived::add);
        CountDownLatch sent = holdTheBusThread();
        try (HostilePeer peer = HostilePeer.connect(victim, "closing")) {
            peer.sendBytes(new byte[] {1}, lingering.descriptor());
            lingering.sent();
            endpoint.close();
            sent.countDown();
            assertOthersAreServed();
        }
    }

    @Test
    void shouldNotKeepAnEngineWithADescriptorBesideADoorbell() throws Exception {
        try (EventPoller poller = new EventPoller();
                HostilePeer peer = HostilePeer.connect(victim, "victim")) {
            CountDownLatch sent = holdTheBusThread();
            int memory = BadDescriptor.good(4096);
            peer.send(new Frame.Hello(4096, new byte[0]), memory);
            FileDescriptors.close(memory);
            // Queued before the handshake is over: later the kernel may refuse it.
            peer.sendBytes(new byte[] {1}, lingering.descriptor());
            lingering.sent();
            sent.countDown();
            SharedSegment own = SharedSegment.allocate("own", 4096);
            Attachment attachment = nextArrival().accept(new byte[0], own);
            poller.add(attachment.link());

            long begin = System.nanoTime();
            assertThat(poller.sleep(Patience.NANOS)).isTrue();
            assertThat(System.nanoTime() - begin)
                    .as("nanoseconds, of which a close that lingers takes more")
                    .isLessThan(TimeUnit.SECONDS.toNanos(LingeringSocket.LINGER_SECONDS));
            Await.until("the peer counts as gone", attachment.link()::peerGone);
            attachment.link().close();
            attachment.remote().release();
            own.release();
        }
        assertOthersAreServed();
    }

    @Test
    void shouldFindAPeerGoneThatSendsAnEmptyMessage() throws Exception {
        assertOnlyDoorbellsAreTaken(new byte[0]);
    }

    @Test
    void shouldFindAPeerGoneThatSendsMoreThanADoorbell() throws Exception {
        assertOnlyDoorbellsAreTaken(Frame.encode(new Frame.Hello(4096, new byte[0])));
    }

    private void assertOnlyDoorbellsAreTaken(byte[] message) throws Exception {
        try (EventPoller poller = new EventPoller();
                HostilePeer peer = HostilePeer.connect(victim, "victim")) {
            int memory = BadDescriptor.good(4096);
            peer.send(new Frame.Hello(4096, new byte[0]), memory);
            FileDescriptors.close(memory);
            SharedSegment own = SharedSegment.allocate("own", 4096);
            Attachment attachment = nextArrival().accept(new byte[0], own);
            Link link = attachment.link();
            poller.add(link);
            assertThat(peer.trySendBytes(new byte[] {1})).isZero();
            assertThat(poller.sleep(Patience.NANOS)).isTrue();
            assertThat(link.peerGone()).isFalse();

            peer.trySendBytes(message);

            Await.until(
                    "the peer counts as gone",
                    () -> {
                        poller.sleep(0);
                        return link.peerGone();
                    });
            poller.remove(link);
            link.close();
            attachment.remote().release();
            own.release();
        }
    }

    /** The victim's bus thread does nothing until the latch is open. */
    private CountDownLatch holdTheBusThread() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch free = new CountDownLatch(1);
        victim.threads()
                .loop()
                .execute(() -> {
                    held.countDown();
                    try {
                        assertThat(free.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
        assertThat(held.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        return free;
    }

    private PendingLink nextArrival() throws InterruptedException {
        PendingLink pending = arrived.poll(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(pending).isNotNull();
        return pending;
    }

    /** A whole handshake, and a region in the other direction. */
    private void assertOthersAreServed() throws Exception {
        SharedSegment inbound = SharedSegment.allocate("inbound", 4096);
        SharedSegment own = SharedSegment.allocate("own", 4096);
        CompletableFuture<Attachment> connecting =
                client.connect("victim", new byte[0], inbound, Patience.NANOS).future();
        Attachment served = nextArrival().accept(new byte[0], own);
        Attachment connected = connecting.get(Patience.SECONDS, TimeUnit.SECONDS);
        for (Attachment one : new Attachment[] {served, connected}) {
            one.link().close();
            one.remote().release();
        }
        ExportedRegion region = client.export(inbound, true, null);
        victim.importRegion(region.address(), true, true, Patience.NANOS)
                .future()
                .get(Patience.SECONDS, TimeUnit.SECONDS)
                .close();
        region.close();
        inbound.release();
        own.release();
    }

    /**
     * Nothing of what was refused stays, well before the time it wanted to linger. There may be
     * fewer descriptors than before: what came before the test is closed on its thread, too.
     */
    private void assertDescriptorsGo(int descriptorsSent) {
        int most = before.descriptors().size() - descriptorsSent;
        Await.until(
                "refused descriptors are closed",
                () -> lingering.held() == 0 && ResourceSnapshot.now().descriptors().size() <= most);
    }
}
