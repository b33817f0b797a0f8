package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.comch.wire.Welcome;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.linux.Epoll;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Clients and servers that a callback of another context stops, after their own turn in that pass
 * and while the bus has posted work for them: the next pass does that work in STOPPING.
 */
final class StoppedByOthersTest {

    @TempDir Path folder;
    private Card card;
    private RogueClient rogue;

    @BeforeEach
    void open() {
        card = Card.shared(folder);
        rogue = new RogueClient(card);
    }

    @AfterEach
    void close() throws Exception {
        rogue.close();
        card.close();
    }

    /** Connection whose client, on the host, or server, on the DPU, runs the action. */
    private Card.Pair trigger(boolean onHost, Runnable action) {
        Peer server = Peer.server(card, "trigger");
        Peer client = Peer.client(card, "trigger");
        (onHost ? client : server).endpoint.setMessageCallback((from, message) -> action.run());
        return new Card.Pair(server, client);
    }

    private void start(Card.Pair pair) {
        pair.server().endpoint.start();
        pair.client().endpoint.start();
        card.until("trigger", () -> pair.server().connection != null);
        card.until("trigger", () -> pair.client().endpoint.state() == ContextState.RUNNING);
    }

    /** Leaves no notification pending: the next one is that of work that is posted. */
    private void quiet(ProgressEngine engine) {
        engine.clearNotification();
        card.settle();
        engine.clearNotification();
        while (engine.progress()) {
            // until a pass without work: the next one includes all contexts
        }
    }

    private static void awaitPost(ProgressEngine engine) {
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(engine.eventHandle(), Epoll.IN, 0);
            assertThat(epoll.await((int) Patience.LIMIT.toMillis())).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "true, true, true",
        "true, true, false",
        "true, false, true",
        "true, false, false",
        "false, true, true",
        "false, true, false",
        "false, false, true",
        "false, false, false"
    })
    void shouldDiscardTheAnswerToAClientThatWasStoppedMeanwhile(
            boolean clientFirst, boolean stops, boolean accepts) throws Exception {
        CompletableFuture<PendingLink> arrived = new CompletableFuture<>();
        rogue.bus.listen(
                ChannelName.ofServer(card.p0.info(), card.hpf0.info().function(), Card.NAME),
                arrived::complete);
        Peer first = clientFirst ? Peer.client(card, Card.NAME) : null;
        Peer[] stopped = new Peer[1];
        CompletableFuture<Attachment> accepted = new CompletableFuture<>();
        Card.Pair trigger =
                trigger(
                        true,
                        () -> {
                            answer(arrived.join(), accepts, accepted);
                            awaitPost(card.hostEngine);
                            if (stops) {
                                assertThat(stopped[0].endpoint.stop())
                                        .isEqualTo(Status.IN_PROGRESS);
                            } else {
                                assertRefused(Status.IN_USE, stopped[0].endpoint::close);
                            }
                            stopped[0].events.add("stopped");
                        });
        Peer client = first != null ? first : Peer.client(card, Card.NAME);
        stopped[0] = client;
        start(trigger);
        client.endpoint.start();
        card.until("the server has the client", arrived::isDone);
        quiet(card.hostEngine);

        assertThat(trigger.server().send("now")).isEqualTo(Status.SUCCESS);
        card.until("stopped", () -> client.events.contains("stopped"));
        card.until("idle", () -> client.endpoint.state() == ContextState.IDLE);
        card.settle();

        assertThat(client.states)
                .containsExactly(ContextState.STARTING, ContextState.STOPPING, ContextState.IDLE);
        assertThat(client.endpoint.failure()).isNull();
        if (accepts) {
            Attachment attachment = accepted.join();
            Await.until("the server sees its end", () -> attachment.link().peerGone());
            attachment.link().close();
            attachment.remote().release();
        }
    }

    private void answer(
            PendingLink pending, boolean accepts, CompletableFuture<Attachment> accepted) {
        if (accepts) {
            byte[] welcome = new Welcome(RogueClient.TERMS).toBytes();
            accepted.complete(pending.accept(welcome, rogue.inboundMemory));
        } else {
            pending.refuse(Status.FULL.code(), "no room");
        }
    }

    @Test
    void shouldRefuseAClientThatWaitsWhenTheServerIsStopped() throws Exception {
        Peer server = Peer.server(card, Card.NAME);
        ServerContext context = (ServerContext) server.endpoint;
        CompletableFuture<CompletableFuture<Attachment>> begun = new CompletableFuture<>();
        Card.Pair trigger =
                trigger(
                        false,
                        () -> {
                            begun.complete(rogue.begin(RogueClient.hello()));
                            Await.until("waits", () -> context.pendingClients() == 1);
                            awaitPost(card.dpuEngine);
                            assertThat(server.endpoint.stop()).isEqualTo(Status.IN_PROGRESS);
                        });
        start(trigger);
        server.endpoint.start();
        quiet(card.dpuEngine);

        assertThat(trigger.client().send("now")).isEqualTo(Status.SUCCESS);
        card.until("begun", begun::isDone);
        card.until("idle", () -> server.endpoint.state() == ContextState.IDLE);

        assertThat(begun.join())
                .failsWithin(Patience.LIMIT)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.refusalCode()).isEqualTo(Status.SHUTDOWN.code()));
        card.settle();
        assertThat(server.events).isEmpty();
        assertThat(server.states)
                .containsExactly(ContextState.RUNNING, ContextState.STOPPING, ContextState.IDLE);
    }

    @Test
    void shouldReportItsStartBeforeItsFirstClient() {
        Peer server = Peer.server(card, Card.NAME);
        server.endpoint.setStateChangedCallback(
                (of, from, to) -> server.events.add(from + ">" + to));
        server.endpoint.start();
        CompletableFuture<Attachment> answer = rogue.begin(RogueClient.hello());
        awaitPost(card.dpuEngine); // before its first progress

        card.until("accepted", answer::isDone);

        rogue.attachment = answer.join();
        assertThat(server.events).startsWith("IDLE>RUNNING", "connected true");
    }
}
