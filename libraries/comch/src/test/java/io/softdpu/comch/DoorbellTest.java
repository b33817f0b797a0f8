package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.SubmitFlags;
import io.softdpu.core.memory.Buf;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Doorbells: no system call for a peer that polls. */
class DoorbellTest {
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    @TempDir Path folder;

    @Test
    void shouldRingAtOnceForAllThatWasSentWhereOneFlushes() throws Exception {
        try (Card card = new Card(folder)) {
            Card.Pair pair = card.pair();
            Queue.Receiving receiving =
                    new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 2).run(card);
            Queue.Sending sending =
                    new Queue.Sending(pair.client(), card.hostEngine, 4096, 2).run(card);
            receiving.post(0, 64);
            receiving.post(64, 64);
            card.settle();
            card.dpuEngine.clearNotification(); // what has rung while it was polled
            card.dpuEngine.requestNotification();

            assertThat(send(sending, receiving, SubmitFlags.NONE)).isEqualTo(Status.SUCCESS);
            assertThat(card.dpuEngine.awaitNotification(Duration.ofNanos(SHORT_NANOS)))
                    .as("rung")
                    .isFalse();
            assertThat(send(sending, receiving, SubmitFlags.FLUSH)).isEqualTo(Status.SUCCESS);
            assertThat(card.dpuEngine.awaitNotification(Patience.LIMIT)).as("rung").isTrue();
            card.dpuEngine.clearNotification();
            while (card.dpuEngine.progress()) {}
            assertThat(receiving.statuses)
                    .as("without a progress of the sender")
                    .containsExactly(Status.SUCCESS, Status.SUCCESS);
            card.until("sent", () -> sending.statuses.size() == 2);
        }
    }

    private static Status send(Queue.Sending from, Queue.Receiving to, SubmitFlags flags) {
        Buf buf = from.memory.inventory().bufByData(from.memory.mmap(), 0, 8);
        return from.producer.allocateSendTask(buf, to.consumer.id()).trySubmit(flags);
    }

    @Test
    void shouldRingOnlyPeerThatAskedForIt() throws Exception {
        try (Card card = new Card(folder)) {
            Peer server = Peer.server(card, Card.NAME);
            server.endpoint.start();
            try (RogueClient raw = new RogueClient(card);
                    EventPoller poller = new EventPoller()) {
                assertThat(raw.tryConnect(RogueClient.hello())).isNull();
                card.until("connected", () -> server.connection != null);
                poller.add(raw.attachment.link());

                assertThat(server.send("to one that polls")).isEqualTo(Status.SUCCESS);
                card.settle();
                assertThat(raw.inbound.poll()).isPositive();
                assertThat(poller.sleep(SHORT_NANOS)).isFalse();
                raw.inbound.release();
                card.settle();
                assertThat(server.sends).containsExactly(Status.SUCCESS);

                assertThat(raw.inbound.arm()).isFalse();
                assertThat(server.send("to one that sleeps")).isEqualTo(Status.SUCCESS);
                card.settle();
                assertThat(poller.sleep(Patience.NANOS)).isTrue();
                assertThat(poller.sleep(SHORT_NANOS)).isFalse(); // once
                assertThat(server.send("awake again")).isEqualTo(Status.SUCCESS);
                card.settle();
                assertThat(poller.sleep(SHORT_NANOS)).isFalse();
                poller.remove(raw.attachment.link());
            }
        }
    }
}
