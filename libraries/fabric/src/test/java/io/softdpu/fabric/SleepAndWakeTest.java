package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.link.Mailbox;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two engines that sleep whenever they have no work, so that every message needs a wake-up. */
class SleepAndWakeTest {
    private static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(8, 64);
    private static final int ROUNDS = 3_000;

    @TempDir Path folder;

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

    @Test
    void shouldLoseNoWakeUpBetweenTwoSleepers() throws Exception {
        SharedSegment serverMemory = SharedSegment.allocate("t", GEOMETRY.sizeBytes());
        SharedSegment clientMemory = SharedSegment.allocate("t", GEOMETRY.sizeBytes());
        MessageRing.Consumer atServer = MessageRing.consumer(serverMemory.segment(), GEOMETRY);
        MessageRing.Consumer atClient = MessageRing.consumer(clientMemory.segment(), GEOMETRY);
        try (Bus server = bus();
                Bus client = bus()) {
            BlockingQueue<PendingLink> arrived = new ArrayBlockingQueue<>(1);
            server.listen("ring", arrived::add);
            CompletableFuture<Attachment> connecting =
                    client.connect("ring", new byte[0], clientMemory, Patience.NANOS).future();
            Attachment toClient =
                    arrived.poll(Patience.SECONDS, TimeUnit.SECONDS)
                            .accept(new byte[0], serverMemory);
            Attachment toServer = connecting.get(Patience.SECONDS, TimeUnit.SECONDS);

            CompletableFuture<Long> echo =
                    CompletableFuture.supplyAsync(() ->
                            play(
                                    atServer,
                                    MessageRing.producer(toClient.remote().segment(), GEOMETRY),
                                    toClient.link(),
                                    false));
            long received =
                    play(
                            atClient,
                            MessageRing.producer(toServer.remote().segment(), GEOMETRY),
                            toServer.link(),
                            true);
            assertThat(received).isEqualTo(ROUNDS);
            assertThat(echo.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(ROUNDS);
            toClient.link().close();
            toServer.link().close();
            toClient.remote().release();
            toServer.remote().release();
        }
        serverMemory.release();
        clientMemory.release();
    }

    private static long play(
            MessageRing.Consumer in, MessageRing.Producer out, Link link, boolean begins) {
        try (EventPoller poller = new EventPoller()) {
            poller.add(link);
            if (begins) {
                send(out, link, 0);
            }
            long received = 0;
            while (received < ROUNDS) {
                long offset = in.poll();
                if (offset >= 0) {
                    long value = in.segment().get(ValueLayout.JAVA_LONG, offset);
                    in.release();
                    received++;
                    if (value + 1 < 2L * ROUNDS) {
                        send(out, link, value + 1);
                    }
                } else if (!in.arm()) {
                    assertThat(poller.sleep(Patience.NANOS))
                            .as("wake-up after %s", received)
                            .isTrue();
                }
            }
            return received;
        }
    }

    private static void send(MessageRing.Producer out, Link link, long value) {
        long offset = out.claim();
        out.segment().set(ValueLayout.JAVA_LONG, offset, value);
        out.commit(1, 8, 0);
        if (out.peerArmed()) {
            link.ring();
        }
    }

    @Test
    void shouldSeeEveryPostOfManyThreadsWhileItSleepsBetweenThem() throws Exception {
        try (EventPoller poller = new EventPoller()) {
            Mailbox mailbox = new Mailbox(poller);
            AtomicInteger ran = new AtomicInteger();
            int posts = 2_000;
            Thread[] posters = new Thread[3];
            for (int i = 0; i < posters.length; i++) {
                posters[i] =
                        new Thread(() -> {
                            for (int k = 0; k < posts; k++) {
                                mailbox.post(ran::incrementAndGet);
                            }
                        });
                posters[i].start();
            }
            while (ran.get() < posts * posters.length) {
                if (mailbox.drain() == 0 && mailbox.isEmpty()) {
                    assertThat(poller.sleep(Patience.NANOS)).as("wake-up after %s", ran).isTrue();
                }
            }
            for (Thread poster : posters) {
                poster.join();
            }
            assertThat(mailbox.isEmpty()).isTrue();
        }
    }
}
