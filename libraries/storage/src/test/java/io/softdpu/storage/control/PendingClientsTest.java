package io.softdpu.storage.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.control.UnidentifiedClients.Kind;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Pending clients of the TCP control port, and the selection of one. */
final class PendingClientsTest {
    /** A timeout that is waited for. */
    private static final long SHORT = 200_000_000L;

    /** Timeout of a first message, longer than any wait of a test. */
    private static final long SILENCE = 2 * Patience.NANOS;

    private static final ControlMessage HELLO =
            new ControlMessage(0, 0, new ControlPayload.Hello());
    private static final ControlMessage QUERY =
            new ControlMessage(7, 8, new ControlPayload.QueryStorageRequest());

    private ChannelEnd server;
    private UnidentifiedClients strangers;

    @BeforeEach
    void listen() {
        listen(SILENCE);
    }

    private void listen(long firstMessageTimeoutNanos) {
        server = ChannelEnd.tcpServer("server", Duration.ofNanos(firstMessageTimeoutNanos));
        strangers = new UnidentifiedClients(address());
    }

    @AfterEach
    void closeAll() throws IOException {
        strangers.close();
        server.close();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeTheFirstThatSpeaksHoweverManyAreHereThatDoNot(Kind kind) throws IOException {
        for (int i = 0; i < 2 * TcpServerControlChannel.MAX_PENDING_CLIENTS; i++) {
            strangers.add(kind);
        }
        assertServesAClient();
    }

    @Test
    void shouldTakeAClientThatSaysNothingButHello() throws IOException {
        CompletableFuture<Void> connected = awaitConnected();
        strangers.add();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client = ControlChannels.makeTcpClient(engine, address())) {
            client.awaitConnected(Patience.LIMIT);
            ChannelEnd.await(connected);
            assertThat(server.call(ControlChannel::poll)).isNull();
            assertThat(server.call(ControlChannel::isConnected)).isTrue();
        }
    }

    @Test
    void shouldTakeAClientThatAsksWithoutAHelloAndLoseNothingThatItSays() throws IOException {
        byte[] one = ControlCodec.encode(QUERY);
        int count = 200;
        byte[] many = new byte[one.length * count];
        for (int i = 0; i < count; i++) {
            System.arraycopy(one, 0, many, i * one.length, one.length);
        }
        strangers.add(many);
        server.run(c -> {
            for (int i = 0; i < count; i++) {
                assertThat(c.receive(Patience.LIMIT)).isEqualTo(QUERY);
            }
        });
    }

    @Test
    void shouldKeepNoMoreThanItsLimitAndLetTheOldestGo() throws IOException {
        CompletableFuture<Void> connected = awaitConnected();
        int surplus = 20;
        List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < TcpServerControlChannel.MAX_PENDING_CLIENTS + surplus; i++) {
            silent.add(strangers.add());
        }
        for (Socket oldest : silent.subList(0, surplus)) {
            ControlPayload.ErrorResponse reason = UnidentifiedClients.refusal(oldest);
            assertThat(reason.status()).isEqualTo(Status.FULL);
            assertThat(reason.message()).contains("client sent no message", "limit=64");
        }
        // The oldest of those that are left was kept, and may speak still.
        silent.get(surplus).getOutputStream().write(ControlCodec.encode(HELLO));
        ChannelEnd.await(connected);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"SILENT", "HALF_A_LENGTH", "HALF_A_MESSAGE"})
    void shouldTellWhoBeginsNoSessionWhyItIsCutOff(Kind kind) throws IOException {
        CompletableFuture<Void> connected = awaitConnected();
        ControlPayload.ErrorResponse reason = UnidentifiedClients.refusal(strangers.add(kind));
        assertThat(reason.status()).isEqualTo(kind.status);
        assertThat(reason.message()).contains(kind.refusal);
        strangers.add(ControlCodec.encode(HELLO));
        ChannelEnd.await(connected);
    }

    @Test
    void shouldSendAwayWhoSaysNothingInTime() throws IOException {
        server.close();
        listen(SHORT);
        CompletableFuture<Void> connected = awaitConnected();
        for (Kind kind : List.of(Kind.SILENT, Kind.HALF_A_MESSAGE)) {
            ControlPayload.ErrorResponse reason = UnidentifiedClients.refusal(strangers.add(kind));
            assertThat(reason.status()).isEqualTo(Status.TIME_OUT);
            assertThat(reason.message()).contains("client sent no message", "waitedMillis=200");
        }
        // On a busy machine one may be too late by itself.
        Await.byStep(
                "a client that speaks in time is connected",
                connected::isDone,
                () -> {
                    try {
                        strangers.add(ControlCodec.encode(HELLO));
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    Await.holdsWithin(Duration.ofNanos(SHORT), connected::isDone);
                });
        ChannelEnd.await(connected);
    }

    @Test
    void shouldSendAwayTheOthersOnceOneHasSpoken() throws IOException {
        CompletableFuture<ControlMessage> received = server.begin(c -> c.receive(Patience.LIMIT));
        Socket silent = strangers.add();
        strangers.add(ControlCodec.encode(QUERY));
        assertThat(ChannelEnd.await(received)).isEqualTo(QUERY);
        ControlPayload.ErrorResponse reason = UnidentifiedClients.refusal(silent);
        assertThat(reason.status()).isEqualTo(Status.FULL);
        assertThat(reason.message()).contains("storage target serves another client: client=tcp");
    }

    @Test
    void shouldForgetWhoGoesBeforeItHasSpoken() throws IOException {
        CompletableFuture<Void> connected = awaitConnected();
        for (Kind kind : Kind.values()) {
            strangers.add(kind).close();
        }
        strangers.add(ControlCodec.encode(HELLO));
        ChannelEnd.await(connected);
    }

    @Test
    void shouldServeItsClientWhileOthersConnectAndNeverRead() throws IOException {
        CompletableFuture<Void> connected = awaitConnected();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client = ControlChannels.makeTcpClient(engine, address())) {
            client.awaitConnected(Patience.LIMIT);
            ChannelEnd.await(connected);
            CompletableFuture<ControlMessage> received =
                    server.begin(c -> c.receive(Patience.LIMIT));
            for (int i = 0; i < 300; i++) {
                strangers.add();
            }
            client.send(QUERY);
            assertThat(ChannelEnd.await(received)).isEqualTo(QUERY);
        }
    }

    @Test
    void shouldCloseThoseThatItListensToWhenItIsClosedItself() throws IOException {
        Socket silent = strangers.add();
        server.run(c -> {
            c.await(Patience.LIMIT);
            assertThat(c.poll()).isNull();
        });
        server.run(ControlChannel::close);
        assertThat(silent.getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void shouldLetTheOldestSilentOneGiveItsDescriptorWhereThereIsNoOther() throws IOException {
        FailingListener listener = new FailingListener();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpServerControlChannel poor =
                        ControlChannels.makeTcpServer(engine, listener, Duration.ofNanos(SILENCE));
                UnidentifiedClients clients = new UnidentifiedClients(listener.address())) {
            Socket oldest = clients.add();
            assertThat(poor.poll()).isNull();

            listener.failures(1);
            Socket next = clients.add();
            assertThat(poor.poll()).isNull();

            ControlPayload.ErrorResponse reason = UnidentifiedClients.refusal(oldest);
            assertThat(reason.status()).isEqualTo(Status.FULL);
            assertThat(reason.message()).contains("client cannot be kept", "Too many open files");
            next.getOutputStream().write(ControlCodec.encode(QUERY));
            assertThat(poor.receive(Patience.LIMIT)).isEqualTo(QUERY);
        }
    }

    @Test
    void shouldHearTheOldestBeforeItGivesItsDescriptor() throws IOException {
        FailingListener listener = new FailingListener();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpServerControlChannel poor =
                        ControlChannels.makeTcpServer(engine, listener, Duration.ofNanos(SILENCE));
                UnidentifiedClients clients = new UnidentifiedClients(listener.address())) {
            Socket oldest = clients.add();
            assertThat(poor.poll()).isNull();

            oldest.getOutputStream().write(ControlCodec.encode(QUERY));
            listener.failures(1);
            clients.add();
            assertThat(poor.receive(Patience.LIMIT)).isEqualTo(QUERY);
        }
    }

    @Test
    void shouldUseTheDescriptorOfAnOldestThatHasGone() throws IOException {
        FailingListener listener = new FailingListener();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpServerControlChannel poor =
                        ControlChannels.makeTcpServer(engine, listener, Duration.ofNanos(SILENCE));
                UnidentifiedClients clients = new UnidentifiedClients(listener.address())) {
            Socket oldest = clients.add();
            assertThat(poor.poll()).isNull();

            listener.failures(1);
            oldest.close();
            clients.add().getOutputStream().write(ControlCodec.encode(QUERY));

            assertThat(poor.receive(Patience.LIMIT)).isEqualTo(QUERY);
        }
    }

    @Test
    void shouldNotMindAShortageWhereNobodyKnocks() throws IOException {
        FailingListener listener = new FailingListener();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpServerControlChannel poor =
                        ControlChannels.makeTcpServer(
                                engine, listener, Duration.ofNanos(SILENCE))) {
            listener.failures(1);
            assertThat(poor.poll()).isNull();
        }
    }

    @Test
    void shouldTellALaterClientWhyEvenIfThereWasNoDescriptorForIt() throws IOException {
        FailingListener listener = new FailingListener();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpServerControlChannel poor =
                        ControlChannels.makeTcpServer(engine, listener, Duration.ofNanos(SILENCE));
                UnidentifiedClients clients = new UnidentifiedClients(listener.address())) {
            clients.add().getOutputStream().write(ControlCodec.encode(QUERY));
            assertThat(poor.receive(Patience.LIMIT)).isEqualTo(QUERY);

            listener.failures(1);
            Socket late = clients.add();
            assertThat(poor.poll()).isNull();
            Deadline deadline = Deadline.in(Patience.LIMIT);
            while (late.getInputStream().available() == 0 && !deadline.hasPassed()) {
                poor.await(Patience.LIMIT); // until the listener is looked at again
                assertThat(poor.poll()).isNull();
            }
            assertThat(UnidentifiedClients.refusal(late).status()).isEqualTo(Status.FULL);
        }
    }

    @Test
    void shouldFailWhereNobodyCanBeLetInAndNobodyIsHere() throws IOException {
        FailingListener listener = new FailingListener();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpServerControlChannel poor =
                        ControlChannels.makeTcpServer(engine, listener, Duration.ofNanos(SILENCE));
                UnidentifiedClients clients = new UnidentifiedClients(listener.address())) {
            listener.failures(1);
            clients.add();
            assertThatThrownBy(() -> poor.receive(Patience.LIMIT))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.OPERATING_SYSTEM))
                    .hasMessageContaining("client cannot be accepted")
                    .hasMessageContaining("Too many open files");
        }
    }

    private void assertServesAClient() {
        CompletableFuture<ControlMessage> received = server.begin(c -> c.receive(Patience.LIMIT));
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client = ControlChannels.makeTcpClient(engine, address())) {
            client.awaitConnected(Patience.LIMIT);
            client.send(QUERY);
            assertThat(ChannelEnd.await(received)).isEqualTo(QUERY);
        }
    }

    private CompletableFuture<Void> awaitConnected() {
        return server.beginDo(c -> c.awaitConnected(Patience.LIMIT));
    }

    private InetSocketAddress address() {
        return server.address();
    }
}
