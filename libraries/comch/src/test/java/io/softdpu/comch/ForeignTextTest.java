package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.comch.wire.Hello;
import io.softdpu.core.execution.ContextState;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.testkit.HostileText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Escaping of text that the peer sends in the handshake, in exceptions. */
class ForeignTextTest {
    /** A name may have 120 bytes, and none of them 0. */
    private static final String NAME = HostileText.of(90).replace('\0', 'x');

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

    @Test
    void shouldShowTheNamesInAHelloEscaped() {
        List<ComchConnection> refused = new ArrayList<>();
        ComchServer server = card.keep(ComchServer.create(card.p0, card.hpf0, Card.NAME));
        server.setConnectedCallback(refused::add)
                .setRefusedCallback((connection, _) -> refused.add(connection));
        configure(server);
        card.dpuEngine.connect(server);
        server.start();

        for (Hello hello :
                List.of(
                        new Hello(RogueClient.TERMS, "host/pf0", NAME),
                        new Hello(RogueClient.TERMS, NAME, Card.NAME))) {
            try (RogueClient rogue = new RogueClient(card)) {
                FabricException failure = rogue.tryConnect(hello.toBytes());
                HostileText.requireHarmless(failure.getMessage());
            }
        }
        card.until("server has told of both", () -> refused.size() == 2);
        refused.forEach(each -> HostileText.requireHarmless(each.failure().getMessage()));
        HostileText.requireHarmless(refused.get(1).toString());
        HostileText.requireHarmless(refused.get(1).function());
        server.stop();
        card.until("server stops", () -> server.state() == ContextState.IDLE);
    }

    @Test
    void shouldShowTheReasonOfARefusalEscapedAndCut() {
        RogueClient rogue = new RogueClient(card); // for its bus
        String name = ChannelName.ofServer(card.p0.info(), card.hpf0.info().function(), Card.NAME);
        ComchClient client = card.keep(ComchClient.create(card.pf0, Card.NAME));
        configure(client);
        card.hostEngine.connect(client);
        try (rogue;
                Endpoint _ =
                        rogue.bus.listen(name, each -> each.refuse(24, HostileText.of(1000)))) {
            client.start();
            card.until("client is refused", () -> client.state() == ContextState.IDLE);
        }

        HostileText.requireHarmless(client.failure().getMessage());
        assertThat(client.failure().getMessage()).startsWith("not connected: server=");
    }

    private static void configure(ComchEndpoint endpoint) {
        endpoint.setSendTasks(1, ComchSendTask::free, ComchSendTask::free);
        endpoint.setMessageCallback((_, _) -> {});
    }
}
