package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.DoorbellBudget;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Doorbells that the bus thread serves, and the end of a link. */
class BusDoorbellTest {

    private static final int LINKS = 4;

    private static final int TURNS = 20;

    /** More than there is for a millisecond. */
    private static final int LONG_TURN = 4 * DoorbellBudget.CALLS_PER_INTERVAL;

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    @TempDir Path folder;
    private Bus server;
    private Bus client;
    private SharedSegment serverMemory;
    private SharedSegment clientMemory;
    private Attachment toClient;
    private Attachment toServer;
    private final DoorbellBudget budget = new DoorbellBudget();

    @BeforeEach
    void connect() throws Exception {
        server = bus();
        client = bus();
        serverMemory = SharedSegment.allocate("t", 64);
        clientMemory = SharedSegment.allocate("t", 64);
        BlockingQueue<PendingLink> arrived = new ArrayBlockingQueue<>(1);
        server.listen("name", arrived::add);
        CompletableFuture<Attachment> connecting =
                client.connect("name", new byte[0], clientMemory, Patience.NANOS).future();
        toClient =
                arrived.poll(Patience.SECONDS, TimeUnit.SECONDS).accept(new byte[0], serverMemory);
        toServer = connecting.get(Patience.SECONDS, TimeUnit.SECONDS);
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
                        Patience.NANOS,
                        1 << 30,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    /** Lets the bus thread serve a link; without an action no more. */
    private void serve(Link link, @Nullable IntSupplier action) {
        onBusThread(() -> {
            if (action == null) {
                link.stopServingOnBus();
            } else {
                link.serveOnBus(budget, action);
            }
        });
    }

    private void onBusThread(Runnable action) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        server.threads()
                .loop()
                .execute(() -> {
                    action.run();
                    done.complete(null);
                });
        done.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    }

    @Test
    void shouldServeADoorbellUntilThatIsEnded() {
        AtomicInteger served = new AtomicInteger();
        IntSupplier action =
                () -> {
                    served.incrementAndGet();
                    return 0;
                };
        serve(toClient.link(), action);
        toServer.link().ring();
        Await.until("served", () -> served.get() == 1);
        serve(toClient.link(), null);
        toServer.link().ring();
        onBusThread(() -> {}); // an iteration that sees no doorbell
        assertThat(served.get()).isEqualTo(1);
        serve(toClient.link(), action); // what came meanwhile is served now
        Await.until("served", () -> served.get() == 2);
    }

    /** A link whose peer rings without pause; it publishes a number before each doorbell. */
    private final class Ringing implements AutoCloseable {
        private final String name = "ringing-" + NUMBERS.incrementAndGet();
        private final AtomicLong published = new AtomicLong();
        private final AtomicLong seen = new AtomicLong();
        private final AtomicLong turns = new AtomicLong();
        private final Attachment here;
        private final Attachment there;
        private final Thread thread;
        private volatile boolean enough;

        Ringing(int callsPerTurn) throws Exception {
            BlockingQueue<PendingLink> arrived = new ArrayBlockingQueue<>(1);
            server.listen(name, arrived::add);
            CompletableFuture<Attachment> connecting =
                    client.connect(name, new byte[0], clientMemory, Patience.NANOS).future();
            here =
                    arrived.poll(Patience.SECONDS, TimeUnit.SECONDS)
                            .accept(new byte[0], serverMemory);
            there = connecting.get(Patience.SECONDS, TimeUnit.SECONDS);
            serve(
                    here.link(),
                    () -> {
                        turns.incrementAndGet();
                        seen.set(published.get());
                        return callsPerTurn;
                    });
            thread = Thread.ofPlatform().start(this::ring);
        }

        private void ring() {
            while (!enough) {
                published.incrementAndGet();
                there.link().ring();
            }
        }

        /** Its last doorbell is served after its last number. */
        void end() throws InterruptedException {
            enough = true;
            thread.join();
            long last = published.get();
            Await.until("the last doorbell is served", () -> seen.get() == last);
        }

        @Override
        public void close() {
            enough = true;
            server.release(here);
            client.release(there);
        }
    }

    @Test
    void shouldServeLinksThatRingWithoutPauseWithinOneBudgetAndLoseNoDoorbell() throws Exception {
        List<Ringing> links = new ArrayList<>();
        try {
            for (int i = 0; i < LINKS; i++) {
                links.add(new Ringing(LONG_TURN));
            }
            long begin = System.nanoTime();
            long before = turnsOf(links);
            for (Ringing link : links) { // each has its turns
                long ownBefore = link.turns.get();
                Await.until("turns", () -> link.turns.get() >= ownBefore + TURNS);
            }
            long turns = turnsOf(links) - before;
            long millis = (System.nanoTime() - begin) / 1_000_000;
            System.out.printf(
                    Locale.ROOT,
                    "doorbells: links=%d, turns=%d, millis=%d%n",
                    LINKS,
                    turns,
                    millis);
            // What one turn takes beyond the limit is missing later.
            assertThat((turns - 1) * LONG_TURN)
                    .isLessThanOrEqualTo((millis + 2) * DoorbellBudget.CALLS_PER_INTERVAL);
            for (Ringing link : links) {
                link.end();
            }
        } finally {
            links.forEach(Ringing::close);
        }
    }

    private static long turnsOf(List<Ringing> links) {
        return links.stream().mapToLong(link -> link.turns.get()).sum();
    }

    /** A link that waits for its turn ends; the others have theirs. */
    @Test
    void shouldForgetALinkThatIsServedNoMore() throws Exception {
        try (Ringing ended = new Ringing(LONG_TURN);
                Ringing closed = new Ringing(LONG_TURN);
                Ringing other = new Ringing(LONG_TURN)) {
            for (Ringing each : List.of(ended, closed, other)) {
                Await.until("a turn", () -> each.turns.get() > 0);
            }
            serve(ended.here.link(), null);
            long turns = ended.turns.get();
            closed.here.link().close();
            for (int i = 0; i < 3; i++) {
                long before = other.turns.get();
                Await.until("a turn", () -> other.turns.get() > before);
            }
            assertThat(ended.turns.get()).isEqualTo(turns);
            other.end();
        }
    }

    @Test
    void shouldSeeTheEndOfAPeerWhoseDoorbellsAreServed() {
        serve(toClient.link(), () -> 0);
        toServer.link().ring();
        toServer.link().close();
        Await.until("gone", () -> toClient.link().peerGone());
    }

    /** It may have memory mapped still. */
    @Test
    void shouldNotTakeAPeerThatWritesNoMoreForOneThatHasHungUp() {
        AtomicInteger hungUp = new AtomicInteger();
        AtomicInteger gone = new AtomicInteger();
        serve(toClient.link(), () -> 0);
        toClient.link().onHangUp(hungUp::incrementAndGet);
        toClient.link().onPeerGone(gone::incrementAndGet);
        toServer.link().shutdownOutput();
        Await.until("gone", () -> gone.get() == 1);
        assertThat(toClient.link().peerGone()).isTrue();
        onBusThread(() -> {}); // whatever it had to do is done
        assertThat(hungUp.get()).isZero();
        toServer.link().close();
        Await.until("hung up", () -> hungUp.get() == 1);
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
