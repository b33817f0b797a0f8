package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.ContextState;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Base of the tests of a client that violates the protocol: a server with a client that keeps to
 * the protocol, and a rogue client.
 */
abstract class RogueClientFixture {
    static final byte[] NOTHING = {};
    static final long FAR = 1L << 40;

    @TempDir Path folder;
    Card card;
    Card.Pair pair;
    RogueClient rogue;

    @BeforeEach
    void open() {
        card = new Card(folder);
        pair = card.pair();
        rogue = new RogueClient(card);
    }

    @AfterEach
    void close() throws Exception {
        rogue.close();
        card.close();
    }

    void join() {
        assertThat(rogue.tryConnect(RogueClient.hello())).isNull();
        card.settle();
    }

    void stillServes() {
        assertThat(pair.server().endpoint.state()).isEqualTo(ContextState.RUNNING);
        if (pair.client().endpoint.state() == ContextState.RUNNING) {
            int before = pair.server().messages.size();
            pair.client().send("still here");
            card.until("served", () -> pair.server().messages.size() == before + 1);
        }
    }
}
