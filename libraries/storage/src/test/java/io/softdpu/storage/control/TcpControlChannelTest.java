package io.softdpu.storage.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.TcpSocket;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.FrameAssembler;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TcpControlChannelTest extends ControlChannelContract {
    private static final byte[] HELLO =
            ControlCodec.encode(new ControlMessage(0, 0, new ControlPayload.Hello()));

    private final List<Integer> kept = new ArrayList<>();

    @Override
    ChannelEnd openServer() {
        return ChannelEnd.tcpServer("server");
    }

    @Override
    ChannelEnd openClient(long timeoutNanos) {
        return ChannelEnd.tcpClient("client", address());
    }

    @Override
    Status statusOfSecondClient() {
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel second = ControlChannels.makeTcpClient(engine, address())) {
            second.awaitConnected(Patience.LIMIT);
            ControlMessage rejection = second.receive(Patience.LIMIT);
            ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) rejection.payload();
            assertThat(error.message()).contains("storage target serves another client");
            assertStatus(
                    () -> second.receive(Patience.LIMIT), Status.CONNECTION_RESET, "has ended");
            return error.status();
        }
    }

    @Test
    void shouldSayThatAPortIsTaken() {
        assertStatus(() -> TcpListener.open(address()), Status.IN_USE, "port is taken");
    }

    @Test
    void shouldSayThatAnAddressIsNotOfThisMachine() {
        assertStatus(
                () -> TcpListener.open(new InetSocketAddress("192.0.2.1", 0)),
                Status.INVALID_VALUE,
                "address cannot be bound: address=192.0.2.1:0, reason=Cannot assign requested");
        assertStatus(
                () -> TcpListener.open(InetSocketAddress.createUnresolved("no.such.invalid", 7)),
                Status.INVALID_VALUE,
                "address cannot be bound: address=no.such.invalid:7, reason=host is unknown");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldListenForBothFamiliesAtTheWildcardAddress(String host) throws IOException {
        InetAddress address = InetAddress.getByName(host);
        try (ServerSocket probe = new ServerSocket()) {
            try {
                probe.bind(new InetSocketAddress(address, 0));
            } catch (IOException e) {
                assumeThat(e).as("the system has " + host).isNull();
            }
        }
        try (TcpListener listener = TcpListener.open(new InetSocketAddress("0.0.0.0", 0));
                Socket client = new Socket(address, listener.address().getPort())) {
            assertThat(client.isConnected()).isTrue();
        }
    }

    @Test
    @Clause("sto-053")
    void shouldTryAgainEvery100MillisecondsWhileNobodyListens() throws Exception {
        InetSocketAddress free = freeAddress();
        long interval = 100_000_000L;
        List<Long> attempts = new ArrayList<>();
        long begin = System.nanoTime();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client =
                        new TcpClientControlChannel(
                                engine,
                                free,
                                host -> {
                                    attempts.add(System.nanoTime() - begin);
                                    return TcpSocket.create(host);
                                })) {
            Await.until(
                    "several attempts have been refused",
                    () ->
                            isRefused(client)
                                    && attempts.size() >= 4
                                    && client.untilDeadlineNanos() != Long.MAX_VALUE);
            for (int i = 0; i < attempts.size(); i++) {
                assertThat(attempts.get(i)).isGreaterThanOrEqualTo(i * interval);
            }
            assertThat(client.untilDeadlineNanos()).isBetween(0L, interval);
        }
    }

    @Test
    @Clause("sto-053")
    void shouldConnectAsSoonAsSomebodyListens() throws Exception {
        InetSocketAddress free = freeAddress();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client = ControlChannels.makeTcpClient(engine, free)) {
            Await.until(
                    "an attempt is refused, since nobody listens there yet",
                    () -> isRefused(client));
            CompletableFuture<TcpListener> listening =
                    CompletableFuture.supplyAsync(() -> TcpListener.open(free));

            client.awaitConnected(Patience.LIMIT);

            assertThat(client.isConnected()).isTrue();
            listening.get(Patience.SECONDS, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void shouldGiveUpWhereNobodyListens() throws Exception {
        InetSocketAddress free = freeAddress();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client = ControlChannels.makeTcpClient(engine, free)) {
            assertStatus(
                    () -> client.awaitConnected(Duration.ofMillis(250)),
                    Status.TIME_OUT,
                    "storage target did not reply: address=tcp://"
                            + free.getHostString()
                            + ":"
                            + free.getPort());
        }
    }

    @Test
    void shouldEndTheSearchForAServerWhenItIsAborted() throws Exception {
        InetSocketAddress free = freeAddress();
        ChannelEnd client = ChannelEnd.tcpClient("client", free);
        CompletableFuture<Void> connecting =
                client.beginDo(c -> c.awaitConnected(Deadline.NO_LIMIT));

        client.channel.abort("User requested abort");

        assertStatus(
                () -> ChannelEnd.await(connecting),
                Status.CONNECTION_ABORTED,
                "User requested abort");
        client.close();
    }

    @Test
    void shouldSayThatAHostIsUnknown() {
        InetSocketAddress unknown = InetSocketAddress.createUnresolved("no.such.host.invalid", 1);
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client = ControlChannels.makeTcpClient(engine, unknown)) {
            assertStatus(
                    () -> client.awaitConnected(Patience.LIMIT),
                    Status.NOT_FOUND,
                    "no.such.host.invalid");
        }
    }

    @Test
    void shouldSayHelloAtOnceSoThatAServerKnowsWhoSaysNothingYet() throws IOException {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client =
                        ControlChannels.makeTcpClient(
                                engine, (InetSocketAddress) listening.getLocalSocketAddress())) {
            client.awaitConnected(Patience.LIMIT);
            try (Socket accepted = listening.accept()) {
                accepted.setSoTimeout((int) Patience.LIMIT.toMillis());
                assertThat(accepted.getInputStream().readNBytes(HELLO.length)).isEqualTo(HELLO);
            }
        }
    }

    @Test
    void shouldCutOffAPeerThatSendsNoControlMessage() throws IOException {
        try (Socket socket = new Socket(address().getAddress(), address().getPort())) {
            socket.getOutputStream().write(HELLO);
            socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes());

            assertStatus(
                    () -> server().call(c -> c.receive(Patience.LIMIT)),
                    Status.INVALID_VALUE,
                    "wireSizeBytes=1195725856, expected=12 to 65536");
            // It hears why, in the only words that both know, and then the end.
            ByteBuffer rest = ByteBuffer.wrap(socket.getInputStream().readAllBytes());
            ControlMessage finalError = new FrameAssembler().feed(rest);
            assertThat(finalError).isNotNull();
            assertThat(finalError.payload().toString())
                    .contains("wireSizeBytes=1195725856, expected=12 to 65536");
            assertThat(rest.hasRemaining()).isFalse();
        }
    }

    @Test
    void shouldTellThatAPeerWentInTheMiddleOfAMessage() throws IOException {
        try (Socket socket = new Socket(address().getAddress(), address().getPort())) {
            socket.getOutputStream().write(HELLO);
            socket.getOutputStream().write(new byte[] {0, 0, 0, 12, 0, 0});
        }

        assertStatus(
                () -> server().call(c -> c.receive(Patience.LIMIT)),
                Status.CONNECTION_RESET,
                "in the middle of a control message");
    }

    @Test
    void shouldEndTheWaitsOfItsEngineForEachArrivalAndForTheEnd() {
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel heard = connectedClient(engine)) {
            for (int i = 0; i < 3; i++) {
                sendToClient(i);
                while (!heard.progress()) {
                    engine.await(Patience.LIMIT);
                }
                assertThat(heard.poll().messageId()).isEqualTo(i);
            }
            closeServer();
            assertStatus(
                    () -> {
                        while (!heard.progress()) {
                            engine.await(Patience.LIMIT);
                        }
                    },
                    Status.CONNECTION_RESET,
                    "has ended");
        }
    }

    /** As if a Comch channel of the same engine progressed it. */
    @Test
    void shouldEndTheNextWaitForWhatCameInAProgressOfSomebodyElse() {
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel heard = connectedClient(engine)) {
            while (engine.await(Duration.ofNanos(1))) {
                // What was there before.
            }
            sendToClient(7);
            Await.until("it is read", engine::progress);

            long start = System.nanoTime();
            engine.await(Patience.LIMIT);

            assertThat(System.nanoTime() - start).isLessThan(Patience.DEADLINE.toNanos());
            assertThat(heard.receive(Patience.LIMIT).messageId()).isEqualTo(7);
        }
    }

    @Test
    void shouldLeaveItsEngineInPeaceWhileNobodyTakesWhatHasCome() {
        int count = 4 * AbstractControlChannel.MAX_UNREAD_MESSAGES;
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel full = connectedClient(engine)) {
            for (int i = 0; i < count; i++) {
                sendToClient(i);
            }
            awaitRest(engine);
            closeServer(); // an end is reported by the system whatever was asked for
            awaitRest(engine);

            for (int i = 0; i < count; i++) {
                assertThat(full.receive(Patience.LIMIT).messageId()).isEqualTo(i);
            }
            assertStatus(() -> full.receive(Patience.LIMIT), Status.CONNECTION_RESET, "has ended");
            awaitRest(engine);
        }
    }

    /** The kernel reports a reset for each interest of a watch. */
    @Test
    void shouldLeaveItsEngineInPeaceAfterAResetThatNobodyHasLookedAt() throws IOException {
        byte[] message =
                ControlCodec.encode(new ControlMessage(5, 0, new ControlPayload.ShutdownRequest()));
        int count = AbstractControlChannel.MAX_UNREAD_MESSAGES;
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel full =
                        ControlChannels.makeTcpClient(
                                engine, (InetSocketAddress) listening.getLocalSocketAddress())) {
            full.awaitConnected(Patience.LIMIT);
            try (Socket accepted = listening.accept()) {
                for (int i = 0; i < 2 * count; i++) {
                    accepted.getOutputStream().write(message);
                }
                Await.until(
                        "all is there that is taken at once",
                        () -> {
                            engine.await(Duration.ofMillis(1));
                            return full.isInboxFull();
                        });
                accepted.setSoLinger(true, 0); // a close is a reset
            }
            awaitRest(engine);

            for (int i = 0; i < count; i++) {
                assertThat(full.receive(Patience.LIMIT).messageId()).isEqualTo(5);
            }
            assertStatus(
                    () -> {
                        while (true) {
                            full.receive(Patience.LIMIT); // what else had arrived
                            // before it
                        }
                    },
                    Status.CONNECTION_RESET,
                    "reason=Connection reset");
            awaitRest(engine);
        }
    }

    /** Waits until the engine finds no work in a whole wait. */
    private static void awaitRest(ProgressEngine engine) {
        Await.until(
                "the engine rests",
                () -> {
                    long before = engine.hits();
                    engine.await(
                            Duration.ofMillis(10)); // a wake that is pending ends the first at once
                    engine.await(Duration.ofMillis(10));
                    return engine.hits() == before;
                });
    }

    @Test
    void shouldRunNoCallbackOfOthersWhileItSends() {
        AtomicInteger ran = new AtomicInteger();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel sending = connectedClient(engine)) {
            engine.timer(ran::incrementAndGet).set(Duration.ZERO);

            sending.send(new ControlMessage(3, 0, new ControlPayload.ShutdownRequest()));
            assertThat(ran).hasValue(0);
            assertThat(sending.poll()).isNull();
            assertThat(ran).hasValue(0);

            engine.progress();
            assertThat(ran).hasValue(1);
        }
        assertThat(server().call(c -> c.receive(Patience.LIMIT)).messageId()).isEqualTo(3);
    }

    private TcpClientControlChannel connectedClient(ProgressEngine engine) {
        CompletableFuture<Void> accepting =
                server().beginDo(c -> c.awaitConnected(Deadline.NO_LIMIT));
        TcpClientControlChannel connected = ControlChannels.makeTcpClient(engine, address());
        connected.awaitConnected(Patience.LIMIT);
        ChannelEnd.await(accepting);
        return connected;
    }

    private void sendToClient(int id) {
        server().run(c -> {
            c.send(new ControlMessage(id, 0, new ControlPayload.ShutdownRequest()));
            c.flush(Patience.LIMIT);
        });
    }

    private void closeServer() {
        server().run(ControlChannel::close);
    }

    private InetSocketAddress address() {
        return server().address();
    }

    private static boolean isRefused(ControlChannel client) {
        try {
            client.awaitConnected(Duration.ofNanos(1));
            return false;
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.TIME_OUT);
            return String.valueOf(e.getMessage()).contains("refused");
        }
    }

    /** An address without a listener; a bound socket reserves it for this test. */
    private InetSocketAddress freeAddress() {
        int bound = TcpSocket.create(ChannelEnd.ANY_PORT.getAddress());
        kept.add(bound);
        TcpSocket.setReuseAddress(bound, true); // one that listens may have it as well
        TcpSocket.bind(bound, ChannelEnd.ANY_PORT);
        return TcpSocket.localAddress(bound);
    }

    @AfterEach
    void closeKept() {
        kept.forEach(FileDescriptors::close);
    }

    @Test
    void shouldNotTakeItselfForTheTargetThatIsNotThere() {
        int bound = TcpSocket.create(ChannelEnd.ANY_PORT.getAddress());
        TcpSocket.bind(bound, ChannelEnd.ANY_PORT);
        Iterator<Integer> first = List.of(bound).iterator();
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client =
                        new TcpClientControlChannel(
                                engine,
                                TcpSocket.localAddress(bound),
                                family ->
                                        first.hasNext()
                                                ? first.next()
                                                : TcpSocket.create(family))) {
            // So short a wait looks once; the next attempt, which is refused, is not made before it
            // has looked at the first.
            Await.until(
                    "it has refused itself",
                    () -> {
                        DpuException refused =
                                catchThrowableOfType(
                                        DpuException.class,
                                        () -> client.awaitConnected(Duration.ofNanos(1)));
                        assertThat(refused).as("it takes itself for the target").isNotNull();
                        assertThat(refused.status()).isEqualTo(Status.TIME_OUT);
                        return String.valueOf(refused.getMessage())
                                .endsWith("last=Connection refused: connected to itself");
                    });
            assertThat(first.hasNext()).isFalse();
        }
    }

    @Test
    void shouldSayThatItHasNoSocketLeftAndNotThatTheTargetHasGone() {
        try (ProgressEngine engine = ProgressEngine.create();
                TcpClientControlChannel client =
                        new TcpClientControlChannel(
                                engine,
                                address(),
                                family -> {
                                    throw new LinuxException("socket", Errno.EMFILE, "domain=none");
                                })) {
            assertThatThrownBy(() -> client.awaitConnected(Patience.LIMIT))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.OPERATING_SYSTEM))
                    .hasMessageStartingWith("socket could not be opened: for=tcp://")
                    .hasMessageEndingWith("reason=Too many open files");
        }
    }
}
