package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connecting and disconnecting of clients and servers. */
class ConnectionTest {
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

    @Clause({"cc-047", "cc-049", "cc-154"})
    @Clause({"cc-155", "cc-160"})
    @Test
    void shouldConnectClientAndServerByProgressAlone() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.start();
        assertThat(client.endpoint.start()).isEqualTo(Status.IN_PROGRESS);
        assertThat(client.endpoint.state()).isEqualTo(ContextState.STARTING);
        card.until("client runs", () -> client.states.contains(ContextState.RUNNING));
        assertThat(client.connection().isConnected()).isTrue();
        assertThat(client.states).containsExactly(ContextState.STARTING, ContextState.RUNNING);
        assertThat(client.endpoint.state()).isEqualTo(ContextState.RUNNING);
    }

    @Clause("cc-159")
    @Test
    void shouldRunAServerFromItsStart() {
        Peer server = Peer.server(card, Card.NAME);
        assertThat(server.endpoint.start()).isEqualTo(Status.SUCCESS);
        assertThat(server.endpoint.state()).isEqualTo(ContextState.RUNNING);
        card.until("told", () -> !server.states.isEmpty());
        assertThat(server.states).containsExactly(ContextState.RUNNING);
    }

    @Clause({"cc-026", "cc-030"})
    @Test
    void shouldReachTheServerOfTheNameAlone() {
        Peer meant = Peer.server(card, "meant");
        Peer other = Peer.server(card, "meant, too");
        meant.endpoint.start();
        other.endpoint.start();
        card.settle();
        assertThat(meant.events).as("only clients initiate connections").isEmpty();
        Peer client = Peer.client(card, "meant");
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.settle();
        assertThat(meant.events).containsExactly("connected true");
        assertThat(other.events).isEmpty();
        client.send("for the one that was meant");
        card.until("message", () -> !meant.messages.isEmpty());
        assertThat(other.messages).isEmpty();
    }

    @Clause({"cc-045", "cc-138"})
    @Test
    void shouldHandTheConnectionToTheHandlerOfTheServer() {
        List<ComchConnection> handed = new ArrayList<>();
        List<Boolean> established = new ArrayList<>();
        List<ComchConnection> ended = new ArrayList<>();
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint)
                .setConnectedCallback(connection -> {
                    handed.add(connection);
                    established.add(connection.isConnected());
                })
                .setDisconnectedCallback((connection, reason) -> ended.add(connection));
        server.endpoint.start();
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.settle();
        assertThat(established).containsExactly(true);
        assertThat(((ComchServer) server.endpoint).connections()).containsExactlyElementsOf(handed);
        assertThat(handed.getFirst().function()).isEqualTo("host/pf0");
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        card.settle();
        assertThat(established).containsExactly(true, true);
        assertThat(((ComchServer) server.endpoint).connections())
                .containsExactlyElementsOf(handed)
                .doesNotHaveDuplicates();
        Peer.stop(card, client.endpoint);
        card.until("ended", () -> !ended.isEmpty());
        assertThat(ended).containsExactly(handed.getFirst());
    }

    @Clause({"cc-028", "cc-032"})
    @Test
    void shouldMakeAHandleOfEachConnectionOnBothSides() {
        Card.Pair pair = card.pair();
        ComchConnection first = pair.server().connection;
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        card.until("handle", () -> pair.server().connection != first);
        assertThat(pair.client().connection().endpoint()).isSameAs(pair.client().endpoint);
        assertThat(second.connection().endpoint()).isSameAs(second.endpoint);
        assertThat(first.endpoint()).isSameAs(pair.server().endpoint);
        second.send("of the second");
        card.until("message", () -> !pair.server().messages.isEmpty());
        assertThat(pair.server().connection.receivedMessages()).isEqualTo(1);
        assertThat(first.receivedMessages()).isZero();
        ComchConnection ofClient = pair.client().connection();
        Peer.stop(card, pair.client().endpoint);
        card.until("told", () -> pair.server().events.contains("disconnected true"));
        assertThat(first.isConnected()).isFalse();
        assertThat(pair.server().connection.isConnected()).isTrue();
        pair.client().endpoint.start();
        card.until("again", () -> pair.client().endpoint.state() == ContextState.RUNNING);
        assertThat(pair.client().connection()).isNotSameAs(ofClient);
        assertThat(ofClient.isConnected()).isFalse();
    }

    @Clause({"cc-044", "cc-048"})
    @Clause({"cc-025", "cc-157"})
    @Test
    void shouldDoNothingOnEitherSideWithoutItsProgress() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        ServerContext context = (ServerContext) server.endpoint;
        server.endpoint.start();
        client.endpoint.start();
        Await.byStep(
                "the client waits", () -> context.pendingClients() == 1, card.hostEngine::progress);
        progressFor(card.hostEngine::progress);
        assertThat(client.endpoint.state()).isEqualTo(ContextState.STARTING);
        assertThat(server.events).isEmpty();
        Await.byStep("connected", () -> !server.events.isEmpty(), card.dpuEngine::progress);
        progressFor(card.dpuEngine::progress);
        assertThat(server.events).containsExactly("connected true");
        assertThat(client.endpoint.state()).isEqualTo(ContextState.STARTING);
        card.until("client runs", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send("to the server");
        progressFor(card.hostEngine::progress);
        assertThat(server.send("to the client")).isEqualTo(Status.SUCCESS);
        assertThat(server.connection.isConnected()).isTrue();
        assertThat(server.messages).as("sending is no progress").isEmpty();
        progressFor(card.dpuEngine::progress);
        assertThat(server.texts()).containsExactly("to the server");
        assertThat(client.send("and again")).isEqualTo(Status.SUCCESS);
        assertThat(client.connection().isConnected()).isTrue();
        assertThat(client.messages).as("sending is no progress").isEmpty();
        card.until("message", () -> !client.messages.isEmpty());
        assertThat(client.texts()).containsExactly("to the client");
        Queue.Receiving receiving = new Queue.Receiving(client, card.hostEngine, 4096, 1);
        receiving.consumer.start();
        progressFor(card.hostEngine::progress);
        assertThat(server.consumers).isEmpty();
        card.until("consumer", () -> !server.consumers.isEmpty());
        Peer.stop(card, receiving.consumer);
        client.endpoint.stop();
        progressFor(card.hostEngine::progress);
        assertThat(server.events).doesNotContain("disconnected true");
        card.until("end", () -> server.events.contains("disconnected true"));
    }

    @Clause("cc-048")
    @Test
    void shouldNotConnectBeforeTheFirstProgressOfTheClient() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        ProgressEngine ofOther = card.engine();
        Peer other = Peer.client(card, Card.NAME, card.pf0, ofOther);
        server.endpoint.start();
        client.endpoint.start();
        other.endpoint.start(); // an attempt that the first start had made would be ahead of it
        Await.byStep(
                "the other client runs",
                () -> other.endpoint.state() == ContextState.RUNNING,
                () -> {
                    ofOther.progress();
                    card.dpuEngine.progress();
                });
        assertThat(server.events).as("starting is no progress").containsExactly("connected true");
        assertThat(client.endpoint.state()).isEqualTo(ContextState.STARTING);
        card.until("client runs", () -> client.endpoint.state() == ContextState.RUNNING);
        assertThat(server.events).containsExactly("connected true", "connected true");
    }

    @Clause({"cc-043", "cc-154"})
    @Test
    void shouldLookForTheServerUntilTheConnectTimeoutAndSayNotFound() {
        Peer.server(card, Card.NAME); // created, not started
        Peer client = Peer.client(card, Card.NAME);
        ((ComchClient) client.endpoint).setConnectTimeout(Duration.ofNanos(SHORT_NANOS));
        long begin = System.nanoTime();
        client.endpoint.start();
        card.until("gave up", () -> client.states.contains(ContextState.IDLE));
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(SHORT_NANOS);
        assertThat(client.states)
                .containsExactly(ContextState.STARTING, ContextState.STOPPING, ContextState.IDLE);
        assertThat(client.endpoint.failure().status()).isEqualTo(Status.NOT_FOUND);
        assertThat(client.endpoint.failure().getMessage())
                .contains("server=" + Card.NAME, "function=host/pf0")
                .endsWith(", expected=a server of this name, started before the timeout");
    }

    @Clause("cc-047")
    @Test
    void shouldFindServerThatStartsAfterTheClient() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        assertThat(client.endpoint.start())
                .as("no server to wait for")
                .isEqualTo(Status.IN_PROGRESS);
        progressFor(card.hostEngine::progress);
        assertThat(client.endpoint.state()).isEqualTo(ContextState.STARTING);
        server.endpoint.start();
        card.until("client runs", () -> client.endpoint.state() == ContextState.RUNNING);
    }

    @Test
    void shouldTimeOutAtServerThatDoesNotProgress() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        // Within it the client finds the server, else it says that there is none.
        ((ComchClient) client.endpoint).setConnectTimeout(Duration.ofNanos(20 * SHORT_NANOS));
        server.endpoint.start();
        client.endpoint.start();
        Await.byStep(
                "the client gives up",
                () -> client.endpoint.state() == ContextState.IDLE,
                () -> card.hostEngine.await(Duration.ofMillis(1)));
        assertThat(client.endpoint.failure().status()).isEqualTo(Status.TIME_OUT);
        card.until("server noticed", () -> !server.events.isEmpty());
        assertThat(server.events).containsExactly("connected false");
        assertThat(server.reasons.getFirst().status()).isEqualTo(Status.CONNECTION_RESET);
    }

    @Clause("cc-038")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "L\u00e4ger",
                "l\u00e4ge",
                "l\u00e4ger2",
                "l\u00e4ger ",
                " l\u00e4ger",
                "L\u00c4GER",
                "lager",
                "la\u0308ger" // the same text in another form of Unicode
            })
    void shouldNotConnectByAnotherName(String name) {
        Peer server = Peer.server(card, "l\u00e4ger");
        server.endpoint.start();
        Peer client = Peer.client(card, name);
        ((ComchClient) client.endpoint).setConnectTimeout(Duration.ofNanos(SHORT_NANOS));
        client.endpoint.start();
        card.until("gave up", () -> client.endpoint.state() == ContextState.IDLE);
        assertThat(client.endpoint.failure().status()).isEqualTo(Status.NOT_FOUND);
        assertThat(server.events).isEmpty();
    }

    @Clause("cc-042")
    @Test
    void shouldRefuseSecondServerOfTheNameUnlessForAnotherRepresentor() {
        Peer first = Peer.server(card, Card.NAME);
        first.endpoint.start();
        Peer second = Peer.server(card, Card.NAME);
        assertRefused(Status.IN_USE, second.endpoint::start);
        assertThat(second.endpoint.state()).isEqualTo(ContextState.IDLE);
        Representor other = card.keep(card.p0.findRepresentor("hpf0vf0").open());
        Peer third = Peer.server(card, Card.NAME, other);
        assertThat(third.endpoint.start()).isEqualTo(Status.SUCCESS);
        Peer.stop(card, first.endpoint);
        assertThat(second.endpoint.start()).isEqualTo(Status.SUCCESS);
    }

    @Clause({"cc-015", "cc-131", "cc-135"})
    @Test
    void shouldServeSeveralClientsAndTellTheirMessagesApart() {
        Peer server = Peer.server(card, Card.NAME);
        server.endpoint.start();
        Peer first = Peer.client(card, Card.NAME);
        Peer second = Peer.client(card, Card.NAME);
        first.endpoint.start();
        card.until("first", () -> server.events.size() == 1);
        second.endpoint.start();
        card.until("second", () -> server.events.size() == 2);
        card.until("first", () -> first.endpoint.state() == ContextState.RUNNING);
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        second.send("from the second");
        card.until("one", () -> server.messages.size() == 1);
        first.send("from the first");
        card.until("two", () -> server.messages.size() == 2);
        assertThat(server.texts()).containsExactly("from the second", "from the first");
        assertThat(server.messageConnections)
                .containsExactlyElementsOf(server.connectionsOfEvents.reversed())
                .doesNotHaveDuplicates();
        for (Peer client : List.of(first, second)) {
            ComchConnection connection = client.connection();
            server.connection = server.connectionsOfEvents.get(client == first ? 0 : 1);
            server.send("answer");
            card.until("answer", () -> !client.messages.isEmpty());
            assertThat(client.messageConnections).containsExactly(connection);
        }
    }

    @Clause({"cc-077", "cc-141"})
    @Test
    void shouldRefuseOneClientTooMany() {
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint).setMaxClients(2);
        server.endpoint.start();
        Peer first = Peer.client(card, Card.NAME);
        Peer second = Peer.client(card, Card.NAME);
        Peer third = Peer.client(card, Card.NAME);
        first.endpoint.start();
        card.until("first", () -> first.endpoint.state() == ContextState.RUNNING);
        second.endpoint.start();
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        third.endpoint.start();
        card.until("third", () -> third.endpoint.state() == ContextState.IDLE);
        assertThat(third.endpoint.failure().status()).isEqualTo(Status.FULL);
        assertThat(server.events)
                .containsExactly("connected true", "connected true", "connected false");
        assertThat(server.reasons).hasSize(1);
        assertThat(server.reasons.getFirst().status()).isEqualTo(Status.FULL);
        assertThat(server.connectionsOfEvents.getLast().failure())
                .isSameAs(server.reasons.getFirst());
        Peer.stop(card, first.endpoint);
        third.endpoint.start();
        card.until("third again", () -> third.endpoint.state() == ContextState.RUNNING);
    }

    @Clause("cc-077")
    @Test
    void shouldRefuseOneOfTwoClientsThatWaitForTheLastPlace() {
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint).setMaxClients(2);
        server.endpoint.start();
        Peer first = Peer.client(card, Card.NAME);
        first.endpoint.start();
        card.until("first", () -> first.endpoint.state() == ContextState.RUNNING);
        Peer second = Peer.client(card, Card.NAME);
        Peer third = Peer.client(card, Card.NAME);
        second.endpoint.start();
        third.endpoint.start();
        Await.byStep(
                "both wait for the server",
                () -> ((ServerContext) (ComchServer) server.endpoint).pendingClients() == 2,
                () -> card.hostEngine.await(Duration.ofMillis(1)));
        card.until("decided", () -> server.events.size() == 3);
        assertThat(server.events)
                .containsExactly("connected true", "connected true", "connected false");
        assertThat(((ComchServer) server.endpoint).connections()).hasSize(2);
    }

    @Clause("cc-027")
    @Test
    void shouldConnectOneClientToOneServerOnly() {
        Card.Pair pair = card.pair();
        assertRefused(Status.BAD_STATE, pair.client().endpoint::start);
        progressFor(() -> {
            card.hostEngine.progress();
            card.dpuEngine.progress();
        });
        assertThat(pair.server().events).containsExactly("connected true");
        assertThat(((ComchServer) pair.server().endpoint).connections()).hasSize(1);
    }

    @Clause({"cc-069", "cc-141", "cc-150"})
    @ParameterizedTest
    @ValueSource(ints = {1023, 1025})
    void shouldRefuseClientWithAnotherMaximumMessageSize(int ofClient) {
        Peer server = Peer.server(card, Card.NAME);
        server.endpoint.setMaxMessageBytes(1024);
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.setMaxMessageBytes(ofClient);
        server.endpoint.start();
        client.endpoint.start();
        card.until("refused", () -> client.endpoint.state() == ContextState.IDLE);
        assertThat(client.endpoint.failure().status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(client.endpoint.failure().getMessage())
                .contains("client=" + ofClient, "server=1024");
        assertThat(server.events).containsExactly("connected false");
        client.endpoint.setMaxMessageBytes(1024);
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
    }

    @Test
    @Clause("core-025")
    void shouldKeepUserDataAndCountersOfConnections() {
        Card.Pair pair = card.pair();
        ComchConnection connection = pair.server().connection;
        assertThat(connection.userData()).isZero();
        connection.setUserData(Long.MIN_VALUE + 42);
        connection.setUserObject("mine");
        pair.client().send("12345");
        pair.client().send("");
        pair.server().send("123");
        card.until("all", () -> pair.server().sends.size() + pair.client().sends.size() == 3);
        assertThat(connection.receivedMessages()).isEqualTo(2);
        assertThat(connection.receivedBytes()).isEqualTo(5);
        assertThat(connection.sentMessages()).isEqualTo(1);
        assertThat(connection.sentBytes()).isEqualTo(3);
        assertThat(pair.client().connection().sentMessages()).isEqualTo(2);
        assertThat(pair.client().connection().receivedBytes()).isEqualTo(3);
        assertThat(connection.userData()).isEqualTo(Long.MIN_VALUE + 42);
        assertThat(connection.userObject()).isEqualTo("mine");
    }

    /** Progresses one side only, long enough for an unwanted event to occur. */
    private static void progressFor(Runnable progress) {
        long end = System.nanoTime() + SHORT_NANOS;
        while (System.nanoTime() < end) {
            progress.run();
        }
    }
}
