package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.testkit.GrowthCheck;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Repeated sessions of a channel: resources do not grow with their number. */
class SessionsTest {
    /** End of a session. */
    private enum Ending {
        CLIENT_STOPS,
        SERVER_STOPS,
        PEER_GONE_WITHOUT_GOODBYE,
        REFUSED,
        NOBODY_THERE
    }

    @Test
    @Tag(Soak.TAG)
    @Tag(Soak.FULL_TAG)
    void shouldHoldNoMoreAfterManySessionsThanAfterAFew(@TempDir Path folder, SeededRandom random)
            throws Exception {
        long start = System.nanoTime();
        Ending[] endings = Ending.values();
        int warmUp = 4 * endings.length;
        String findings =
                GrowthCheck.over(
                        warmUp,
                        Soak.count(200, 200, 2_000),
                        number -> {
                            // Each kind is there before anything is counted.
                            int ending =
                                    number < warmUp
                                            ? number % endings.length
                                            : random.nextInt(endings.length);
                            try (Card card = Card.shared(folder)) {
                                session(card, endings[ending]);
                            }
                        });
        Soak.report(
                "sessions-comch",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                findings);
    }

    private static void session(Card card, Ending ending) {
        switch (ending) {
            case CLIENT_STOPS -> Peer.stop(card, exchange(card).client().endpoint);
            case SERVER_STOPS -> exchange(card).server().endpoint.stop();
            case PEER_GONE_WITHOUT_GOODBYE -> {
                Peer server = Peer.server(card, Card.NAME);
                server.endpoint.start();
                try (RogueClient rogue = new RogueClient(card)) {
                    assertThat(rogue.tryConnect(RogueClient.hello())).isNull();
                    card.until("connected", () -> server.connection != null);
                }
                card.until(
                        "the server has noticed",
                        () -> server.events.contains("disconnected false"));
            }
            case REFUSED -> {
                Peer.server(card, Card.NAME).endpoint.start();
                try (RogueClient rogue = new RogueClient(card)) {
                    assertThat(rogue.tryConnect(new byte[7])).isNotNull();
                }
            }
            case NOBODY_THERE -> {
                Peer client = Peer.client(card, Card.NAME);
                ((ComchClient) client.endpoint).setConnectTimeout(Duration.ofMillis(1));
                client.endpoint.start();
                card.until("given up", () -> client.endpoint.state() == ContextState.IDLE);
                assertThat(client.endpoint.failure()).isNotNull();
            }
        }
    }

    /** Messages both ways, and one from a producer to a consumer. */
    private static Card.Pair exchange(Card card) {
        Card.Pair pair = card.pair();
        assertThat(pair.client().send("ping")).isEqualTo(Status.SUCCESS);
        card.until("ping", () -> pair.server().texts().contains("ping"));
        assertThat(pair.server().send("pong")).isEqualTo(Status.SUCCESS);
        card.until("pong", () -> pair.client().texts().contains("pong"));
        Queue.Receiving consumer =
                new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 1).run(card);
        Queue.Sending producer =
                new Queue.Sending(pair.client(), card.hostEngine, 4096, 1).run(card);
        card.until("announced", () -> !pair.client().consumers.isEmpty());
        assertThat(consumer.post(0, 4096)).isEqualTo(Status.SUCCESS);
        byte[] data = new byte[1000];
        data[999] = 7;
        assertThat(producer.send(consumer.consumer.id(), data, new byte[] {1}))
                .isEqualTo(Status.SUCCESS);
        card.until("data", () -> consumer.data.size() == 1 && producer.statuses.size() == 1);
        assertThat(consumer.data.getFirst()).isEqualTo(data);
        Peer.stop(card, producer.producer);
        Peer.stop(card, consumer.consumer);
        return pair;
    }
}
