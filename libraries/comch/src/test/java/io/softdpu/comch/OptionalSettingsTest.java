package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Optional settings of servers and clients, and their defaults. */
class OptionalSettingsTest {
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

    @Clause({"cc-066", "cc-087"})
    @Test
    void shouldTellDefaultsAndWhatWasSet() {
        ComchServer server = card.keep(ComchServer.create(card.p0, card.hpf0, "name"));
        ComchClient client = card.keep(ComchClient.create(card.pf0, "name"));
        assertThat(server.maxMessageBytes()).isEqualTo(4080).isEqualTo(client.maxMessageBytes());
        assertThat(server.receiveQueueSize()).isEqualTo(64).isEqualTo(client.receiveQueueSize());
        assertThat(server.maxClients()).isEqualTo(16);
        assertThat(server.controlTimeout())
                .isEqualTo(Duration.ofSeconds(5))
                .isEqualTo(client.controlTimeout());
        assertThat(client.connectTimeout()).isEqualTo(Duration.ofSeconds(5));
        server.setMaxMessageBytes(1);
        client.setMaxMessageBytes(6);
        server.setReceiveQueueSize(2);
        client.setReceiveQueueSize(7);
        server.setMaxClients(3);
        server.setControlTimeout(Duration.ofNanos(4));
        client.setControlTimeout(Duration.ofNanos(8));
        client.setConnectTimeout(Duration.ofNanos(5));
        assertThat(server.maxMessageBytes()).isEqualTo(1);
        assertThat(client.maxMessageBytes()).isEqualTo(6);
        assertThat(server.receiveQueueSize()).isEqualTo(2);
        assertThat(client.receiveQueueSize()).isEqualTo(7);
        assertThat(server.maxClients()).isEqualTo(3);
        assertThat(server.controlTimeout()).isEqualTo(Duration.ofNanos(4));
        assertThat(client.controlTimeout()).isEqualTo(Duration.ofNanos(8));
        assertThat(client.connectTimeout()).isEqualTo(Duration.ofNanos(5));
        assertThat(server.serverName()).isEqualTo("name");
        assertThat(server.representor()).isSameAs(card.hpf0);
    }

    @Clause("cc-066")
    @Test
    void shouldApplyTheDefaultsOfMessagesAndReceiveQueues() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        int queue = server.endpoint.receiveQueueSize();
        int largest = server.endpoint.maxMessageBytes();
        for (Peer peer : List.of(server, client)) {
            peer.endpoint.setSendTasks(queue + 1, ComchSendTask::free, ComchSendTask::free);
        }
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> server.connection != null);
        for (Peer peer : List.of(server, client)) {
            assertThat(peer.send(new byte[largest + 1])).isEqualTo(Status.INVALID_VALUE);
            for (int i = 0; i < queue; i++) {
                assertThat(peer.send(new byte[largest])).isEqualTo(Status.SUCCESS);
            }
            assertThat(peer.send(new byte[largest])).isEqualTo(Status.AGAIN);
        }
        card.until("to the server", () -> server.messages.size() == queue);
        card.until("to the client", () -> client.messages.size() == queue);
    }

    @Clause("cc-066")
    @Test
    void shouldApplyTheDefaultOfClients() {
        Peer server = Peer.server(card, Card.NAME);
        server.endpoint.start();
        int clients = ((ComchServer) server.endpoint).maxClients();
        for (int i = 0; i < clients; i++) {
            Peer client = Peer.client(card, Card.NAME);
            client.endpoint.start();
            card.until("in or out", () -> client.states.size() > 1);
            assertThat(client.endpoint.state()).isEqualTo(ContextState.RUNNING);
        }
        Peer oneTooMany = Peer.client(card, Card.NAME);
        oneTooMany.endpoint.start();
        card.until("out", () -> oneTooMany.states.contains(ContextState.IDLE));
        assertThat(oneTooMany.endpoint.failure().status()).isEqualTo(Status.FULL);
    }
}
