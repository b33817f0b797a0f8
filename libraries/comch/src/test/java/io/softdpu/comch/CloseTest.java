package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Close of servers, clients, producers and consumers in try-with-resources, on one engine. */
class CloseTest {

    @TempDir Path folder;
    private Card card;
    private final List<Status> ended = new ArrayList<>();

    @BeforeEach
    void open() {
        card = new Card(folder);
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    private ComchServer server(ProgressEngine engine) {
        ComchServer server = ComchServer.create(card.p0, card.hpf0, "closed");
        server.setSendTasks(2, ComchSendTask::free, ComchSendTask::free);
        server.setMessageCallback((from, message) -> {});
        server.setConsumerCallbacks((c, id) -> {}, (c, id) -> {});
        server.setConnectedCallback(c -> {});
        engine.start(server, Patience.LIMIT);
        return server;
    }

    private ComchClient client(ProgressEngine engine) {
        ComchClient client = ComchClient.create(card.pf0, "closed");
        client.setSendTasks(2, ComchSendTask::free, ComchSendTask::free);
        client.setMessageCallback((from, message) -> {});
        client.setConsumerCallbacks((c, id) -> {}, (c, id) -> {});
        engine.start(client, Patience.LIMIT);
        return client;
    }

    private ComchConsumer consumer(ProgressEngine engine, ComchConnection connection) {
        Card.Memory memory = card.memory(card.p0, 4096);
        ComchConsumer consumer = ComchConsumer.create(connection, memory.mmap());
        consumer.setPostReceiveTasks(2, this::received, this::received);
        engine.start(consumer, Patience.LIMIT);
        Buf buf = memory.inventory().bufByAddress(memory.mmap(), 0, 64);
        consumer.allocatePostReceiveTask(buf).submit();
        return consumer;
    }

    private void received(ComchPostReceiveTask task) {
        ended.add(task.status());
        task.buf().release();
        task.free();
    }

    private ComchProducer producer(ProgressEngine engine, ComchConnection connection) {
        ComchProducer producer = ComchProducer.create(connection);
        producer.setSendTasks(2, ComchProducerSendTask::free, ComchProducerSendTask::free);
        engine.start(producer, Patience.LIMIT);
        return producer;
    }

    @Test
    void shouldCloseEachKindOfContextAtTheEndOfATryBlock() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchServer server = server(engine);
                ComchClient client = client(engine);
                ComchConsumer consumer = consumer(engine, server.connections().getFirst());
                ComchProducer producer = producer(engine, client.connection())) {
            engine.runUntil(
                    () -> client.connection().remoteConsumers().length == 1,
                    Patience.LIMIT,
                    client,
                    producer);
            assertThat(consumer.inFlightTasks()).isEqualTo(1);
        }
        assertThat(ended).as("flushed by the close").containsExactly(Status.SHUTDOWN);
    }

    @Test
    void shouldRefuseAtOnceToCloseUnderAProducerAndNameIt() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchServer server = server(engine);
                ComchClient client = client(engine)) {
            try (ComchProducer producer = producer(engine, client.connection())) {
                assertRefused(Status.IN_USE, client::close)
                        .hasMessageContainingAll(
                                "producers or consumers are active", producer + " is RUNNING");
                assertThat(client.state()).isEqualTo(ContextState.RUNNING);
                assertThat(server.state()).isEqualTo(ContextState.RUNNING);
            }
        }
    }

    @Test
    void shouldCloseAfterThePeerHasEndedFirst() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchServer server = server(engine);
                ComchClient client = client(engine);
                ComchProducer producer = producer(engine, client.connection())) {
            server.close();
            assertThatThrownBy(() -> engine.runUntil(() -> false, Patience.LIMIT, producer, client))
                    .isInstanceOf(DpuException.class)
                    .extracting(e -> ((DpuException) e).status())
                    .isEqualTo(Status.CONNECTION_RESET);
            assertThat(client.stop()).isIn(Status.IN_PROGRESS, Status.SUCCESS);
        }
    }

    @Test
    void shouldNameTheAllocationOfATaskThatWasForgotten() {
        try (Sanitizer sanitizer = Sanitizer.startForThread(5);
                ProgressEngine engine = ProgressEngine.create();
                ComchServer server = server(engine);
                ComchClient client = client(engine)) {
            ComchSendTask forgotten = client.allocateSendTask(client.connection());
            assertRefused(Status.TIME_OUT, () -> engine.stop(client, Duration.ofMillis(50)))
                    .hasMessageContainingAll(
                            "context=" + client,
                            "state=STOPPING",
                            "allocatedTasks=1 (1 ComchSendTask)",
                            "allocatedAt="
                                    + getClass().getName()
                                    + ".shouldNameTheAllocationOfATaskThatWasForgotten");
            assertThat(server.state()).isEqualTo(ContextState.RUNNING);
            assertThat(sanitizer.seed()).isEqualTo(5);
            forgotten.free();
        }
    }
}
