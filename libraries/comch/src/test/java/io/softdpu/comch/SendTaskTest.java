package io.softdpu.comch;

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
    @ValueSource(booleans = {true, false})
    void shouldHaveAsManySendTasksAsConfiguredAndCallTheCallbackThatFits(boolean ofServer) {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        Peer sender = ofServer ? server : client;
        List<ComchSendTask> succeeded = new ArrayList<>();
        List<ComchSendTask> failed = new ArrayList<>();
        sender.endpoint.setSendTasks(2, succeeded::add, failed::add);
        sender.endpoint.setControlTimeout(50_000_000L);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> server.connection != null);
        ComchSendTask first = sender.endpoint.allocateSendTask(sender.connection());
        ComchSendTask second = sender.endpoint.allocateSendTask(sender.connection());
        assertRefused(
                Status.NO_MEMORY, () -> sender.endpoint.allocateSendTask(sender.connection()));
        first.submit();
        card.until("delivered", () -> succeeded.size() + failed.size() == 1);
        assertThat(succeeded).containsExactly(first);

        second.submit();
        sender.endpoint.stop(); // and the peer makes no progress any more
        ProgressEngine engine = ofServer ? card.dpuEngine : card.hostEngine;
        Await.byStep(
                "not delivered",
                Card.DEADLINE_NANOS,
                () -> !failed.isEmpty(),
                () -> engine.await(1_000_000));
        assertThat(failed).containsExactly(second);
        assertThat(second.status()).isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(succeeded).hasSize(1);
        first.free();
        second.free();
    }

    @Clause("cc-091")
    @Test
    void shouldCompleteTheSendOnlyWhenThePeerHasReceived() {
        Card.Pair pair = card.pair();
        pair.client().send("wait for it");
        for (int i = 0; i < 1000; i++) {
            card.hostEngine.progress();
        }
        assertThat(pair.client().sends).isEmpty();
        assertThat(pair.client().endpoint.inFlightTasks()).isEqualTo(1);
        card.dpuEngine.progress();
        assertThat(pair.server().messages).hasSize(1);
        card.hostEngine.progress();
        assertThat(pair.client().sends).containsExactly(Status.SUCCESS);
    }

    @Clause("cc-094")
    @Test
    void shouldNotDeliverTheMessageOfAFailedSend() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.setControlTimeout(50_000_000L);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send("given up");
        client.endpoint.stop(); // and the server makes no progress before the timeout
        Await.byStep(
                "client has given up",
                Card.DEADLINE_NANOS,
                () -> client.endpoint.state() == ContextState.IDLE,
                () -> card.hostEngine.await(1_000_000));
        assertThat(client.sends).containsExactly(Status.CONNECTION_ABORTED);
        // What the server sees first is a race otherwise.
        Await.until(
                "the server's bus has noticed",
                Duration.ofNanos(Card.DEADLINE_NANOS),
                server.connection::isPeerGone);
        card.until("told", () -> server.events.size() == 2);
        assertThat(server.messages).isEmpty();
    }

    @Clause("cc-097")
    @Test
    void shouldRefuseMisuseOfSendTasks() {
        Card.Pair pair = card.pair();
        ComchEndpoint client = pair.client().endpoint;
        ComchSendTask task = client.allocateSendTask(pair.client().connection());
        task.setMessage(new byte[] {1});
        task.submit();
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        assertRefused(Status.IN_USE, task::free);
        assertRefused(Status.IN_USE, () -> task.setMessage(new byte[] {2}));
        card.until("sent", () -> pair.client().sends.size() == 1);
        assertThat(task.trySubmit()).isEqualTo(Status.BAD_STATE); // freed by its callback
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
}
