package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.ContextState;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Receive events of the basic path: when they occur, and the message that they carry. */
class ReceiveEventTest {
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

    @Clause({"cc-128", "cc-129", "cc-130"})
    @Test
    void shouldCallTheReceiveCallbackOfTheSideThatAMessageIsSentTo() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        List<String> calls = new ArrayList<>();
        server.endpoint.setMessageCallback((from, message) -> calls.add("not the last one"));
        server.endpoint.setMessageCallback(
                (from, message) -> calls.add("server " + message.byteSize()));
        client.endpoint.setMessageCallback(
                (from, message) -> calls.add("client " + message.byteSize()));
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send(new byte[1]);
        card.until("server", () -> calls.size() == 1);
        client.send(new byte[2]);
        card.until("server again", () -> calls.size() == 2);
        server.send(new byte[3]);
        card.until("client", () -> calls.size() == 3);
        assertThat(calls).containsExactly("server 1", "server 2", "client 3");
    }

    @Clause({"cc-132", "cc-133"})
    @Test
    void shouldLendTheMessageForTheCallbackOnly() {
        Peer server = Peer.server(card, Card.NAME);
        List<MemorySegment> lent = new ArrayList<>();
        server.endpoint.setMessageCallback((from, message) -> lent.add(message));
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send(new byte[] {1, 1});
        client.send(new byte[] {2, 2});
        card.until("both", () -> lent.size() == 2);
        assertThat(lent.getFirst().isReadOnly()).isTrue();
        assertThat(lent.getFirst().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 2);
    }
}
