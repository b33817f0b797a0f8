package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages without tasks, which wait in a queue of their connection. */
class ConnectionSendTest {
    /** The peer's receive queue. */
    private static final int RECEIVED = 64;

    @TempDir Path folder;
    private Card card;
    private int received;

    @BeforeEach
    void open() {
        card = new Card(folder);
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    private Card.Pair pair(int messages, int bytes, List<ComchConnection> writable) {
        Peer server = Peer.server(card, Card.NAME);
        server.endpoint.setSendQueue(messages, bytes);
        server.endpoint.setWritableCallback(writable::add);
        return start(server);
    }

    private Card.Pair start(Peer server) {
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> server.connection != null);
        return new Card.Pair(server, client);
    }

    private static byte[] text(int number) {
        return Integer.toString(number).getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> numbers(int count) {
        return IntStream.range(0, count).mapToObj(Integer::toString).toList();
    }

    @Test
    void shouldAnswerAllRequestsOfAClientThatSendsThemAtOnce() {
        Peer server = Peer.server(card, Card.NAME);
        List<Status> answers = new ArrayList<>();
        server.endpoint.setMessageCallback(
                (from, message) -> answers.add(from.trySend(message, 0, (int) message.byteSize())));
        Card.Pair pair = start(server);
        for (int i = 0; i < 200; i++) {
            pair.client().connection().send(text(i));
        }
        card.until("answers", () -> pair.client().messages.size() == 200);
        assertThat(pair.client().texts()).isEqualTo(numbers(200));
        assertThat(answers).hasSize(200).containsOnly(Status.SUCCESS);
        card.until("delivered", () -> server.connection.sentMessages() == 200);
        assertThat(pair.client().connection().sentMessages()).isEqualTo(200);
        assertThat(server.connection.sentBytes()).isEqualTo(10 + 2 * 90 + 3 * 100);
    }

    @Test
    void shouldRefuseBeyondTheNumberOfMessagesAndCallWhenHalfOfThemAreSent() {
        List<ComchConnection> writable = new ArrayList<>();
        Card.Pair pair = pair(10, 1 << 20, writable);
        ComchConnection connection = pair.server().connection;
        for (int i = 0; i < RECEIVED + 10; i++) {
            assertThat(connection.isWritable()).isTrue();
            assertThat(connection.trySend(text(i))).isEqualTo(Status.SUCCESS);
        }
        assertThat(connection.isWritable()).isFalse();
        assertThat(connection.trySend(text(-1))).isEqualTo(Status.FULL);
        assertRefused(Status.FULL, () -> connection.send(text(-1)))
                .hasMessageContaining("send queue is full")
                .hasMessageContaining(
                        "messages=10, sendQueueMessages=10, queuedBytes=20, sendQueueBytes=1048576")
                .hasMessageEndingWith(", messageBytes=2");
        card.dpuEngine.progress();
        assertThat(writable).as("the peer has received nothing").isEmpty();
        card.until("room", () -> !writable.isEmpty());
        assertThat(connection.isWritable()).isTrue();
        assertThat(connection.trySend(text(RECEIVED + 10))).isEqualTo(Status.SUCCESS);
        card.until("all", () -> pair.client().messages.size() == RECEIVED + 11);
        card.settle();
        assertThat(pair.client().texts()).isEqualTo(numbers(RECEIVED + 11));
        assertThat(writable).containsExactly(connection);
    }

    @Test
    void shouldRefuseBeyondTheNumberOfBytes() {
        List<ComchConnection> writable = new ArrayList<>();
        int largest = ComchCapabilities.of(card.p0.info()).maxMessageBytes();
        Card.Pair pair = pair(1000, 2 * largest, writable);
        ComchConnection connection = pair.server().connection;
        for (int i = 0; i < RECEIVED; i++) {
            connection.send(new byte[0]);
        }
        connection.send(new byte[largest]);
        assertThat(connection.isWritable()).isTrue();
        connection.send(new byte[1]);
        assertThat(connection.isWritable()).as("a message of any length").isFalse();
        assertThat(connection.trySend(new byte[largest])).isEqualTo(Status.FULL);
        assertThat(connection.trySend(new byte[largest - 1])).isEqualTo(Status.SUCCESS);
        assertThat(connection.trySend(new byte[1])).isEqualTo(Status.FULL);
        assertThat(connection.trySend(new byte[0])).isEqualTo(Status.SUCCESS);
        card.until("all", () -> pair.client().messages.size() == RECEIVED + 4);
        assertThat(pair.client().messages.stream().skip(RECEIVED).map(m -> m.length))
                .containsExactly(largest, 1, largest - 1, 0);
        card.settle();
        assertThat(writable).containsExactly(connection);
    }

    @Test
    void shouldKeepTheOrderWithTasks() {
        Card.Pair pair = card.pair();
        assertThat(pair.server().send("0")).isEqualTo(Status.SUCCESS);
        for (int i = 1; i < RECEIVED + 5; i++) {
            pair.server().connection.send(text(i));
        }
        card.hostEngine.progress(); // takes some of them: there is room for a task
        ComchSendTask task =
                pair.server()
                        .endpoint
                        .allocateSendTask(pair.server().connection)
                        .setMessage(text(RECEIVED + 5));
        assertThat(task.trySubmit()).isEqualTo(Status.AGAIN);
        assertThatThrownBy(task::submit).hasMessageContaining("ComchConnection.send wait");
        card.until("sent", () -> task.trySubmit() == Status.SUCCESS);
        card.until("all", () -> pair.client().messages.size() == RECEIVED + 6);
        assertThat(pair.client().texts()).isEqualTo(numbers(RECEIVED + 6));
    }

    @Test
    void shouldDeliverWhatIsQueuedBeforeADisconnect() {
        Card.Pair pair = card.pair();
        ComchConnection connection = pair.server().connection;
        for (int i = 0; i < 200; i++) {
            connection.send(text(i));
        }
        assertThat(connection.disconnect()).isEqualTo(Status.SUCCESS);
        assertThat(connection.isWritable()).isFalse();
        assertThat(connection.trySend(text(200))).isEqualTo(Status.NOT_CONNECTED);
        card.until("end", () -> pair.server().events.contains("disconnected true"));
        assertThat(pair.client().texts()).isEqualTo(numbers(200));
        assertThat(connection.sentMessages()).isEqualTo(200);
        assertThat(connection.failure()).isNull();
        assertThat(connection.trySend(text(200))).isEqualTo(Status.NOT_CONNECTED);
    }

    @Test
    void shouldDeliverWhatIsQueuedBeforeItStopsAlsoWhereThePeerStopsFirst() {
        Card.Pair pair = card.pair();
        for (int i = 0; i < 200; i++) {
            pair.client().connection().send(text(i));
            pair.server().connection.send(text(i));
        }
        pair.client().endpoint.stop();
        card.until("idle", () -> pair.client().endpoint.state() == ContextState.IDLE);
        card.until("end", () -> pair.server().events.contains("disconnected true"));
        assertThat(pair.server().texts()).isEqualTo(numbers(200));
        assertThat(pair.client().texts()).isEqualTo(numbers(200));
    }

    /** A client that sends requests and never reads the replies. */
    @Test
    void shouldLoseOnlyTheConnectionOfAPeerThatDoesNotReceive() {
        List<ComchConnection> writable = new ArrayList<>();
        Card.Pair pair = pair(10, 1 << 20, writable);
        ComchConnection connection = pair.server().connection;
        Peer.limitReplies(connection);
        while (connection.trySend(text(1)) == Status.SUCCESS) {}
        assertThat(connection.disconnect()).isEqualTo(Status.SUCCESS);
        Await.byStep(
                "end of the limit",
                () -> pair.server().events.contains("disconnected false"),
                card.dpuEngine::progress);
        assertThat(pair.server().reasons.getFirst())
                .hasMessageContaining("undeliveredMessages=" + (RECEIVED + 10))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_ABORTED));
        assertThat(pair.server().endpoint.state()).isEqualTo(ContextState.RUNNING);
        assertThat(writable).as("it has ended").isEmpty();
    }

    @Test
    void shouldSignalANotificationThatWasRequestedBefore() {
        Card.Pair pair = card.pair();
        card.settle();
        card.hostEngine.clearNotification(); // what has rung while it was polled
        card.hostEngine.requestNotification();
        pair.client().connection().send(text(0));
        assertThat(card.hostEngine.awaitNotification(Patience.LIMIT)).isTrue();
        card.hostEngine.clearNotification();
        card.until("message", () -> pair.server().messages.size() == 1);
    }

    @Test
    void shouldWakeForRoomAsOftenAsThereIsSomethingQueued() {
        Card.Pair pair = card.pair();
        for (int i = 0; i < 500; i++) {
            pair.client().connection().send(text(i));
        }
        while (pair.server().messages.size() < 500) {
            while (card.dpuEngine.progress()) {}
            card.hostEngine.requestNotification();
            assertThat(card.hostEngine.awaitNotification(Patience.LIMIT)).isTrue();
            card.hostEngine.clearNotification();
            while (card.hostEngine.progress()) {}
        }
        assertThat(pair.server().texts()).isEqualTo(numbers(500));
    }

    @Test
    void shouldAllocateNothingOnceTheQueueHasItsMemory() {
        Peer server = Peer.server(card, Card.NAME);
        server.endpoint.setMessageCallback((from, message) -> received++);
        Card.Pair pair = start(server);
        ComchConnection connection = pair.client().connection();
        MemorySegment message = MemorySegment.ofArray(new byte[100]);
        AllocationMeter.assertNone(
                2_000,
                () -> {
                    int expected = received + 2 * RECEIVED;
                    for (int i = 0; i < 2 * RECEIVED; i++) {
                        connection.trySend(message, 0, i % 100);
                    }
                    long deadline = System.nanoTime() + Patience.DEADLINE.toNanos();
                    while (received < expected) {
                        card.hostEngine.progress();
                        card.dpuEngine.progress();
                        if (System.nanoTime() > deadline) {
                            throw new AssertionError("no message arrives: received=" + received);
                        }
                    }
                });
    }

    @Test
    void shouldRefuseMessagesThatAreTooLongOrOutsideTheirMemory() {
        Card.Pair pair = card.pair();
        ComchConnection connection = pair.client().connection();
        int largest = pair.client().endpoint.maxMessageBytes();
        assertThat(connection.trySend(new byte[largest + 1])).isEqualTo(Status.INVALID_VALUE);
        assertRefused(Status.INVALID_VALUE, () -> connection.send(new byte[largest + 1]))
                .hasMessageContaining("message length 4081 > 4080");
        MemorySegment two = MemorySegment.ofArray(new byte[] {1, 2});
        assertRefused(Status.INVALID_VALUE, () -> connection.trySend(two, 1, 2));
        assertRefused(Status.INVALID_VALUE, () -> connection.trySend(two, -1, 1));
        assertThat(connection.trySend(two, 1, 1)).isEqualTo(Status.SUCCESS);
        card.until("message", () -> pair.server().messages.size() == 1);
        assertThat(MemorySegment.ofArray(pair.server().messages.getFirst()))
                .satisfies(m -> assertThat(m.toArray(ValueLayout.JAVA_BYTE)).containsExactly(2));
    }

    @Clause("cc-057")
    @Test
    void shouldStartWithASendQueueInPlaceOfSendTasks() {
        ComchClient client = card.keep(ComchClient.create(card.pf0, "name"));
        card.hostEngine.connect(client);
        client.setMessageCallback((from, message) -> {});
        assertRefused(Status.BAD_STATE, client::start).hasMessageContaining("send tasks");
        assertRefused(Status.INVALID_VALUE, () -> client.setSendQueue(0, 1 << 20));
        assertRefused(Status.INVALID_VALUE, () -> client.setSendQueue((1 << 20) + 1, 1 << 20));
        assertRefused(Status.INVALID_VALUE, () -> client.setSendQueue(1, 4079))
                .hasMessageContaining("sendQueueBytes=4079, expected=4080 to 1073741824");
        assertRefused(Status.INVALID_VALUE, () -> client.setSendQueue(1, (1 << 30) + 1));
        assertThat(client.sendQueueMessages()).isEqualTo(1024);
        assertThat(client.sendQueueBytes()).isEqualTo(1 << 20);
        client.setSendQueue(1, 4080);
        assertThat(client.sendQueueMessages()).isEqualTo(1);
        assertThat(client.sendQueueBytes()).isEqualTo(4080);
        client.start();
        client.stop();
    }
}
