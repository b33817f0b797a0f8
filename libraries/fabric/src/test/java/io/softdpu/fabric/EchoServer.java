package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.link.Mailbox;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.CpuMeter;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Server that accepts each client of a name and replies to each number in its memory with the next
 * one, on an engine thread of its own, which also rings the clients that never read.
 */
final class EchoServer implements AutoCloseable {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long MEMORY_BYTES = 4096;
    private static final long NO_LIMIT = -1;
    private final EventPoller poller = new EventPoller();
    private final Mailbox mailbox = new Mailbox(poller);
    private final List<Client> clients = new ArrayList<>();
    private final AtomicInteger clientCount = new AtomicInteger();
    private final Endpoint endpoint;
    private final Thread thread;
    private final CpuMeter cpu = new CpuMeter();
    private volatile boolean stopping;

    private record Client(Attachment attachment, SharedSegment own) {
        /** Answers what is new. */
        void echo() {
            MemorySegment in = own.segment();
            MemorySegment out = attachment.remote().segment();
            long seen = (long) WORD.getAcquire(in, 0L);
            if (seen != 0 && (long) WORD.getAcquire(out, 0L) != seen + 1) {
                WORD.setRelease(out, 0L, seen + 1);
            }
            attachment.link().ring();
        }

        void release() {
            attachment.link().close();
            attachment.remote().release();
            own.release();
        }
    }

    EchoServer(Bus bus, String name) {
        endpoint =
                bus.listen(
                        name,
                        pending -> {
                            clientCount.incrementAndGet();
                            mailbox.post(() -> take(pending));
                        });
        thread = new Thread(this::run, "echo-server");
        thread.start();
    }

    private void take(PendingLink pending) {
        SharedSegment own = SharedSegment.allocate("echo", MEMORY_BYTES);
        try {
            Client client = new Client(pending.accept(new byte[0], own), own);
            clients.add(client);
            client.attachment().link().onPeerGone(poller::wake);
            poller.add(client.attachment().link());
        } catch (FabricException e) { // gone already
            own.release();
            clientCount.decrementAndGet();
        }
    }

    private void run() {
        while (!stopping) {
            cpu.next();
            mailbox.drain();
            for (int i = clients.size() - 1; i >= 0; i--) {
                Client client = clients.get(i);
                if (client.attachment().link().peerGone()) {
                    clients.remove(i);
                    poller.remove(client.attachment().link());
                    client.release();
                    clientCount.decrementAndGet();
                } else {
                    client.echo();
                }
            }
            poller.sleep(NO_LIMIT); // one that ended by itself would hide a lost doorbell
        }
        clients.forEach(Client::release);
    }

    /** Waits until every client that came has gone and been forgotten. */
    void awaitNoClients() {
        Await.until("no clients are left", () -> clientCount.get() == 0);
    }

    /** CPU time of the longest round of the engine thread, in nanoseconds. */
    long longestCpuNanos() {
        return cpu.longestNanos();
    }

    /** Connects, has numbers echoed, and leaves; nanoseconds of the handshake. */
    static long verify(Bus bus, String name, long seed, int rounds) throws Exception {
        SharedSegment own = SharedSegment.allocate("verified", MEMORY_BYTES);
        try (EventPoller poller = new EventPoller()) {
            long begin = System.nanoTime();
            Attachment attachment =
                    bus.connect(name, new byte[0], own, Patience.NANOS)
                            .future()
                            .get(Patience.SECONDS, TimeUnit.SECONDS);
            long took = System.nanoTime() - begin;
            poller.add(attachment.link());
            for (long i = 0; i < rounds; i++) {
                long sent = Math.max(1, seed >>> 8) + 2 * i;
                WORD.setRelease(attachment.remote().segment(), 0L, sent);
                attachment.link().ring();
                while ((long) WORD.getAcquire(own.segment(), 0L) != sent + 1) {
                    assertThat(attachment.link().peerGone()).isFalse();
                    assertThat(poller.sleep(Patience.NANOS)).as("the server rings").isTrue();
                }
            }
            poller.remove(attachment.link());
            attachment.link().close();
            attachment.remote().release();
            return took;
        } finally {
            own.release();
        }
    }

    @Override
    public void close() throws InterruptedException {
        endpoint.close();
        stopping = true;
        poller.wake();
        thread.join();
        mailbox.close();
        poller.close();
    }
}
