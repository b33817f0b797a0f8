package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.comch.wire.MessageType;
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
        connect(server, client);
        client.send(new byte[1]);
        card.until("server", () -> calls.size() == 1);
        client.send(new byte[2]);
        client.send(new byte[3]);
        card.until("server again", () -> calls.size() == 3);
        server.send(new byte[4]);
        card.until("client", () -> calls.size() == 4);
        server.send(new byte[5]);
        server.send(new byte[6]);
        card.until("client again", () -> calls.size() == 6);
        assertThat(calls)
                .containsExactly(
                        "server 1", "server 2", "server 3", "client 4", "client 5", "client 6");
    }

    @Clause({"cc-129", "cc-130"})
    @Test
    void shouldCallTheReceiveCallbackThatWasSetBeforeTheLastStart() {
        Card.Pair pair = card.pair();
        Peer.stop(card, pair.client().endpoint);
        Peer.stop(card, pair.server().endpoint);
        List<String> calls = new ArrayList<>();
        pair.server().endpoint.setMessageCallback((from, message) -> calls.add("server"));
        pair.client().endpoint.setMessageCallback((from, message) -> calls.add("client"));
        pair.server().connection = null;
        connect(pair.server(), pair.client());
        pair.client().send("to the server");
        card.until("server", () -> calls.size() == 1);
        pair.server().send("to the client");
        card.until("client", () -> calls.size() == 2);
        assertThat(calls).containsExactly("server", "client");
        assertThat(pair.server().messages).isEmpty();
        assertThat(pair.client().messages).isEmpty();
    }

    @Clause("cc-133")
    @Test
    void shouldLendTheMessageForTheCallbackOnly() {
        Peer server = Peer.server(card, Card.NAME);
        List<MemorySegment> lent = new ArrayList<>();
        server.endpoint.setMessageCallback((from, message) -> lent.add(message));
        Peer client = Peer.client(card, Card.NAME);
        connect(server, client);
        client.send(new byte[] {1, 1});
        client.send(new byte[] {2, 2});
        card.until("both", () -> lent.size() == 2);
        assertThat(lent.getFirst().isReadOnly()).isTrue();
        assertThat(lent.getFirst().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 2);
    }

    @Clause({"cc-006", "cc-133"})
    @Test
    void shouldKeepTheMessageDuringTheCallbackIfThePeerChangesTheSharedMemory() {
        Peer server = Peer.server(card, Card.NAME);
        try (RogueClient rogue = new RogueClient(card)) {
            byte[] message = {1, 2, 3};
            long[] slotOffset = new long[1];
            List<byte[]> received = new ArrayList<>();
            server.endpoint.setMessageCallback((from, lent) -> {
                rogue.outbound.segment().asSlice(slotOffset[0], 3).fill((byte) 9);
                received.add(lent.toArray(ValueLayout.JAVA_BYTE));
            });
            server.endpoint.start();
            assertThat(rogue.tryConnect(RogueClient.hello())).isNull();
            slotOffset[0] = rogue.outbound.claim();
            rogue.write(MessageType.DATA.code(), 0, message);
            assertThat(
                            rogue.outbound
                                    .segment()
                                    .asSlice(slotOffset[0], 3)
                                    .toArray(ValueLayout.JAVA_BYTE))
                    .as("the message is there")
                    .isEqualTo(message);
            card.until("message", () -> !received.isEmpty());
            assertThat(received.getFirst()).isEqualTo(message);
        }
    }

    private void connect(Peer server, Peer client) {
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> server.connection != null);
    }
}
