package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Restrictions of the running data path, such as no allocation. */
class DataPathTest {
    private static final int MESSAGES = 20_000;

    @TempDir Path folder;
    private Card card;
    private long received;

    @BeforeEach
    void open() {
        card = new Card(folder);
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Clause("core-003")
    void shouldAllocateNothingOnTheFastPath(boolean severalAtATime) {
        Card.Pair pair = card.pair();
        Card.Memory source = card.memory(card.pf0, 64 * 1024);
        Card.Memory target = card.memory(card.p0, 64 * 1024);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection, target.mmap()));
        ComchProducer producer = card.keep(ComchProducer.create(pair.client().connection()));
        card.dpuEngine.connect(consumer);
        card.hostEngine.connect(producer);
        if (severalAtATime) {
            consumer.setPostReceiveTasks(8, (tasks, count) -> repost(consumer, tasks, count));
            producer.setSendTasks(8, (tasks, count) -> resend(producer, tasks, count));
        } else {
            consumer.setPostReceiveTasks(8, this::repost, DataPathTest::freeReceive);
            producer.setSendTasks(8, this::resend, DataPathTest::freeSend);
        }
        consumer.start();
        producer.start();
        card.until("runs", () -> consumer.state() == ContextState.RUNNING);
        card.until("runs", () -> producer.state() == ContextState.RUNNING);
        for (int i = 0; i < 8; i++) {
            consumer.allocatePostReceiveTask(
                            target.inventory().bufByAddress(target.mmap(), i * 4096L, 4096))
                    .submit();
        }
        for (int i = 0; i < 4; i++) { // some fit into a slot, some do not
            ComchProducerSendTask task =
                    producer.allocateSendTask(
                            source.inventory()
                                    .bufByData(source.mmap(), i * 4096L, i % 2 == 0 ? 64 : 1000),
                            consumer.id());
            task.setImmediate(MemorySegment.ofArray(new byte[] {1, 2, 3, 4}), 0, 4);
            task.submit();
        }
        AllocationMeter.assertNone(MESSAGES, this::awaitMessage);
        sending = false;
        card.until("drained", () -> producer.inFlightTasks() == 0);
        Peer.stop(card, producer);
        Peer.stop(card, consumer);
    }

    @Test
    @Clause("core-003")
    void shouldAllocateNothingOnTheBasicPath() {
        Peer server = Peer.server(card, Card.NAME);
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.setMessageCallback((from, message) -> received += message.byteSize() / 8);
        client.endpoint.setSendTasks(
                4,
                task -> {
                    if (sending) {
                        task.submit();
                    } else {
                        task.free();
                    }
                },
                ComchSendTask::free);
        server.endpoint.start();
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        MemorySegment message = MemorySegment.ofArray(new byte[8]);
        for (int i = 0; i < 4; i++) {
            ComchSendTask task = client.endpoint.allocateSendTask(client.connection());
            task.setMessage(message, 0, 8);
            task.submit();
        }
        AllocationMeter.assertNone(MESSAGES, this::awaitMessage);
        sending = false;
        card.until("drained", () -> client.endpoint.inFlightTasks() == 0);
    }

    private boolean sending = true;

    /** Progresses both engines until a message has arrived. */
    private void awaitMessage() {
        long before = received;
        long deadline = System.nanoTime() + Patience.DEADLINE.toNanos();
        while (received == before) {
            card.hostEngine.progress();
            card.dpuEngine.progress();
            if (System.nanoTime() > deadline) {
                throw new AssertionError("no message arrives: received=" + received);
            }
        }
    }

    private void repost(ComchPostReceiveTask task) {
        received++;
        task.buf().resetDataLength();
        if (task.trySubmit() != Status.SUCCESS) {
            freeReceive(task);
        }
    }

    private void resend(ComchProducerSendTask task) {
        if (!sending || task.trySubmit() != Status.SUCCESS) {
            freeSend(task);
        }
    }

    private void repost(ComchConsumer consumer, ComchPostReceiveTask[] tasks, int count) {
        received += count;
        for (int i = 0; i < count; i++) {
            tasks[i].buf().resetDataLength();
        }
        for (int i = consumer.trySubmitAll(tasks, 0, count); i < count; i++) {
            freeReceive(tasks[i]);
        }
    }

    private void resend(ComchProducer producer, ComchProducerSendTask[] tasks, int count) {
        for (int i = sending ? producer.trySubmitAll(tasks, 0, count) : 0; i < count; i++) {
            freeSend(tasks[i]);
        }
    }

    private static void freeReceive(ComchPostReceiveTask task) {
        task.buf().release();
        task.free();
    }

    private static void freeSend(ComchProducerSendTask task) {
        task.buf().release();
        task.free();
    }
}
