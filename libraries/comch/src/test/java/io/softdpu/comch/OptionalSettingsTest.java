package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Clause;
import java.nio.file.Path;
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
        assertThat(server.maxMessageSize()).isEqualTo(4080).isEqualTo(client.maxMessageSize());
        assertThat(server.receiveQueueSize()).isEqualTo(64).isEqualTo(client.receiveQueueSize());
        assertThat(server.maxClients()).isEqualTo(16);
        assertThat(server.controlTimeoutNanos()).isEqualTo(5_000_000_000L);
        assertThat(client.connectTimeoutNanos()).isEqualTo(5_000_000_000L);
        server.setMaxMessageSize(1);
        client.setMaxMessageSize(6);
        server.setReceiveQueueSize(2);
        server.setMaxClients(3);
        server.setControlTimeout(4);
        client.setConnectTimeout(5);
        assertThat(server.maxMessageSize()).isEqualTo(1);
        assertThat(client.maxMessageSize()).isEqualTo(6);
        assertThat(server.receiveQueueSize()).isEqualTo(2);
        assertThat(server.maxClients()).isEqualTo(3);
        assertThat(server.controlTimeoutNanos()).isEqualTo(4);
        assertThat(client.connectTimeoutNanos()).isEqualTo(5);
        assertThat(server.serverName()).isEqualTo("name");
        assertThat(server.representor()).isSameAs(card.hpf0);
    }
}
