package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.comch.ComchServer;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests of the host over the Comm Channel, and replies of the DPU. */
@SoftDpuTest
class RequestTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @Test
    void shouldAnswerARequest(SoftDpu card) {
        // [part: request]
        List<String> replies = new ArrayList<>();
        try (ComchServer server =
                        ComchServer.create(card.dpuDevice(), card.representor(), "greetings");
                ComchClient client = ComchClient.create(card.hostDevice(), "greetings")) {
            server.setSendTasks(1, ComchSendTask::free, ComchSendTask::free);
            server.setConnectedCallback(connection -> {});
            server.setMessageCallback(
                    (from, message) -> send(server, from, "hello " + text(message)));
            client.setSendTasks(1, ComchSendTask::free, ComchSendTask::free);
            client.setMessageCallback((from, message) -> replies.add(text(message)));
            card.engine().start(server, TIMEOUT);
            card.engine().start(client, TIMEOUT);

            send(client, client.connection(), "host");
            card.engine().runUntil(() -> !replies.isEmpty(), TIMEOUT, server, client);
            assertEquals(List.of("hello host"), replies);

            card.engine().stop(client, TIMEOUT);
            card.engine().stop(server, TIMEOUT);
        }
        // [end]
    }

    private static void send(ComchEndpoint endpoint, ComchConnection to, String text) {
        ComchSendTask task = endpoint.allocateSendTask(to);
        task.setMessage(text.getBytes(StandardCharsets.UTF_8)).submit();
    }

    private static String text(MemorySegment message) {
        return new String(message.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
