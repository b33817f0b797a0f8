package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.junit.ChildJvm;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A host that sends requests to a DPU in another process. */
@SoftDpuTest
class ProcessTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String NAME = "greetings";

    /** Runs in the process of the DPU, until its client has disconnected. */
    private static void serve(SoftDpu card) {
        AtomicBoolean left = new AtomicBoolean();
        try (ComchServer server = ComchServer.create(card.dpuDevice(), card.representor(), NAME)) {
            server.setSendTasks(1, ComchSendTask::free, ComchSendTask::free);
            server.setConnectedCallback(connection -> {});
            server.setDisconnectedCallback((connection, reason) -> left.set(true));
            server.setMessageCallback(
                    (from, message) -> send(server, from, "hello " + text(message)));
            card.engine().start(server, TIMEOUT);
            System.out.println("serving");
            card.engine().runUntil(left::get, TIMEOUT, server);
            card.engine().stop(server, TIMEOUT);
        }
    }

    @Test
    void shouldGetTheReplyOfAnotherProcess(SoftDpu card) {
        ChildJvm dpu = card.start(ProcessTest::serve);
        dpu.awaitLine("serving", TIMEOUT);
        List<String> replies = new ArrayList<>();
        try (ComchClient client = client(card, replies)) {
            send(client, client.connection(), "host");
            card.engine().runUntil(() -> !replies.isEmpty(), TIMEOUT, client);
            assertEquals(List.of("hello host"), replies);
            card.engine().stop(client, TIMEOUT);
        }
        assertEquals(0, dpu.awaitExit(TIMEOUT));
    }

    @Test
    void shouldNoticeThatTheOtherProcessWasKilled(SoftDpu card) {
        ChildJvm dpu = card.start(ProcessTest::serve);
        dpu.awaitLine("serving", TIMEOUT);
        List<String> replies = new ArrayList<>();
        try (ComchClient client = client(card, replies)) {
            dpu.kill();
            DpuException failure =
                    assertThrows(
                            DpuException.class,
                            () ->
                                    card.engine()
                                            .runUntil(() -> !replies.isEmpty(), TIMEOUT, client));
            assertEquals(Status.CONNECTION_RESET, failure.status());
            card.engine().stop(client, TIMEOUT);
        }
    }

    private static ComchClient client(SoftDpu card, List<String> replies) {
        ComchClient client = ComchClient.create(card.hostDevice(), NAME);
        client.setSendTasks(1, ComchSendTask::free, ComchSendTask::free);
        client.setMessageCallback((from, message) -> replies.add(text(message)));
        card.engine().start(client, TIMEOUT);
        return client;
    }

    private static void send(ComchEndpoint endpoint, ComchConnection to, String text) {
        ComchSendTask task = endpoint.allocateSendTask(to);
        task.setMessage(text.getBytes(StandardCharsets.UTF_8)).submit();
    }

    private static String text(MemorySegment message) {
        return new String(message.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
