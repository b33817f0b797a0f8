package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Clause;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages between a client and a server on the basic path. */
class MessageTest {
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

    @Clause({"cc-001", "cc-004", "cc-083"})
    @Test
    void shouldCarryMessagesBothWays() {
        Card.Pair pair = card.pair();
        for (String greeting : List.of("welcome", "good bye")) { // of the server first
            assertThat(pair.server().send(greeting)).isEqualTo(Status.SUCCESS);
            card.until("message", () -> pair.client().texts().contains(greeting));
            assertThat(pair.client().send(greeting + ", too")).isEqualTo(Status.SUCCESS);
            card.until("answer", () -> pair.server().texts().contains(greeting + ", too"));
        }
        card.until("sent", () -> pair.server().sends.size() + pair.client().sends.size() == 4);
        assertThat(pair.server().texts()).containsExactly("welcome, too", "good bye, too");
        assertThat(pair.client().texts()).containsExactly("welcome", "good bye");
        assertThat(pair.client().sends).containsExactly(Status.SUCCESS, Status.SUCCESS);
        assertThat(pair.server().sends).containsExactly(Status.SUCCESS, Status.SUCCESS);
        assertThat(pair.server().messageConnections).containsOnly(pair.server().connection);
    }

    @Clause({"cc-046", "cc-083"})
    @Test
    void shouldSendAndReceiveOnceTheHandlerHasTheConnection() {
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint)
                .setConnectedCallback(connection -> {
                    server.connection = connection;
                    server.send("first word");
                });
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.start();
        client.endpoint.start();
        card.until("message", () -> !client.messages.isEmpty());
        assertThat(client.texts()).containsExactly("first word");
        client.send("answer");
        card.until("answer", () -> !server.messages.isEmpty());
        assertThat(server.texts()).containsExactly("answer");
    }

    @Clause("cc-050")
    @Test
    void shouldSendAndReceiveOnceTheClientRuns() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        List<Status> submitted = new ArrayList<>();
        client.endpoint.setStateChangedCallback((context, from, to) -> {
            if (to == ContextState.RUNNING) {
                submitted.add(client.send("first word"));
            }
        });
        server.endpoint.start();
        client.endpoint.start();
        assertRefused(Status.NOT_CONNECTED, () -> ((ComchClient) client.endpoint).connection());
        card.until("message", () -> !server.messages.isEmpty());
        assertThat(submitted).containsExactly(Status.SUCCESS);
        assertThat(server.texts()).containsExactly("first word");
        server.send("answer");
        card.until("answer", () -> !client.messages.isEmpty());
        assertThat(client.texts()).containsExactly("answer");
    }

    @Clause({"cc-089", "cc-090", "cc-128"})
    @Clause({"cc-132", "cc-134"})
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 63, 64, 65, 4079, 4080})
    void shouldCarryBytesOfEachLengthUnchanged(int length) {
        Card.Pair pair = card.pair();
        byte[] message = new byte[length];
        for (int i = 0; i < length; i++) {
            message[i] = (byte) (i * 7); // with zeros in it
        }
        byte[] around = new byte[8 + length + 8];
        System.arraycopy(message, 0, around, 8, length);
        for (Peer sender : List.of(pair.client(), pair.server())) {
            Peer receiver = sender == pair.client() ? pair.server() : pair.client();
            ComchSendTask task = sender.endpoint.allocateSendTask(sender.connection());
            task.setMessage(MemorySegment.ofArray(around), 8, length);
            assertThat(task.length()).isEqualTo(length);
            assertThat(task.trySubmit()).isEqualTo(Status.SUCCESS);
            card.until("message", () -> !receiver.messages.isEmpty());
            assertThat(receiver.messages.getFirst()).isEqualTo(message);
        }
    }

    @Clause({"cc-009", "cc-067", "cc-087"})
    @Clause("cc-090")
    @Test
    void shouldRefuseMessageAboveTheMaximum() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.setMaxMessageBytes(100);
        client.endpoint.setMaxMessageBytes(100);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> server.connection != null);
        assertThat(client.endpoint.maxMessageBytes()).isEqualTo(100);
        assertThat(server.endpoint.maxMessageBytes()).isEqualTo(100);
        assertThat(client.send(new byte[101])).isEqualTo(Status.INVALID_VALUE);
        assertThat(server.send(new byte[101])).isEqualTo(Status.INVALID_VALUE);
        assertThat(client.send(new byte[100])).isEqualTo(Status.SUCCESS);
        assertThat(server.send(new byte[100])).isEqualTo(Status.SUCCESS);
        card.until("both", () -> server.messages.size() + client.messages.size() == 2);
        card.settle();
        assertThat(server.messages).as("and not the refused one").hasSize(1);
        assertThat(server.messages.getFirst()).hasSize(100);
        assertThat(client.messages.getFirst()).hasSize(100);
    }

    @Clause("cc-017")
    @Test
    void shouldSendFromAnyMemory() throws Exception {
        Card.Pair pair = card.pair();
        List<byte[]> expected = new ArrayList<>();
        try (Arena arena = Arena.ofConfined();
                SharedMemory shared = SharedMemory.allocate(4096);
                FileChannel file =
                        FileChannel.open(
                                folder.resolve("message"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE)) {
            for (MemorySegment memory :
                    List.of(
                            MemorySegment.ofArray(new byte[8]),
                            MemorySegment.ofArray(new long[1]),
                            MemorySegment.ofBuffer(ByteBuffer.allocateDirect(8)),
                            arena.allocate(8, 8),
                            file.map(FileChannel.MapMode.READ_WRITE, 0, 8, arena),
                            shared.segment())) {
                byte[] bytes = {(byte) (expected.size() + 1), 99};
                MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 3, 2);
                for (MemorySegment source : List.of(memory, memory.asReadOnly())) {
                    ComchSendTask task =
                            pair.client().endpoint.allocateSendTask(pair.client().connection());
                    task.setMessage(source, 3, 2);
                    task.submit();
                    expected.add(bytes);
                }
            }
        }
        card.until("all", () -> pair.server().messages.size() == expected.size());
        assertThat(pair.server().messages).containsExactlyElementsOf(expected);
    }

    @Clause({"cc-006", "cc-096"})
    @Test
    void shouldGiveTheReceiverItsOwnCopy() {
        Card.Pair pair = card.pair();
        byte[] message = {1, 2, 3};
        ComchSendTask task = pair.client().endpoint.allocateSendTask(pair.client().connection());
        task.setMessage(message);
        long ofSender = card.hostEngine.messageBytesCopied();
        long ofReceiver = card.dpuEngine.messageBytesCopied();
        task.submit();
        message[0] = 9; // the bytes were taken at submission
        card.until("message", () -> !pair.server().messages.isEmpty());
        assertThat(pair.server().messages.getFirst()).containsExactly(1, 2, 3);
        assertThat(card.hostEngine.messageBytesCopied() - ofSender).isEqualTo(3);
        assertThat(card.dpuEngine.messageBytesCopied() - ofReceiver).isEqualTo(3);
    }

    @Clause({"cc-068", "cc-092"})
    @Test
    void shouldAnswerAgainWhenThePeersReceiveQueueIsFull() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.setReceiveQueueSize(5);
        client.endpoint.setReceiveQueueSize(3);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        for (int i = 0; i < 5; i++) {
            assertThat(client.send("m" + i)).isEqualTo(Status.SUCCESS);
        }
        assertThat(client.send("one too many")).isEqualTo(Status.AGAIN);
        card.until("delivered", () -> client.sends.size() == 5);
        assertThat(client.send("m5")).isEqualTo(Status.SUCCESS);
        card.until("all", () -> server.messages.size() == 6);
        assertThat(server.texts()).containsExactly("m0", "m1", "m2", "m3", "m4", "m5");
        for (int i = 0; i < 3; i++) {
            assertThat(server.send("s" + i)).isEqualTo(Status.SUCCESS);
        }
        assertThat(server.send("one too many")).isEqualTo(Status.AGAIN);
        card.until("delivered", () -> server.sends.size() == 3);
        assertThat(client.texts()).containsExactly("s0", "s1", "s2");
    }

    @Clause("cc-092")
    @Test
    void shouldKeepTheOrderOfManyMessages() {
        Card.Pair pair = card.pair();
        int total = 5000;
        int submitted = 0;
        while (pair.server().messages.size() < total) {
            while (submitted < total
                    && pair.client().endpoint.inFlightTasks() < 32
                    && pair.client().send("m" + submitted) == Status.SUCCESS) {
                submitted++;
            }
            card.hostEngine.progress();
            card.dpuEngine.progress();
        }
        assertThat(pair.server().texts())
                .isEqualTo(IntStream.range(0, total).mapToObj(i -> "m" + i).toList());
        card.until("all sent", () -> pair.client().sends.size() == total);
        assertThat(pair.client().sends).containsOnly(Status.SUCCESS);
    }

    @Clause({"cc-013", "cc-015"})
    @Test
    void shouldGiveEachMessageToTheOneReceiverOfItsConnection() {
        Card.Pair pair = card.pair();
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        card.until("two", () -> ((ComchServer) pair.server().endpoint).connections().size() == 2);
        int number = 0;
        for (ComchConnection connection : pair.server().connectionsOfEvents) {
            ComchSendTask task = pair.server().endpoint.allocateSendTask(connection);
            task.setMessage(("to client " + ++number).getBytes(StandardCharsets.UTF_8));
            task.submit();
        }
        card.until("both", () -> pair.client().messages.size() + second.messages.size() == 2);
        card.settle();
        assertThat(pair.client().texts()).containsExactly("to client 1");
        assertThat(second.texts()).containsExactly("to client 2");
    }

    @Clause("cc-011")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRefuseOtherThreads(boolean ofServer) throws Exception {
        Card.Pair pair = card.pair();
        Peer peer = ofServer ? pair.server() : pair.client();
        ComchEndpoint endpoint = peer.endpoint;
        ComchConnection connection = peer.connection();
        ComchSendTask task = endpoint.allocateSendTask(connection);
        List<ThrowingCallable> calls =
                List.of(
                        task::trySubmit,
                        task::free,
                        () -> task.setConnection(connection),
                        () -> task.setMessage(new byte[] {1}),
                        () -> endpoint.allocateSendTask(connection),
                        connection::disconnect,
                        () -> connection.setUserData(1),
                        () -> connection.setUserObject("mine"),
                        () -> {
                            if (endpoint instanceof ComchServer server) {
                                server.connections();
                            } else {
                                peer.connection();
                            }
                        },
                        endpoint::stop);
        List<Status> refusals = new ArrayList<>();
        Thread other =
                Thread.ofPlatform()
                        .start(() -> {
                            for (ThrowingCallable call : calls) {
                                DpuException refusal =
                                        catchThrowableOfType(DpuException.class, call);
                                refusals.add(refusal == null ? Status.SUCCESS : refusal.status());
                            }
                        });
        other.join(10_000);
        assertThat(refusals).hasSize(calls.size()).containsOnly(Status.NOT_PERMITTED);
        task.free();
    }

    @Test
    void shouldGoOnAfterCallbackThatThrows() {
        Peer server = Peer.server(card, Card.NAME);
        List<Integer> lengths = new ArrayList<>();
        server.endpoint.setMessageCallback((from, message) -> {
            lengths.add((int) message.byteSize());
            if (message.byteSize() == 1) {
                throw new IllegalStateException("mine");
            }
        });
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send(new byte[1]);
        client.send(new byte[2]);
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> card.until("both", () -> lengths.size() == 3))
                .hasMessage("mine");
        card.until("sent", () -> client.sends.size() == 2);
        assertThat(lengths).containsExactly(1, 2);
        assertThat(client.sends).containsOnly(Status.SUCCESS);
    }
}
