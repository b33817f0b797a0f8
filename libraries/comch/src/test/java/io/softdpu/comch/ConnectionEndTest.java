package io.softdpu.comch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.linux.Epoll;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ends of connections, by either side, orderly or not. */
class ConnectionEndTest {
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(80);

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

    @Clause("cc-136")
    @Test
    void shouldReportTheEndOfEachConnectionWithThatConnection() {
        Card.Pair pair = card.pair();
        Peer server = pair.server();
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("second", () -> server.events.size() == 2);
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        ComchConnection ofFirst = server.connectionsOfEvents.get(0);
        ComchConnection ofSecond = server.connectionsOfEvents.get(1);
        Peer.stop(card, second.endpoint);
        card.until("second has gone", () -> server.events.size() == 3);
        Peer.stop(card, pair.client().endpoint);
        card.until("first has gone", () -> server.events.size() == 4);
        assertThat(server.connectionsOfEvents)
                .containsExactly(ofFirst, ofSecond, ofSecond, ofFirst);
        assertThat(server.events)
                .containsExactly(
                        "connected true",
                        "connected true",
                        "disconnected true",
                        "disconnected true");
    }

    @Clause({"cc-139", "cc-140", "cc-141"})
    @Test
    void shouldDisconnectInOrderWhenTheClientStops() {
        Card.Pair pair = card.pair();
        pair.client().send("last words");
        pair.client().endpoint.stop();
        card.until("idle", () -> pair.client().states.contains(ContextState.IDLE));
        card.until("told", () -> pair.server().events.size() == 2);
        assertThat(pair.client().sends).containsExactly(Status.SUCCESS);
        assertThat(pair.server().texts()).containsExactly("last words");
        assertThat(pair.server().events).containsExactly("connected true", "disconnected true");
        assertThat(pair.server().connection.failure()).isNull();
        assertThat(pair.server().connection.isConnected()).isFalse();
        assertThat(pair.client().endpoint.failure()).isNull();
        assertThat(pair.server().endpoint.state()).isEqualTo(ContextState.RUNNING);
        assertThat(((ComchServer) pair.server().endpoint).connections()).isEmpty();
    }

    @Clause({"cc-088", "cc-128", "cc-139"})
    @Test
    void shouldDeliverWhatBothSidesSentBeforeTheDisconnect() {
        Card.Pair pair = card.pair();
        for (int i = 0; i < 20; i++) {
            assertThat(pair.client().send("c" + i)).isEqualTo(Status.SUCCESS);
            assertThat(pair.server().send("s" + i)).isEqualTo(Status.SUCCESS);
        }
        assertThat(pair.server().connection.disconnect()).isEqualTo(Status.SUCCESS);
        assertThat(pair.server().connection.disconnect()).isEqualTo(Status.NOT_CONNECTED);
        assertThat(pair.server().send("late")).isEqualTo(Status.NOT_CONNECTED);
        card.until("idle", () -> pair.client().endpoint.state() == ContextState.IDLE);
        card.until("told", () -> pair.server().events.size() == 2);
        assertThat(pair.server().events).containsExactly("connected true", "disconnected true");
        assertThat(pair.client().endpoint.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(pair.server().messages).hasSize(20);
        assertThat(pair.client().messages).hasSize(20);
        assertThat(pair.server().sends).hasSize(20).containsOnly(Status.SUCCESS);
        assertThat(pair.client().sends).hasSize(20).containsOnly(Status.SUCCESS);
    }

    @Clause("cc-137")
    @Test
    void shouldTellTheClientByItsStatesThatItsConnectionHasEnded() {
        Card.Pair pair = card.pair();
        assertThat(pair.server().connection.disconnect()).isEqualTo(Status.SUCCESS);
        card.until("told", () -> pair.client().states.contains(ContextState.IDLE));
        assertThat(pair.client().states)
                .containsExactly(
                        ContextState.STARTING,
                        ContextState.RUNNING,
                        ContextState.STOPPING,
                        ContextState.IDLE);
        assertThat(pair.client().endpoint.failure().status()).isEqualTo(Status.CONNECTION_RESET);
    }

    @Clause("cc-088")
    @Test
    void shouldRefuseToSendOnConnectionThatHasEnded() {
        Card.Pair pair = card.pair();
        ComchSendTask kept = pair.server().endpoint.allocateSendTask(pair.server().connection);
        kept.setMessage(new byte[] {1});
        Peer.stop(card, pair.client().endpoint);
        card.until("told", () -> pair.server().events.size() == 2);
        assertThat(kept.trySubmit()).isEqualTo(Status.NOT_CONNECTED);
        assertThat(pair.server().connection.disconnect()).isEqualTo(Status.NOT_CONNECTED);
        kept.free();
    }

    @Clause("cc-139")
    @Test
    void shouldEndAllConnectionsWhenTheServerStops() {
        Card.Pair pair = card.pair();
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        Peer.stop(card, pair.server().endpoint);
        card.until("first idle", () -> pair.client().endpoint.state() == ContextState.IDLE);
        card.until("second idle", () -> second.endpoint.state() == ContextState.IDLE);
        assertThat(pair.server().events)
                .containsExactly(
                        "connected true",
                        "connected true",
                        "disconnected true",
                        "disconnected true");
        pair.server().endpoint.start();
        second.endpoint.start();
        card.until("again", () -> second.endpoint.state() == ContextState.RUNNING);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveUpWaitingForPeerThatDoesNotAnswerTheDisconnect(boolean eventMode) {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.setControlTimeout(Duration.ofNanos(SHORT_NANOS));
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send("nobody looks");
        client.endpoint.stop();
        long begin = System.nanoTime();
        while (client.endpoint.state() != ContextState.IDLE) {
            if (eventMode) {
                awaitNotification(card.hostEngine);
            } else {
                card.hostEngine.await(Patience.LIMIT);
            }
            assertThat(System.nanoTime() - begin)
                    .as("woken by the time limit of the connection")
                    .isLessThan(Patience.DEADLINE.toNanos());
        }
        assertThat(client.sends).containsExactly(Status.CONNECTION_ABORTED);
        card.until("server told", () -> server.events.size() == 2);
        assertThat(server.events).containsExactly("connected true", "disconnected false");
        assertThat(server.connection.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        // Which of the two the server sees first, the message or the end, is a race.
        assertThat(server.messages)
                .hasSizeLessThanOrEqualTo(1)
                .allMatch(message -> new String(message, UTF_8).equals("nobody looks"));
    }

    @Clause("cc-141")
    @Test
    void shouldTellTheServerThatItsDisconnectWasNotAnswered() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.setControlTimeout(Duration.ofNanos(SHORT_NANOS));
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> server.connection != null);
        assertThat(server.connection.disconnect()).isEqualTo(Status.SUCCESS);
        progressUntil(card.dpuEngine, () -> server.events.size() == 2);
        assertThat(server.events).containsExactly("connected true", "disconnected false");
        assertThat(server.connection.failure().status()).isEqualTo(Status.CONNECTION_ABORTED);
    }

    @Test
    void shouldSignalANotificationThatWasRequestedBeforeADisconnect() {
        Card.Pair pair = card.pair();
        card.settle();
        card.dpuEngine.clearNotification(); // what has rung while it was polled
        card.dpuEngine.requestNotification();
        assertThat(pair.server().connection.disconnect()).isEqualTo(Status.SUCCESS);
        // Not at once: a thread of the bus may be about to signal for both.
        assertThat(card.dpuEngine.awaitNotification(Patience.DEADLINE)).isTrue();
        card.dpuEngine.clearNotification();
        card.until("told", () -> pair.server().events.contains("disconnected true"));
    }

    /** The disconnect needs no room in the queue: control messages have slots of their own. */
    @Test
    void shouldDisconnectAPeerWhoseReceiveQueueIsFull() {
        Card.Pair pair = pairOfSmallQueue();
        ComchConnection connection = pair.server().connection;
        int sent = 0;
        while (pair.server().send("s" + sent) == Status.SUCCESS) {
            sent++;
        }
        assertThat(connection.disconnect()).isEqualTo(Status.SUCCESS);
        assertThat(connection.isConnected()).isFalse();
        card.until("told", () -> pair.server().events.contains("disconnected true"));
        assertThat(pair.client().messages).hasSize(sent);
        assertThat(pair.server().sends).hasSize(sent).containsOnly(Status.SUCCESS);
    }

    @Test
    void shouldDisconnectAPeerThatDoesNotReceive() {
        Card.Pair pair = pairOfSmallQueue();
        ComchConnection connection = pair.server().connection;
        Peer.limitReplies(connection);
        while (pair.server().send("unread") == Status.SUCCESS) {}
        assertThat(connection.disconnect()).isEqualTo(Status.SUCCESS);
        progressUntil(card.dpuEngine, () -> pair.server().events.size() == 2);
        assertThat(pair.server().events).containsExactly("connected true", "disconnected false");
        assertThat(connection.failure().status()).isEqualTo(Status.CONNECTION_ABORTED);
    }

    /** A server, and a client that can receive fewer messages than the server has tasks. */
    private Card.Pair pairOfSmallQueue() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.setReceiveQueueSize(5);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> server.connection != null);
        return new Card.Pair(server, client);
    }

    private static void awaitNotification(ProgressEngine engine) {
        engine.requestNotification();
        engine.awaitNotification(Patience.LIMIT);
        engine.clearNotification();
        while (engine.progress()) {}
    }

    @Test
    void shouldStopWhileConnecting() {
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.start();
        progressFor(card.hostEngine::progress);
        assertThat(client.endpoint.stop()).isEqualTo(Status.SUCCESS);
        assertThat(client.endpoint.state()).isEqualTo(ContextState.IDLE);
        Peer server = Peer.server(card, Card.NAME);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
    }

    @Test
    void shouldTellClientThatWaitsThatTheServerIsStopping() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.start();
        client.endpoint.start();
        progressUntilTheClientWaits(server);
        assertThat(server.endpoint.stop()).isEqualTo(Status.SUCCESS);
        card.until("refused", () -> client.endpoint.state() == ContextState.IDLE);
        assertThat(client.endpoint.failure().status()).isEqualTo(Status.SHUTDOWN);
    }

    @Test
    void shouldSendWaitingClientsAwayEvenIfTheServerProgressesNoMore() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.start();
        client.endpoint.start();
        progressUntilTheClientWaits(server);
        server.endpoint.stop();
        server.endpoint.close();
        progressUntil(card.hostEngine, () -> client.endpoint.state() == ContextState.IDLE);
        assertThat(client.endpoint.failure().status()).isEqualTo(Status.SHUTDOWN);
    }

    /** The handshake of such a client began before the name was released. */
    @Test
    void shouldRefuseAClientThatArrivesWhenTheServerHasStopped() throws Exception {
        ServerContext server = (ServerContext) Peer.server(card, Card.NAME).endpoint;
        server.start();
        PendingClients clients =
                new PendingClients(server, server.endpointServices(), server.terms(), 1);
        clients.close();
        String name = "a name that goes on";
        try (RogueClient rogue = new RogueClient(card);
                Endpoint _ = server.endpointServices().bus().listen(name, clients)) {
            byte[] hello = RogueClient.hello();
            assertThat(rogue.bus.connect(name, hello, rogue.inboundMemory, Patience.NANOS).future())
                    .failsWithin(Patience.DEADLINE)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOfSatisfying(
                            FabricException.class,
                            e -> assertThat(e.refusalCode()).isEqualTo(Status.SHUTDOWN.code()));
        }
        assertThat(clients.size()).isZero();
    }

    @Clause("cc-141")
    @Test
    void shouldHangUpIfTheClientIsClosedBetweenTheAnswerAndItsProgress() {
        Peer server = serverOfOne();
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.start();
        progressUntilTheClientWaits(server);
        card.hostEngine.requestNotification();
        progressUntil(card.dpuEngine, () -> server.connection != null);
        awaitEvent(card.hostEngine); // the reply is there, unread
        card.hostEngine.clearNotification();
        client.endpoint.stop();
        client.endpoint.close();
        progressUntil(card.dpuEngine, () -> server.events.size() == 2);
        assertThat(server.events).containsExactly("connected true", "disconnected false");
        requireRoomForTheNext(server);
    }

    @Test
    void shouldHangUpIfTheClientIsClosedBeforeTheAnswer() {
        Peer server = serverOfOne();
        Peer client = Peer.client(card, Card.NAME);
        progressFor(card.dpuEngine::progress);
        Set<String> before = sockets();
        card.dpuEngine.requestNotification();
        client.endpoint.start();
        progressUntilTheClientWaits(server);
        awaitEvent(card.dpuEngine);
        card.dpuEngine.clearNotification();
        assertThat(sockets()).as("both ends are here").hasSize(before.size() + 2);
        client.endpoint.stop();
        client.endpoint.close();
        // Only then is it certain that the server comes too late; its bus closes nothing itself.
        Await.until("the client has hung up", () -> sockets().size() == before.size() + 1);
        assertThat(server.events).isEmpty();

        progressUntil(card.dpuEngine, () -> !server.events.isEmpty());

        assertThat(server.events).containsExactly("connected false");
        assertThat(((ComchServer) server.endpoint).connections()).isEmpty();
        requireRoomForTheNext(server);
    }

    private Peer serverOfOne() {
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint).setMaxClients(1);
        server.endpoint.start();
        return server;
    }

    /** A lost client does not occupy the only connection. */
    private void requireRoomForTheNext(Peer server) {
        server.events.clear();
        Peer next = Peer.client(card, Card.NAME);
        next.endpoint.start();
        card.until("next client in or out", () -> next.states.size() >= 2);
        assertThat(next.states).containsExactly(ContextState.STARTING, ContextState.RUNNING);
        assertThat(server.events).containsExactly("connected true");
        next.send("served");
        card.until("message", () -> !server.messages.isEmpty());
        assertThat(server.texts()).containsExactly("served");
    }

    /** The sockets of this process, each by its number in the kernel. */
    private static Set<String> sockets() {
        return ProcessView.self().descriptors().stream()
                .filter(target -> target.startsWith("socket:"))
                .collect(Collectors.toSet());
    }

    /** Progresses one side only, long enough for an unwanted event to occur. */
    private static void progressFor(Runnable progress) {
        long end = System.nanoTime() + SHORT_NANOS;
        while (System.nanoTime() < end) {
            progress.run();
        }
    }

    /** Progresses the client's side only, until its request waits for the server's progress. */
    private void progressUntilTheClientWaits(Peer server) {
        ServerContext context = (ServerContext) server.endpoint;
        progressUntil(card.hostEngine, () -> context.pendingClients() == 1);
    }

    /** Progresses one side only until a condition holds. */
    private static void progressUntil(ProgressEngine engine, BooleanSupplier condition) {
        Await.byStep("progress of one side", condition, engine::progress);
    }

    private static void awaitEvent(ProgressEngine engine) {
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(engine.eventHandle(), Epoll.IN, 0);
            assertThat(epoll.await((int) Patience.LIMIT.toMillis())).isEqualTo(1);
        }
    }
}
