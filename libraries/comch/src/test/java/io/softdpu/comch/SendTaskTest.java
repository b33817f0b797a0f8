package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertNotSubmitted;
import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Send tasks of the basic path: their number, completion, failure and misuse. */
class SendTaskTest {
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

    @Clause({"cc-084", "cc-085"})
    @ParameterizedTest
    @CsvSource({"true, 2", "true, 5", "false, 2", "false, 5"})
    void shouldHaveAsManySendTasksAsConfiguredAndCallTheCallbackThatFits(
            boolean ofServer, int count) {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        Peer sender = ofServer ? server : client;
        List<ComchSendTask> succeeded = new ArrayList<>();
        List<ComchSendTask> failed = new ArrayList<>();
        sender.endpoint.setSendTasks(count, succeeded::add, failed::add);
        sender.endpoint.setControlTimeout(Duration.ofMillis(50));
        connect(server, client);
        List<ComchSendTask> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            tasks.add(sender.endpoint.allocateSendTask(sender.connection()));
        }
        assertRefused(
                Status.NO_MEMORY, () -> sender.endpoint.allocateSendTask(sender.connection()));
        ComchSendTask first = tasks.getFirst();
        ComchSendTask last = tasks.getLast();
        first.submit();
        card.until("delivered", () -> succeeded.size() + failed.size() == 1);
        assertThat(succeeded).containsExactly(first);

        last.submit();
        sender.endpoint.stop(); // and the peer makes no progress any more
        ProgressEngine engine = ofServer ? card.dpuEngine : card.hostEngine;
        Await.byStep(
                "not delivered", () -> !failed.isEmpty(), () -> engine.await(Duration.ofMillis(1)));
        assertThat(failed).containsExactly(last);
        assertThat(last.status()).isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(succeeded).hasSize(1);
        tasks.forEach(ComchSendTask::free);
    }

    @Clause("cc-084")
    @Test
    void shouldCallTheCallbackOfAServerThatFitsAlsoWhenThePeerIsLost() {
        Peer server = Peer.server(card, Card.NAME);
        List<ComchSendTask> succeeded = new ArrayList<>();
        List<ComchSendTask> failed = new ArrayList<>();
        List<ComchSendTask> tasks = new ArrayList<>();
        server.endpoint.setSendTasks(2, succeeded::add, failed::add);
        server.endpoint.start();
        try (RogueClient client = new RogueClient(card)) { // which can end without a disconnect
            assertThat(client.tryConnect(RogueClient.hello())).isNull();
            card.until("connected", () -> server.connection != null);
            tasks.add(server.endpoint.allocateSendTask(server.connection));
            tasks.add(server.endpoint.allocateSendTask(server.connection));
            assertRefused(
                            Status.NO_MEMORY,
                            () -> server.endpoint.allocateSendTask(server.connection))
                    .hasMessageContaining("tasks=2");
            tasks.getFirst().setMessage(new byte[] {1}).submit();
            card.until("arrived", () -> client.inbound.poll() >= 0);
            client.inbound.release();
            card.until("completed", () -> succeeded.size() + failed.size() == 1);
            assertThat(succeeded).containsExactly(tasks.getFirst());
            tasks.getLast().setMessage(new byte[] {2}).submit();
            card.until("arrived", () -> client.inbound.poll() >= 0);
            assertThat(succeeded.size() + failed.size()).as("not released").isEqualTo(1);
        }
        card.until("completed", () -> succeeded.size() + failed.size() == 2);
        assertThat(failed).containsExactly(tasks.getLast());
        assertThat(tasks.getLast().status()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(succeeded).containsExactly(tasks.getFirst());
        tasks.forEach(ComchSendTask::free);
    }

    @Clause("cc-091")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldCompleteTheSendOnlyWhenThePeerHasReceived(boolean ofServer) {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        Peer sender = ofServer ? server : client;
        Peer receiver = ofServer ? client : server;
        ProgressEngine sending = ofServer ? card.dpuEngine : card.hostEngine;
        ProgressEngine receiving = ofServer ? card.hostEngine : card.dpuEngine;
        List<Integer> completedInCallback = new ArrayList<>();
        receiver.endpoint.setMessageCallback((from, message) -> {
            sending.progress();
            completedInCallback.add(sender.sends.size());
        });
        connect(server, client);
        sender.send("wait for it");
        for (int i = 0; i < 1000; i++) {
            sending.progress();
        }
        assertThat(sender.sends).isEmpty();
        assertThat(sender.endpoint.inFlightTasks()).isEqualTo(1);
        receiving.progress();
        assertThat(completedInCallback).containsExactly(0);
        sending.progress();
        assertThat(sender.sends).containsExactly(Status.SUCCESS);
    }

    @Clause("cc-094")
    @Test
    void shouldNotDeliverTheMessageOfAFailedSend() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.setControlTimeout(Duration.ofMillis(50));
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send("given up");
        client.endpoint.stop(); // and the server makes no progress before the timeout
        Await.byStep(
                "client has given up",
                () -> client.endpoint.state() == ContextState.IDLE,
                () -> card.hostEngine.await(Duration.ofMillis(1)));
        assertThat(client.sends).containsExactly(Status.CONNECTION_ABORTED);
        // What the server sees first is a race otherwise.
        Await.until("the server's bus has noticed", server.connection::isPeerGone);
        card.until("told", () -> server.events.size() == 2);
        assertThat(server.messages).isEmpty();
    }

    @Clause("cc-094")
    @Test
    void shouldNotFailASendWhoseMessageWasDeliveredBeforeThePeerEnded() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.setControlTimeout(Duration.ofMillis(50));
        connect(server, client);
        client.send("delivered");
        Await.byStep("message", () -> !server.messages.isEmpty(), card.dpuEngine::progress);
        server.connection.disconnect(); // and the client makes no progress before the timeout
        Await.byStep(
                "server has given up",
                () -> server.events.contains("disconnected false"),
                () -> card.dpuEngine.await(Duration.ofMillis(1)));
        Await.until("the client's bus has noticed", client.connection()::isPeerGone);
        assertThat(client.sends).isEmpty();
        card.until("completed", () -> client.sends.size() == 1);
        assertThat(client.sends).containsExactly(Status.SUCCESS);
    }

    @Clause("cc-097")
    @Test
    void shouldRefuseMisuseOfSendTasks() {
        Card.Pair pair = card.pair();
        ComchEndpoint client = pair.client().endpoint;
        ComchSendTask task = client.allocateSendTask(pair.client().connection());
        task.setMessage(new byte[] {1});
        task.submit();
        assertNotSubmitted(Status.IN_USE, task);
        assertRefused(Status.IN_USE, task::free);
        assertRefused(Status.IN_USE, () -> task.setMessage(new byte[] {2}));
        card.until("sent", () -> pair.client().sends.size() == 1);
        assertNotSubmitted(Status.BAD_STATE, task); // freed by its callback
        assertRefused(Status.BAD_STATE, task::free);
        List<ComchSendTask> all = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            all.add(client.allocateSendTask(pair.client().connection()));
        }
        assertRefused(Status.NO_MEMORY, () -> client.allocateSendTask(pair.client().connection()));
        all.forEach(ComchSendTask::free);
        assertRefused(
                Status.INVALID_VALUE, () -> client.allocateSendTask(pair.server().connection));
        ComchSendTask ranges = client.allocateSendTask(pair.client().connection());
        MemorySegment eight = MemorySegment.ofArray(new byte[8]);
        assertRefused(Status.INVALID_VALUE, () -> ranges.setMessage(eight, 5, 4));
        assertRefused(Status.INVALID_VALUE, () -> ranges.setMessage(eight, -1, 4));
        assertRefused(Status.INVALID_VALUE, () -> ranges.setMessage(eight, 0, -1));
        client.stop();
        assertThat(client.state()).isEqualTo(ContextState.STOPPING);
        assertNotSubmitted(Status.BAD_STATE, ranges);
        ranges.free();
    }

    @Test
    void shouldSubmitTheTaskAnewInsideItsCallback() {
        Card.Pair pair = card.pair();
        Peer server = Peer.server(card, "again");
        Peer client = Peer.client(card, "again");
        int[] left = {100};
        client.endpoint.setSendTasks(
                1,
                task -> {
                    if (--left[0] > 0) {
                        task.submit();
                    } else {
                        task.free();
                    }
                },
                task -> task.free());
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        ComchSendTask task = client.endpoint.allocateSendTask(client.connection());
        task.setMessage(new byte[] {5});
        task.submit();
        card.until("hundred", () -> server.messages.size() == 100);
        assertThat(pair.server().messages).isEmpty();
    }

    private void connect(Peer server, Peer client) {
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> server.connection != null);
    }
}
