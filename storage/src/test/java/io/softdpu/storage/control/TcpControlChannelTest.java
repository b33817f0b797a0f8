package io.softdpu.storage.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.FrameAssembler;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TcpControlChannelTest extends ControlChannelContract {
    private static final InetSocketAddress ANY_PORT =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private static final byte[] HELLO =
            ControlCodec.encode(new ControlMessage(0, 0, new ControlPayload.Hello()));

    @Override
    End openServer() {
        return new End("server", () -> ControlChannels.makeTcpServer(ANY_PORT), () -> {});
    }

    @Override
    End openClient(long timeoutNanos) {
        return new End("client", () -> ControlChannels.makeTcpClient(address()), () -> {});
    }

    @Override
    Status statusOfSecondClient() {
        try (TcpClientControlChannel second = ControlChannels.makeTcpClient(address())) {
            second.awaitConnected(connectTimeoutNanos());
            ControlMessage rejection = second.receive(connectTimeoutNanos());
            ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) rejection.payload();
            assertThat(error.message()).contains("storage target serves another client");
            assertStatus(
                    () -> second.receive(connectTimeoutNanos()), Status.CONNECTION_RESET, "gone");
            return error.status();
        }
    }

    @Test
    void shouldTellTheOwnerOfAWatchThatTheServerHasGoneBeforeItBegan() {
        connect();
        CompletableFuture<ControlMessage> serving =
                server().begin(c -> c.receive(ControlChannel.NO_TIMEOUT));
        try (TcpClientControlChannel second = ControlChannels.makeTcpClient(address())) {
            second.awaitConnected(connectTimeoutNanos());
            Deadline deadline = Deadline.in(connectTimeoutNanos());
            while (second.isConnected() && !deadline.hasPassed()) {
                second.await(deadline.remainingNanos());
                second.progress();
            }
            CountDownLatch told = new CountDownLatch(1);

            second.watch(told::countDown);

            assertThat(told.getCount()).isZero();
            assertThat(second.poll()).isNotNull();
        }
        client().run(c -> c.send(new ControlMessage(1, 1, new ControlPayload.ShutdownRequest())));
        End.await(serving);
    }

    @Test
    void shouldSayThatAPortIsTaken() {
        assertStatus(
                () -> ControlChannels.makeTcpServer(address()), Status.IN_USE, "port is taken");
    }

    @Test
    void shouldSayThatAnAddressIsNotOfThisMachine() {
        assertStatus(
                () -> ControlChannels.makeTcpServer(new InetSocketAddress("192.0.2.1", 0)),
                Status.INVALID_VALUE,
                "192.0.2.1");
    }

    @Test
    @Clause("sto-053")
    void shouldConnectAsSoonAsSomebodyListens() throws Exception {
        InetSocketAddress free = freeAddress();
        try (TcpClientControlChannel client = ControlChannels.makeTcpClient(free)) {
            // The first attempt is refused for sure: nobody listens there yet.
            assertStatus(() -> client.awaitConnected(1), Status.TIME_OUT, "refused");
            CompletableFuture<TcpServerControlChannel> listening =
                    CompletableFuture.supplyAsync(() -> ControlChannels.makeTcpServer(free));

            client.awaitConnected(End.DEADLINE_NANOS);

            assertThat(client.isConnected()).isTrue();
            listening.get(10, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void shouldGiveUpWhereNobodyListens() throws Exception {
        InetSocketAddress free = freeAddress();
        try (TcpClientControlChannel client = ControlChannels.makeTcpClient(free)) {
            assertStatus(
                    () -> client.awaitConnected(250_000_000L),
                    Status.TIME_OUT,
                    "storage target did not answer: address=tcp://"
                            + free.getHostString()
                            + ":"
                            + free.getPort());
        }
    }

    @Test
    void shouldEndTheSearchForAServerWhenItIsAborted() throws Exception {
        InetSocketAddress free = freeAddress();
        End client = new End("client", () -> ControlChannels.makeTcpClient(free), () -> {});
        CompletableFuture<Void> connecting =
                client.beginDo(c -> c.awaitConnected(ControlChannel.NO_TIMEOUT));

        client.channel.abort("User requested abort");

        assertStatus(
                () -> End.await(connecting), Status.CONNECTION_ABORTED, "User requested abort");
        client.close();
    }

    @Test
    void shouldSayThatAHostIsUnknown() {
        InetSocketAddress unknown = InetSocketAddress.createUnresolved("no.such.host.invalid", 1);
        try (TcpClientControlChannel client = ControlChannels.makeTcpClient(unknown)) {
            assertStatus(
                    () -> client.awaitConnected(End.DEADLINE_NANOS),
                    Status.NOT_FOUND,
                    "no.such.host.invalid");
        }
    }

    @Test
    void shouldSayHelloAtOnceSoThatAServerKnowsWhoSaysNothingYet() throws IOException {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TcpClientControlChannel client =
                        ControlChannels.makeTcpClient(
                                (InetSocketAddress) listening.getLocalSocketAddress())) {
            client.awaitConnected(End.DEADLINE_NANOS);
            try (Socket accepted = listening.accept()) {
                accepted.setSoTimeout(20_000);
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
                    () -> server().call(c -> c.receive(End.DEADLINE_NANOS)),
                    Status.INVALID_VALUE,
                    "wire_size=1195725856, expected=12 to 65536");
            // It hears why, in the only words that both know, and then the end.
            ByteBuffer rest = ByteBuffer.wrap(socket.getInputStream().readAllBytes());
            ControlMessage farewell = new FrameAssembler().feed(rest);
            assertThat(farewell).isNotNull();
            assertThat(farewell.payload().toString())
                    .contains("wire_size=1195725856, expected=12 to 65536");
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
                () -> server().call(c -> c.receive(End.DEADLINE_NANOS)),
                Status.CONNECTION_RESET,
                "in the middle of a control message");
    }

    @Test
    void shouldRunTheHookForEachArrivalAndStayQuietUntilItIsRead() throws Exception {
        Semaphore hooked = new Semaphore(0);
        try (TcpClientControlChannel watched = watchedClient(hooked)) {
            for (int i = 0; i < 3; i++) {
                int id = i;
                ownServer.run(c ->
                        c.send(new ControlMessage(id, 0, new ControlPayload.ShutdownRequest())));
                assertThat(hooked.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
                ControlMessage message = watched.receive(End.DEADLINE_NANOS);
                assertThat(message.messageId()).isEqualTo(i);
            }
            ownServer.close();
            assertThat(hooked.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            assertStatus(watched::poll, Status.CONNECTION_RESET, "gone");
        }
    }

    private End ownServer;

    private TcpClientControlChannel watchedClient(Semaphore hooked) {
        ownServer = openServer();
        InetSocketAddress address = ((TcpServerControlChannel) ownServer.channel).address();
        CompletableFuture<Void> accepting =
                ownServer.beginDo(c -> c.awaitConnected(ControlChannel.NO_TIMEOUT));
        TcpClientControlChannel watched = ControlChannels.makeTcpClient(address);
        watched.awaitConnected(End.DEADLINE_NANOS);
        End.await(accepting);
        watched.watch(hooked::release);
        return watched;
    }

    private InetSocketAddress address() {
        return ((TcpServerControlChannel) server().channel).address();
    }

    private static InetSocketAddress freeAddress() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return new InetSocketAddress(probe.getInetAddress(), probe.getLocalPort());
        }
    }

    @Test
    void shouldNotTakeItselfForTheTargetThatIsNotThere() throws IOException {
        SocketChannel bound = SocketChannel.open();
        bound.bind(ANY_PORT);
        Iterator<SocketChannel> first = List.of(bound).iterator();
        try (TcpClientControlChannel client =
                new TcpClientControlChannel(
                        (InetSocketAddress) bound.getLocalAddress(),
                        Selector.open(),
                        () -> first.hasNext() ? first.next() : SocketChannel.open())) {
            // So short a wait looks once; the next attempt, which is refused, is not made before it
            // has looked at the first.
            Await.until(
                    "it has refused itself",
                    Duration.ofSeconds(20),
                    () -> {
                        DpuException refused =
                                catchThrowableOfType(
                                        DpuException.class, () -> client.awaitConnected(1));
                        assertThat(refused).as("it takes itself for the target").isNotNull();
                        assertThat(refused.status()).isEqualTo(Status.TIME_OUT);
                        return String.valueOf(refused.getMessage())
                                .endsWith("last=Connection refused: connected to itself");
                    });
            assertThat(bound.isOpen()).isFalse();
        }
    }

    @Test
    void shouldSayThatItHasNoSocketLeftAndNotThatTheTargetHasGone() throws IOException {
        try (TcpClientControlChannel client =
                new TcpClientControlChannel(
                        address(),
                        Selector.open(),
                        () -> {
                            throw new IOException("Too many open files");
                        })) {
            assertThatThrownBy(() -> client.awaitConnected(End.DEADLINE_NANOS))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.OPERATING_SYSTEM))
                    .hasMessageStartingWith("socket could not be opened: for=tcp://")
                    .hasMessageEndingWith("reason=java.io.IOException: Too many open files");
        }
    }
}
