package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import io.softdpu.fabric.thread.DescriptorCloser;
import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.UnixSocket;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LingeringSocket;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Links that end while a peer blocks all closing threads, and while engines that listen to them do
 * nothing: their sockets stay open, but no engine is woken by them again and again.
 */
final class BlockedClosersTest {
    /** A few wake-ups tell of the end; an epoll that has the socket is ready without end. */
    private static final int MANY_WAKE_UPS = 100;

    @TempDir Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final BlockingQueue<PendingLink> arrived = new LinkedBlockingQueue<>();
    private final BlockingQueue<Link> leases = new LinkedBlockingQueue<>();
    private Bus victim;
    private Bus peer;

    @BeforeEach
    void block() throws Exception {
        victim = bus();
        peer = bus();
        victim.listen("victim", arrived::add);
        List<Integer> blocking = new ArrayList<>();
        for (int i = 0; i < DescriptorCloser.THREADS_LIMIT; i++) {
            LingeringSocket lingering = LingeringSocket.open();
            open.add(lingering);
            int[] pair = UnixSocket.pair();
            int error =
                    DescriptorPassing.send(
                            pair[0], MemorySegment.ofArray(new byte[1]), 1, lingering.descriptor());
            assertThat(error).isZero();
            lingering.sent();
            FileDescriptors.close(pair[0]);
            blocking.add(pair[1]);
        }
        blocking.forEach(victim.threads().closer()::closeRefused);
        Await.until(
                "all closing threads are blocked",
                () -> LingeringSocket.blockedCloses() == blocking.size());
    }

    @AfterEach
    void close() throws Exception {
        assertThat(victim.threads().closer().isIdle()).as("closing threads were free").isFalse();
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    private Bus bus() {
        Bus bus =
                Bus.open(
                        new Bus.Config(
                                folder.resolve("fabric"),
                                new byte[32],
                                "t",
                                Patience.NANOS,
                                8 << 20,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
        open.add(bus);
        return bus;
    }

    private EventPoller poller() {
        EventPoller poller = new EventPoller();
        open.add(poller);
        return poller;
    }

    private SharedSegment memory() {
        SharedSegment memory = SharedSegment.allocate("memory", 4096);
        open.add(memory::release);
        return memory;
    }

    /** A connection of the Comm Channel, or of a handle of a sync event. */
    private Attachment[] connection() throws Exception {
        CompletableFuture<Attachment> connecting =
                peer.connect("victim", new byte[0], memory(), Patience.NANOS).future();
        Attachment served =
                arrived.poll(Patience.SECONDS, TimeUnit.SECONDS).accept(new byte[0], memory());
        Attachment connected = connecting.get(Patience.SECONDS, TimeUnit.SECONDS);
        open.add(served.remote()::release);
        open.add(connected.remote()::release);
        return new Attachment[] {served, connected};
    }

    private ImportedRegion imported(Bus by, ExportedRegion region) throws Exception {
        return by.importRegion(region.address(), true, true, Patience.NANOS)
                .future()
                .get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    /** Waits until the bus thread of the victim has handled what it was given so far. */
    private void settle() throws Exception {
        for (int i = 0; i < 2; i++) { // a command may give it another
            CompletableFuture<Void> handled = new CompletableFuture<>();
            victim.threads().loop().execute(() -> handled.complete(null));
            handled.get(Patience.SECONDS, TimeUnit.SECONDS);
        }
    }

    private static void assertQuiet(EventPoller poller) {
        int wakeUps = 0;
        while (wakeUps < MANY_WAKE_UPS && poller.sleep(0)) {
            wakeUps++;
        }
        assertThat(wakeUps).as("wake-ups of an engine").isLessThan(MANY_WAKE_UPS);
    }

    @Test
    void shouldNotWakeEnginesByAConnectionThatHasEnded() throws Exception {
        Attachment[] ends = connection();
        EventPoller one = poller();
        EventPoller other = poller();
        one.add(ends[0].link());
        other.add(ends[0].link());

        ends[1].link().close();
        Await.until("the peer counts as gone", ends[0].link()::peerGone);
        ends[0].link().close();
        settle();

        assertQuiet(one);
        assertQuiet(other);
        one.remove(ends[0].link());
        other.remove(ends[0].link());
    }

    @Test
    void shouldNotWakeAnEngineByAConnectionThatThisSideEnds() throws Exception {
        Attachment[] ends = connection();
        EventPoller poller = poller();
        poller.add(ends[0].link());

        ends[0].link().close();
        Await.until("the other side sees the end", ends[1].link()::peerGone);
        settle();

        assertQuiet(poller);
        ends[1].link().close();
    }

    /** Rings of RDMA, and consumers of the Comm Channel: the bus thread closes the link itself. */
    @Test
    void shouldNotWakeAnEngineByALeaseThatHasEnded() throws Exception {
        ExportedRegion region =
                victim.export(
                        memory(),
                        true,
                        new LeaseListener() {
                            @Override
                            public void leaseOpened(Link lease) {
                                leases.add(lease);
                            }

                            @Override
                            public void leaseClosed(Link lease) {}
                        });
        ImportedRegion imported = imported(peer, region);
        Link link = leases.poll(Patience.SECONDS, TimeUnit.SECONDS);
        EventPoller poller = poller();
        poller.add(link);

        imported.close();
        Await.until("the importer counts as gone", link::peerGone);
        settle();

        assertQuiet(poller);
        region.close();
    }

    /** Producers of the Comm Channel and senders of RDMA. */
    @Test
    void shouldNotWakeAnEngineByAnImportThatHasEnded() throws Exception {
        ExportedRegion region = peer.export(memory(), true, null);
        ImportedRegion imported = imported(victim, region);
        EventPoller poller = poller();
        poller.add(imported.link());
        Link link = imported.link();

        region.close();
        Await.until("the exporter counts as gone", link::peerGone);
        imported.close();
        Await.until("the memory is unmapped", () -> victim.mappedBytesOfPeers() == 0);
        settle();

        assertQuiet(poller);
        poller.remove(link);
    }

    @Test
    void shouldCloseAnEngineBeforeItsLinks() throws Exception {
        Attachment[] ends = connection();
        EventPoller closed = new EventPoller();
        closed.add(ends[0].link());
        closed.close();
        EventPoller later = poller(); // has the number of the one that was closed
        later.add(ends[0].link());

        ends[1].link().close();
        Await.until("the peer counts as gone", ends[0].link()::peerGone);
        ends[0].link().close();
        settle();

        assertQuiet(later);
    }
}
