package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Doorbells that the bus thread serves, and the end of a link. */
class BusDoorbellTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final long SECOND = 1_000_000_000L;

    /** That of the link, per millisecond. */
    private static final long SERVED_PER_MILLI = 32;

    @TempDir Path folder;
    private Bus server;
    private Bus client;
    private SharedSegment serverMemory;
    private SharedSegment clientMemory;
    private Attachment toClient;
    private Attachment toServer;

    @BeforeEach
    void connect() throws Exception {
        server = bus();
        client = bus();
        serverMemory = SharedSegment.allocate("t", 64);
        clientMemory = SharedSegment.allocate("t", 64);
        BlockingQueue<PendingLink> arrived = new ArrayBlockingQueue<>(1);
        server.listen("name", arrived::add);
        CompletableFuture<Attachment> connecting =
                client.connect("name", new byte[0], clientMemory, 60 * SECOND);
        toClient = arrived.poll(60, TimeUnit.SECONDS).accept(new byte[0], serverMemory);
        toServer = connecting.get(60, TimeUnit.SECONDS);
    }

    @AfterEach
    void close() {
        server.release(toClient);
        client.release(toServer);
        client.close();
        server.close();
        serverMemory.release();
        clientMemory.release();
    }

    private Bus bus() {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("f"),
                        new byte[32],
                        "test",
                        60 * SECOND,
                        1 << 30,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    private void serve(Runnable action) {
        CompletableFuture<Void> served = new CompletableFuture<>();
        Link link = toClient.link();
        server.threads()
                .loop()
                .execute(() -> {
                    link.serveOnBus(action);
                    served.complete(null);
                });
        served.orTimeout(60, TimeUnit.SECONDS).join();
    }

    @Test
    void shouldServeADoorbellUntilThatIsEnded() {
        AtomicInteger served = new AtomicInteger();
        serve(served::incrementAndGet);
        toServer.link().ring();
        Await.until("served", DEADLINE, () -> served.get() == 1);
        serve(null);
        toServer.link().ring();
        serve(served::incrementAndGet); // what came meanwhile is served now
        Await.until("served", DEADLINE, () -> served.get() == 2);
    }

    @Test
    void shouldServeAPeerThatRingsWithoutPauseNowAndThenAndLoseNoDoorbell() {
        AtomicLong served = new AtomicLong();
        AtomicLong published = new AtomicLong();
        AtomicLong seen = new AtomicLong();
        serve(() -> {
            served.incrementAndGet();
            seen.set(published.get());
        });
        long begin = System.nanoTime();
        long rings = 0;
        while (System.nanoTime() - begin < SECOND / 4) {
            published.incrementAndGet();
            toServer.link().ring();
            rings++;
        }
        long last = published.get();
        Await.until("the last one was served", DEADLINE, () -> seen.get() == last);
        long millis = (System.nanoTime() - begin) / 1_000_000 + 1;
        System.out.printf(
                "doorbells: rung=%d, served=%d, millis=%d%n", rings, served.get(), millis);
        assertThat(served.get()).isLessThanOrEqualTo(SERVED_PER_MILLI * (millis + 1));
    }

    @Test
    void shouldSeeTheEndOfAPeerWhoseDoorbellsAreServed() {
        serve(() -> {});
        toServer.link().ring();
        toServer.link().close();
        Await.until("gone", DEADLINE, () -> toClient.link().peerGone());
    }

    /** It may have memory mapped still. */
    @Test
    void shouldNotTakeAPeerThatWritesNoMoreForOneThatHasHungUp() {
        AtomicInteger hungUp = new AtomicInteger();
        AtomicInteger gone = new AtomicInteger();
        serve(() -> {});
        toClient.link().onHangUp(hungUp::incrementAndGet);
        toClient.link().onPeerGone(gone::incrementAndGet);
        toServer.link().shutdownOutput();
        Await.until("gone", DEADLINE, () -> gone.get() == 1);
        assertThat(toClient.link().peerGone()).isTrue();
        serve(() -> {}); // whatever the bus thread had to do is done
        assertThat(hungUp.get()).isZero();
        toServer.link().close();
        Await.until("hung up", DEADLINE, () -> hungUp.get() == 1);
        assertThat(gone.get()).isEqualTo(1);
    }

    @Test
    void shouldReportThatABusEndsWithItsLinks() {
        AtomicBoolean ending = new AtomicBoolean();
        toClient.link().onHangUp(() -> ending.set(server.isEnding()));
        assertThat(server.isEnding()).isFalse();
        server.close();
        assertThat(ending).isTrue();
    }
}
