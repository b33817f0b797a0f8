package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.logging.LogRecord;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Start and end of streams, in order and not. */
class StreamEndTest extends StreamFixture {
    @Test
    void shouldWaitForThePeerAndNotForLonger() {
        create(2, 2);
        atClient.start();
        card.settle();
        assertThat(atClient.state()).isEqualTo(ContextState.STARTING);
        assertThat(atClient.tryClaim()).isNull();
        atClient.stop();
        untilEnded(atClient);
        assertThat(atClient.failure()).isNull();
        start();
    }

    @Test
    void shouldDeliverWhatWasSentBeforeItStops() {
        open(8, 2);
        for (int i = 0; i < 8; i++) {
            assertThat(send(atClient, i)).isTrue();
        }
        atClient.stop();
        assertThat(atClient.tryClaim()).isNull();
        List<Integer> received = new ArrayList<>();
        card.settle();
        assertThat(atClient.state()).as("six wait").isEqualTo(ContextState.STOPPING);
        assertThatThrownBy(() -> card.hostEngine.stop(atClient, Duration.ZERO))
                .hasMessageContainingAll(
                        "awaited=receive buffers of the peer, for what was sent, waiting=6",
                        "expected=the peer to progress its engine and to close() received buffers");
        card.until(
                "all",
                () -> {
                    received.addAll(numbers(atServer));
                    return received.size() == 8;
                });
        untilEnded(atClient);
        untilEnded(atServer);
        assertThat(received).isEqualTo(IntStream.range(0, 8).boxed().toList());
        assertThat(atClient.failure()).isNull();
        assertThat(atServer.failure()).isNull();
        assertThat(atClient.undeliveredMessages()).isZero();
        assertThat(atServer.receive(Duration.ZERO)).isNull();
        assertThatThrownBy(() -> atServer.claim(Duration.ZERO))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.SHUTDOWN));
    }

    @Test
    void shouldSayThatItsStopAwaitsTheEngineOfThePeer() {
        open(2, 2);
        atClient.stop();
        assertThatThrownBy(() -> card.hostEngine.stop(atClient, Duration.ZERO))
                .hasMessageContainingAll(
                        "awaited=end of the peer's stream",
                        "expected=the peer to progress its engine, as by awaitNotification, or to"
                                + " end");
        untilEnded(atClient);
        untilEnded(atServer);
    }

    @Test
    void shouldSayThatThePeerIsToStartItsStream() {
        create(2, 2);
        atClient.start();
        assertThatThrownBy(() -> atClient.claim(Duration.ZERO))
                .hasMessageEndingWith(
                        "state=STARTING, awaited=stream of the peer, peerConsumers=0, expected=the"
                                + " peer to start its stream");
    }

    @Test
    void shouldSayThatTheProgramHasClaimedAllBuffers() {
        open(2, 2);
        atClient.tryClaim();
        atClient.tryClaim();
        assertThatThrownBy(() -> atClient.claim(Duration.ZERO))
                .hasMessageEndingWith(
                        ", sendBuffers=2, waitingForPeer=0, claimed=2, expected=send() or close()"
                                + " of claimed buffers");
    }

    @Test
    void shouldSayThatThePeerIsToCloseItsBuffers() {
        open(2, 2);
        for (int i = 0; i < 4; i++) {
            int next = i;
            card.until("sent", () -> send(atClient, next));
        }
        card.settle();
        assertThatThrownBy(() -> atClient.claim(Duration.ZERO))
                .hasMessageEndingWith(
                        ", sendBuffers=2, waitingForPeer=2, claimed=0, expected=the peer to"
                                + " close() received buffers");
    }

    /** One pass of a consumer completes 64. */
    @Test
    void shouldDeliverMoreMessagesThanAPassOfProgressCompletes() {
        open(300, 300);
        for (int i = 0; i < 300; i++) {
            assertThat(send(atClient, i)).isTrue();
        }
        atClient.stop();
        untilEnded(atServer);
        untilEnded(atClient);
        assertThat(numbers(atServer)).isEqualTo(IntStream.range(0, 300).boxed().toList());
        assertThat(atServer.failure()).isNull();
    }

    @Test
    void shouldDeliverAllThoughTheConnectionEndsWithTheStream() {
        open(300, 300);
        for (int i = 0; i < 300; i++) {
            assertThat(send(atClient, i)).isTrue();
        }
        atClient.stop();
        untilEnded(atClient);
        pair.client().endpoint.stop();
        card.until("idle", () -> pair.client().endpoint.state() == ContextState.IDLE);
        untilEnded(atServer);
        assertThat(atServer.failure()).isNull();
        assertThat(numbers(atServer)).isEqualTo(IntStream.range(0, 300).boxed().toList());
    }

    /** Both messages of the peer are handled in one pass, before the stream hears of the first. */
    @Test
    void shouldEndInOrderIfThePeerDisconnectsAtOnce() {
        int messages = 300;
        open(messages, messages);
        for (int i = 0; i < messages; i++) {
            assertThat(send(atClient, i)).isTrue();
        }
        ComchConnection connection = pair.server().connection();
        ConsumerRegistry registry = connection.requireRegistry();
        int peer = connection.remoteConsumers()[0];
        assertThat(registry.handle(MessageType.CONSUMER_EXPIRED, peer, 0, MemorySegment.NULL, 0))
                .isNull();
        // The end of the limit is the way on: this side no longer asks the peer for a release. It
        // takes no message away: all are in the ring, and the end delivers what is there.
        limitReplies();
        registry.closing();
        untilEnded(atServer);
        assertThat(atServer.failure()).isNull();
        assertThat(numbers(atServer)).isEqualTo(IntStream.range(0, messages).boxed().toList());
    }

    @Test
    void shouldFailIfThePeerDisconnectsWithoutStopping() {
        open(4, 4);
        send(atClient, 1);
        limitReplies();
        pair.server().connection().requireRegistry().closing();
        untilEnded(atServer);
        assertThat(Objects.requireNonNull(atServer.failure()).status())
                .isEqualTo(Status.CONNECTION_RESET);
        assertThat(numbers(atServer)).containsExactly(1);
        assertThatThrownBy(() -> atServer.receive(Duration.ZERO)).hasCause(atServer.failure());
    }

    @Test
    void shouldKeepMessagesUntilItIsClosed() {
        open(4, 4);
        send(atClient, new byte[] {1, 2, 3}, new byte[] {4, 5});
        send(atClient, new byte[] {6}, NOTHING);
        ComchReceiveBuffer held = next(atServer);
        atClient.stop();
        untilEnded(atServer);
        assertThat(bytes(held)).containsExactly(1, 2, 3);
        assertThat(immediate(held)).containsExactly(4, 5);
        held.close();
        assertThat(bytes(Objects.requireNonNull(atServer.receive(Duration.ZERO))))
                .containsExactly(6);
        assertThat(atServer.receive(Duration.ZERO)).isNull();
        atServer.close();
        held.close();
        assertThat(atServer.tryReceive()).isNull();
    }

    @Test
    void shouldRunAgainOnTheSameConnection() {
        open(2, 2);
        for (int round = 0; round < 5; round++) {
            send(atClient, round);
            ComchStream first = round % 2 == 0 ? atClient : atServer;
            first.stop();
            untilEnded(atClient);
            untilEnded(atServer);
            assertThat(numbers(atServer)).containsExactly(round);
            start();
        }
    }

    @Test
    void shouldEndInOrderWhenBothStopAtOnce() {
        open(4, 4);
        send(atClient, 1);
        send(atServer, 2);
        atClient.stop();
        atServer.stop();
        untilEnded(atClient);
        untilEnded(atServer);
        assertThat(numbers(atServer)).containsExactly(1);
        assertThat(numbers(atClient)).containsExactly(2);
        assertThat(atClient.failure()).isNull();
        assertThat(atServer.failure()).isNull();
    }

    @Test
    void shouldStopAndCloseInItsCallback() {
        create(4, 4);
        atServer.setReadyCallback(ComchStream::stop);
        start();
        send(atClient, 1);
        untilEnded(atServer);
        untilEnded(atClient);
        assertThat(numbers(atServer)).containsExactly(1);
    }

    @Test
    void shouldDropBuffersThatTheProgramHasClaimed() {
        open(4, 4);
        ComchSendBuffer claimed = Objects.requireNonNull(atClient.tryClaim());
        atClient.stop();
        untilEnded(atClient);
        refuse(Status.BAD_STATE, () -> claimed.send(1), "expected=RUNNING");
        claimed.close(); // has no effect, and none after the close of the stream
        atClient.close();
        claimed.close();
    }

    /** A server that has a buffer for its reply before it waits for the next request. */
    @Test
    void shouldLetAProgramCloseWhatItHoldsAfterThePeersEnd() {
        open(4, 4);
        send(atClient, 1);
        List<Integer> requests = new ArrayList<>();
        boolean[] ended = {false};
        card.until(
                "end",
                () -> {
                    try (ComchSendBuffer reply = atServer.tryClaim()) {
                        card.settle();
                        for (ComchReceiveBuffer request;
                                (request = atServer.tryReceive()) != null; ) {
                            requests.add((int) request.length());
                            atClient.stop();
                            card.settle(); // also the end is known before the request is closed
                            request.close();
                        }
                        ended[0] = reply == null;
                    }
                    return ended[0];
                });
        untilEnded(atServer);
        untilEnded(atClient);
        assertThat(requests).containsExactly(Integer.BYTES);
        assertThat(atServer.failure()).isNull();
    }

    @Test
    void shouldFailWithShutdownIfThePeerStopsBeforeItTookAll() {
        open(6, 2);
        for (int i = 0; i < 6; i++) {
            send(atClient, i);
        }
        card.settle();
        atServer.stop();
        untilEnded(atClient);
        untilEnded(atServer);
        assertThat(Objects.requireNonNull(atClient.failure()).status()).isEqualTo(Status.SHUTDOWN);
        assertThat(atClient.undeliveredMessages()).isEqualTo(4);
        assertThatThrownBy(() -> atClient.claim(Duration.ZERO))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("before it took all messages")
                .hasCause(atClient.failure());
        assertThat(numbers(atServer)).containsExactly(0, 1);
    }

    @Test
    void shouldStopThoughThePeerDoesNotReceive() {
        open(6, 2);
        for (int i = 0; i < 6; i++) {
            send(atClient, i);
        }
        card.settle(); // two are delivered
        Peer.limitReplies(pair.client().connection()); // the wait for the others
        atClient.stop();
        untilEnded(atClient);
        assertThat(atClient.undeliveredMessages()).isEqualTo(4);
        untilEnded(atServer);
        assertThat(numbers(atServer)).containsExactly(0, 1);
    }

    @Test
    void shouldFailIfAMessageIsLargerThanThePeersBuffers() {
        create(2, 2);
        atServer.setBufferBytes(100);
        start();
        send(atClient, 7);
        ComchSendBuffer buffer = Objects.requireNonNull(atClient.tryClaim());
        buffer.send(101);
        untilEnded(atClient);
        assertThat(Objects.requireNonNull(atClient.failure()).status())
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(atClient.failure())
                .hasMessageContaining(
                        "lengthBytes=101, peerBufferBytes=100, expected=the same buffer size");
        assertThat(atClient.undeliveredMessages()).isEqualTo(1);
        untilEnded(atServer);
        assertThat(numbers(atServer)).containsExactly(7);
        assertThatThrownBy(() -> atServer.receive(Duration.ZERO))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.IO_FAILED))
                .hasMessageContaining("peer has given up a message")
                .hasCause(atServer.failure());
        atClient.close();
        assertThat(atClient.undeliveredMessages()).as("after close").isEqualTo(1);
    }

    /** The end of the peer is known before the pass that takes the lost message. */
    @Test
    void shouldFailForALostMessageBehindMoreThanAPassOfProgressCompletes() {
        create(300, 300);
        atServer.setBufferBytes(100);
        start();
        for (int i = 0; i < 200; i++) {
            assertThat(send(atClient, i)).isTrue();
        }
        Objects.requireNonNull(atClient.tryClaim()).send(101);
        for (int i = 0; i < 100; i++) { // the client stops as far as it can alone
            card.hostEngine.progress();
        }
        untilEnded(atServer);
        assertThat(Objects.requireNonNull(atServer.failure()).status()).isEqualTo(Status.IO_FAILED);
        assertThat(numbers(atServer)).isEqualTo(IntStream.range(0, 200).boxed().toList());
        untilEnded(atClient);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseAnythingBesideAStream(boolean rawFirst) {
        create(2, 2);
        if (rawFirst) {
            Queue.Receiving raw = receiving(pair.client(), BYTES, 1);
            refuse(Status.IN_USE, atClient::start, "producers or consumers already");
            Peer.stop(card, raw.consumer);
            start();
            return;
        }
        start();
        ComchStream second = stream(pair.client());
        refuse(
                Status.IN_USE,
                second::start,
                "connection has a stream, producers or consumers already");
        refuse(Status.IN_USE, () -> receiving(pair.client(), BYTES, 1), "connection has a stream");
        refuse(Status.IN_USE, () -> sending(pair.client(), BYTES, 1), "connection has a stream");
        refuse(Status.IN_USE, pair.client().endpoint::stop, "active");
    }

    @Test
    void shouldNotStartBesideSeveralConsumersOfThePeer() {
        create(2, 2);
        Queue.Receiving one = receiving(pair.server(), BYTES, 1);
        Queue.Receiving two = receiving(pair.server(), BYTES, 1);
        atClient.start();
        card.settle();
        assertThat(atClient.state()).isEqualTo(ContextState.STARTING);
        Peer.stop(card, two.consumer);
        card.until("runs", () -> atClient.state() == ContextState.RUNNING);

        receiving(pair.server(), BYTES, 1);
        untilEnded(atClient);
        assertThat(Objects.requireNonNull(atClient.failure()).status())
                .isEqualTo(Status.NOT_SUPPORTED);
        assertThat(atClient.failure()).hasMessageContaining("consumers=2, expected=1");
        Peer.stop(card, one.consumer);
    }

    /** Its producer and its consumer stop with it, and say nothing. */
    @Test
    void shouldWarnOnceThatItDoesNotStopAfterTheControlTimeout() {
        open(4, 4);
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(1_500);
        pair.server().connection().services().limitReplies(timeoutNanos);
        List<LogRecord> warnings;
        try (LogCapture log = new LogCapture(Context.class.getName())) {
            atServer.stop();
            Await.byStep( // without the peer
                    "ended",
                    () -> atServer.state() == ContextState.IDLE,
                    () -> card.dpuEngine.await(Duration.ofMillis(20)));
            warnings = log.with("context does not stop");
        }
        assertThat(warnings).hasSize(1);
        assertThat(warnings.getFirst().getMessage())
                .contains("comch stream", "awaited=end of the peer's stream")
                .containsPattern("waitedMillis=(1[5-9]|[2-9]\\d|\\d{3})\\d\\d");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndAfterItsStartOverAConnectionThatHasEnded(boolean createdBefore) {
        Peer server = pair.server();
        if (createdBefore) {
            atServer = stream(server);
        }
        Peer.stop(card, pair.client().endpoint);
        card.until("told", () -> server.events.contains("disconnected true"));
        if (!createdBefore) {
            atServer = stream(server);
        }
        requireEnded(atServer, Status.CONNECTION_RESET, "reason=orderly end");
        requireEnded(atServer, Status.CONNECTION_RESET, "reason=orderly end");
        assertThat(atServer.undeliveredMessages()).isZero();
    }

    @Test
    void shouldEndWithTheReasonForWhichAConnectionWasRefused() throws Exception {
        card.close();
        card = new Card(folder.resolve("refused"));
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint).setMaxClients(1);
        server.endpoint.start();
        Peer first = Peer.client(card, Card.NAME);
        first.endpoint.start();
        card.until("first", () -> first.endpoint.state() == ContextState.RUNNING);
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("refused", () -> server.events.contains("connected false"));
        ComchStream stream = card.keep(ComchStream.create(server.connectionsOfEvents.getLast()));
        card.dpuEngine.connect(stream);
        requireEnded(stream, Status.FULL, "maxClients=1");
    }

    /** Before the pass that fails it: nothing is awaited, and there is nothing to describe. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldStopAfterItsStartOverAConnectionThatHasEnded(boolean ranBefore) {
        if (ranBefore) {
            open(2, 2);
            atClient.stop();
            untilEnded(atClient);
            untilEnded(atServer);
        } else {
            create(2, 2);
        }
        Peer.stop(card, pair.client().endpoint);
        card.until("told", () -> pair.server().events.contains("disconnected true"));
        atServer.start();
        assertThat(atServer.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(((StreamContext) atServer).describeAwaited()).isNull();
        untilEnded(atServer);
    }

    /** Starts a stream that ends at once, and whose calls tell why. */
    private void requireEnded(ComchStream stream, Status status, String reason) {
        assertThat(stream.start()).isEqualTo(Status.IN_PROGRESS);
        assertThat(stream.tryClaim()).isNull();
        assertThat(stream.tryReceive()).isNull();
        refuse(status, () -> stream.receive(Patience.LIMIT), reason);
        refuse(status, () -> stream.claim(Duration.ZERO), reason);
        assertThat(stream.state()).isEqualTo(ContextState.IDLE);
        assertThat(Objects.requireNonNull(stream.failure()).status()).isEqualTo(status);
        assertThat(stream.failure()).hasMessageContaining("connection has ended before its stream");
    }

    @Test
    void shouldNeedTheAcceptanceOfStreamsAlone() {
        ComchServer server = card.keep(ComchServer.create(card.p0, card.hpf0, "streams only"));
        ComchClient client = card.keep(ComchClient.create(card.pf0, "streams only"));
        ComchConnection[] connected = new ComchConnection[1];
        server.setConnectedCallback(c -> connected[0] = c);
        server.setSendTasks(1, ComchSendTask::free, ComchSendTask::free);
        server.setMessageCallback((_, _) -> {});
        for (ComchEndpoint endpoint : List.of(server, client)) {
            card.atEnd(() -> Peer.stop(card, endpoint));
        }
        client.acceptStreams();
        card.dpuEngine.connect(server);
        card.hostEngine.connect(client);
        server.start();
        client.start();
        card.until("runs", () -> client.state() == ContextState.RUNNING);
        card.until("connected", () -> connected[0] != null);
        refuse(
                Status.BAD_STATE,
                () -> ComchStream.create(connected[0]),
                "expected=acceptStreams() before its start");
        refuse(
                Status.BAD_STATE,
                () -> ComchProducer.create(client.connection()),
                "consumer callbacks");
        ComchStream refused = card.keep(ComchStream.create(client.connection()));
        card.hostEngine.connect(refused);
        refused.start();
        untilEnded(refused);
        assertThat(Objects.requireNonNull(refused.failure()).status())
                .isEqualTo(Status.NOT_SUPPORTED);

        Peer.stop(card, client);
        Peer.stop(card, server);
        server.acceptStreams();
        server.start();
        client.start();
        card.until("runs", () -> client.state() == ContextState.RUNNING);
        card.until("connected", () -> connected[0].isConnected());
        atClient = card.keep(ComchStream.create(client.connection()));
        atServer = card.keep(ComchStream.create(connected[0]));
        card.hostEngine.connect(atClient);
        card.dpuEngine.connect(atServer);
        card.atEnd(() -> Peer.stop(card, atClient));
        card.atEnd(() -> Peer.stop(card, atServer));
        start();
        send(atClient, 1);
        card.settle();
        assertThat(numbers(atServer)).containsExactly(1);
    }

    private static void refuse(Status status, ThrowingCallable call, String text) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining(text);
    }
}
