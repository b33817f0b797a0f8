package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.fabric.EngineWaiter;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A peer that polls is not rung: the data path makes no system call for it. */
class DoorbellTest {
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    @TempDir Path folder;

    @Test
    void shouldRingOnlyPeerThatAskedForIt() throws Exception {
        try (Card card = new Card(folder)) {
            Peer server = Peer.server(card, Card.NAME);
            server.endpoint.start();
            try (RogueClient raw = new RogueClient(card);
                    EngineWaiter waiter = new EngineWaiter()) {
                assertThat(raw.tryConnect(RogueClient.hello())).isNull();
                card.until("connected", () -> server.connection != null);
                waiter.add(raw.attachment.link());

                assertThat(server.send("to one that polls")).isEqualTo(Status.SUCCESS);
                card.settle();
                assertThat(raw.inbound.poll()).isPositive();
                assertThat(waiter.sleep(SHORT_NANOS)).isFalse();
                raw.inbound.release();
                card.settle();
                assertThat(server.sends).containsExactly(Status.SUCCESS);

                assertThat(raw.inbound.arm()).isFalse();
                assertThat(server.send("to one that sleeps")).isEqualTo(Status.SUCCESS);
                card.settle();
                assertThat(waiter.sleep(Card.DEADLINE_NANOS)).isTrue();
                assertThat(waiter.sleep(SHORT_NANOS)).isFalse(); // once
                assertThat(server.send("awake again")).isEqualTo(Status.SUCCESS);
                card.settle();
                assertThat(waiter.sleep(SHORT_NANOS)).isFalse();
                waiter.remove(raw.attachment.link());
            }
        }
    }
}
