package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events common to all contexts of Core, at the four contexts, beside the events of each. */
class CommonEventsTest {
    @TempDir Path folder;
    private Card card;

    @BeforeEach
    void open() {
        card = new Card(folder);
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    /** Records each change of state of a context among its other events. */
    private static void record(Context context, List<String> events) {
        context.setStateChangedCallback((of, from, to) -> {
            assertThat(of).isSameAs(context);
            events.add(from + ">" + to);
        });
    }

    private static Peer recorded(Peer peer) {
        record(peer.endpoint, peer.events);
        peer.endpoint.setMessageCallback((from, message) -> peer.events.add("message"));
        return peer;
    }

    private void stop(Context context, List<String> events) {
        context.stop();
        card.until("told that " + context + " is idle", () -> isLast(events, "STOPPING>IDLE"));
    }

    private static boolean isLast(List<String> events, String event) {
        return !events.isEmpty() && events.getLast().equals(event);
    }

    @Clause("cc-127")
    @Test
    void shouldDeliverEachChangeOfStateOnceAndInOrderBesideTheEventsOfTheContext() {
        Peer server = recorded(Peer.server(card, Card.NAME));
        Peer client = recorded(Peer.client(card, Card.NAME));
        server.endpoint.start();
        card.until("server", () -> isLast(server.events, "IDLE>RUNNING"));
        client.endpoint.start();
        card.until("server", () -> isLast(server.events, "connected true"));
        card.until("client", () -> isLast(client.events, "STARTING>RUNNING"));
        assertThat(client.send("to the server")).isEqualTo(Status.SUCCESS);
        card.until("message", () -> isLast(server.events, "message"));
        assertThat(server.send("to the client")).isEqualTo(Status.SUCCESS);
        card.until("message", () -> isLast(client.events, "message"));

        Queue.Receiving receiving = new Queue.Receiving(client, card.hostEngine, 4096, 1);
        List<String> ofConsumer = new ArrayList<>();
        record(receiving.consumer, ofConsumer);
        receiving.run(card);
        card.until("consumer", () -> isLast(ofConsumer, "STARTING>RUNNING"));
        int id = receiving.consumer.id();
        card.until("consumer", () -> isLast(server.events, "consumer " + id));
        Queue.Sending sending = new Queue.Sending(server, card.dpuEngine, 4096, 1);
        List<String> ofProducer = new ArrayList<>();
        record(sending.producer, ofProducer);
        sending.run(card);
        card.until("producer", () -> isLast(ofProducer, "STARTING>RUNNING"));
        assertThat(receiving.post(0, 64)).isEqualTo(Status.SUCCESS);
        assertThat(sending.send(id, new byte[8], new byte[0])).isEqualTo(Status.SUCCESS);
        card.until("sent", () -> sending.statuses.size() == 1);
        card.until("received", () -> receiving.statuses.size() == 1);
        ofProducer.add("sent " + sending.statuses.getFirst());
        ofConsumer.add("received " + receiving.statuses.getFirst());

        stop(sending.producer, ofProducer);
        stop(receiving.consumer, ofConsumer);
        card.until("expired", () -> isLast(server.events, "expired " + id));
        stop(client.endpoint, client.events);
        card.until("disconnected", () -> isLast(server.events, "disconnected true"));
        stop(server.endpoint, server.events);
        card.settle(); // nothing is told twice

        assertThat(server.events)
                .containsExactly(
                        "IDLE>RUNNING",
                        "connected true",
                        "message",
                        "consumer " + id,
                        "expired " + id,
                        "disconnected true",
                        "RUNNING>STOPPING",
                        "STOPPING>IDLE");
        assertThat(client.events)
                .containsExactly(
                        "IDLE>STARTING",
                        "STARTING>RUNNING",
                        "message",
                        "RUNNING>STOPPING",
                        "STOPPING>IDLE");
        assertThat(ofProducer)
                .containsExactly(
                        "IDLE>STARTING",
                        "STARTING>RUNNING",
                        "sent SUCCESS",
                        "RUNNING>STOPPING",
                        "STOPPING>IDLE");
        assertThat(ofConsumer)
                .containsExactly(
                        "IDLE>STARTING",
                        "STARTING>RUNNING",
                        "received SUCCESS",
                        "RUNNING>STOPPING",
                        "STOPPING>IDLE");
        for (Context context :
                List.of(server.endpoint, client.endpoint, sending.producer, receiving.consumer)) {
            assertThat(context.state()).isEqualTo(ContextState.IDLE);
        }
    }
}
