package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stop of a client before the server has replied: the attempt leaves no resources. */
final class AbandonedAttemptTest {
    @TempDir Path folder;

    @Test
    void shouldEndTheAttemptWhenTheClientIsStoppedAndNotWhenItsTimeIsUp() throws Exception {
        try (Card card = new Card(folder);
                Bus rogue = openBus(card)) {
            CompletableFuture<PendingLink> arrived = new CompletableFuture<>();
            String name =
                    ChannelName.ofServer(card.p0.info(), card.hpf0.info().function(), Card.NAME);
            rogue.listen(name, arrived::complete); // and never answers
            Peer client = Peer.client(card, Card.NAME);
            ((ComchClient) client.endpoint).setConnectTimeout(Patience.LIMIT.multipliedBy(4));
            client.endpoint.start();
            card.until("the server has the client", arrived::isDone);
            PendingLink pending = arrived.get(Patience.SECONDS, TimeUnit.SECONDS);
            assertThat(client.endpoint.state()).isEqualTo(ContextState.STARTING);

            Peer.stop(card, client.endpoint);

            Await.until("the server sees its end", pending::peerGone);
            pending.refuse(1, "nobody there");
        }
    }

    private static Bus openBus(Card card) {
        return Bus.open(
                new Bus.Config(
                        card.dpu.fabricFolder(),
                        Topology.builtin().sha256(),
                        "rogue",
                        Patience.NANOS,
                        1L << 30,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }
}
