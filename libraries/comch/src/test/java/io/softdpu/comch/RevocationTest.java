package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A consumer in another process revokes its memory, stops, or is killed, while a producer sends to
 * it: the rows of {@code docs/wire/mmap-export.md}, for data in the slot, for slightly more, and
 * for many slices.
 */
@StartsProcesses
@Tag(Soak.TAG)
class RevocationTest {
    private static final byte[] NOTHING = {};
    private static final int LARGE = 8 << 20;

    @TempDir Path folder;
    private final Processes processes = new Processes();
    private Card card;

    @BeforeEach
    void open() {
        card = Card.shared(folder);
    }

    @AfterEach
    void close() throws Exception {
        processes.close(); // before the card looks for what was left behind
        card.close();
    }

    @Clause("cc-122")
    @Test
    void shouldFailTheNextSendWithAStatusThatTellsHowTheConsumerWent(SeededRandom random)
            throws IOException {
        long began = System.nanoTime();
        int rounds = Soak.count(1, 1, 12);
        int rows = 0;
        for (int round = 0; round < rounds; round++) {
            for (int size : new int[] {5, 65 + random.nextInt(8000), LARGE}) {
                rows += run(size);
            }
        }
        Soak.report(
                "comch-revocation",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                Text.format("rounds=%d, rows=%d", rounds, rows));
    }

    private int run(int size) throws IOException {
        ChildProcess server =
                processes.start(
                        JavaCommand.ofClass(PeerProgram.class)
                                .withArguments("server", folder.resolve("fabric").toString()));
        server.awaitLine("^ready$");
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        Queue.Sending sending = new Queue.Sending(client, card.hostEngine, LARGE, 8).run(card);

        int first = consumerOf(server, client, 1);
        begin(sending, first, size);
        tell(server, PeerProgram.STOP_CONSUMER);
        assertRefused(sending, first, size, Status.NOT_FOUND);
        assertThat(sending.statuses)
                .as("what was claimed is waited for")
                .containsOnly(Status.SUCCESS);

        tell(server, PeerProgram.CONSUME);
        int second = consumerOf(server, client, 2);
        begin(sending, second, size);
        tell(server, PeerProgram.STOP_MMAP);
        assertRefused(sending, second, size, Status.SHUTDOWN);
        assertUnderWay(sending, size, Status.SHUTDOWN);

        tell(server, PeerProgram.CONSUME);
        int third = consumerOf(server, client, 3);
        begin(sending, third, size);
        server.kill();
        RemoteConsumer killed = client.connection().requireRegistry().find(third);
        // The engine stands still meanwhile: the large one stays where it is.
        Await.until("the bus has noticed", killed::revoked);
        assertRefused(sending, third, size, Status.CONNECTION_RESET);
        assertUnderWay(sending, size, Status.CONNECTION_RESET);
        card.until("producer", () -> sending.producer.state() == ContextState.IDLE);
        assertThat(sending.producer.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        card.until("client", () -> client.endpoint.state() == ContextState.IDLE);
        server.close();
        return 3;
    }

    /** The newest consumer, when it has posted its buffers. */
    private int consumerOf(ChildProcess server, Peer client, int number) {
        card.until(
                "posted",
                () ->
                        server.outputLines().stream().filter("posted"::equals).count() == number
                                && !client.consumers.isEmpty());
        return client.consumers.getLast();
    }

    /** Sends one after the other, and leaves one of many slices partly copied. */
    private void begin(Queue.Sending sending, int consumer, int size) {
        sending.statuses.clear();
        for (int i = 1; i <= 3; i++) {
            int done = i;
            assertThat(sending.send(consumer, new byte[size], NOTHING)).isEqualTo(Status.SUCCESS);
            card.until("sent", () -> sending.statuses.size() == done);
        }
        assertThat(sending.statuses).containsOnly(Status.SUCCESS);
        assertThat(sending.send(consumer, new byte[size], NOTHING)).isEqualTo(Status.SUCCESS);
        if (size == LARGE) {
            card.hostEngine.progress(); // one slice of 32
        }
    }

    /** The consumer rejects sends with the expected status. */
    private void assertRefused(Queue.Sending sending, int consumer, int size, Status expected) {
        Status[] seen = {Status.SUCCESS};
        card.until(
                "refused",
                () -> {
                    if (sending.producer.state() != ContextState.RUNNING) {
                        seen[0] = sending.producer.failure().status();
                    } else if (sending.producer.inFlightTasks() < 8) {
                        seen[0] = sending.send(consumer, new byte[Math.min(size, 4096)], NOTHING);
                    }
                    return seen[0] != Status.SUCCESS && seen[0] != Status.AGAIN;
                });
        assertThat(seen[0]).isEqualTo(expected);
        card.until("all have ended", () -> sending.producer.inFlightTasks() == 0);
    }

    /** A copy in progress at the revocation has failed with the same status, if there was one. */
    private static void assertUnderWay(Queue.Sending sending, int size, Status expected) {
        assertThat(sending.statuses).containsAnyOf(Status.SUCCESS, expected);
        assertThat(sending.statuses)
                .allMatch(status -> status == Status.SUCCESS || status == expected);
        if (size == LARGE) {
            assertThat(sending.statuses).as("the large one").contains(expected);
        }
    }

    private static void tell(ChildProcess server, String line) throws IOException {
        long before = server.outputLines().stream().filter(("done " + line)::equals).count();
        server.standardInput().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        server.standardInput().flush();
        Await.until(
                "done " + line,
                () ->
                        server.outputLines().stream().filter(("done " + line)::equals).count()
                                > before);
    }
}
