package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Producers that found no buffer, and the buffers that are posted then; one thread drives all. */
class CreditTest extends FastPathFixture {
    private static final int TASKS = 64;
    private static final Duration NOT_YET = Duration.ofMillis(20);

    private Queue.Receiving receiving;

    @BeforeEach
    void receive() {
        receiving = receiving(pair.server(), 4096, TASKS);
    }

    @Test
    void shouldBeWorkForAProducerThatPolls() {
        Queue.Sending sending = sending(pair.client(), 4096, 4);
        assertThat(send(sending)).isEqualTo(Status.AGAIN);
        card.settle();
        post(1);
        publish();

        assertThat(card.hostEngine.progress()).as("a buffer").isTrue();
        assertThat(card.hostEngine.progress()).as("another one").isFalse();
        assertThat(send(sending)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldNotBeWorkForAProducerThatHasFoundABuffer() {
        Queue.Sending sending = sending(pair.client(), 4096, 4);
        post(1);
        assertThat(send(sending)).isEqualTo(Status.SUCCESS);
        card.settle();
        post(1);
        publish();

        assertThat(card.hostEngine.progress()).isFalse();
    }

    @Test
    void shouldWakeAProducerThatSleeps() {
        Queue.Sending sending = sending(pair.client(), 4096, 4);
        assertThat(send(sending)).isEqualTo(Status.AGAIN);
        card.settle();
        card.hostEngine.clearNotification(); // what has rung while it was polled
        card.hostEngine.requestNotification();
        requireWokenByABuffer(sending);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWakeAProducerThatFoundNoBufferAfterItsRequest(boolean several) {
        Queue.Sending sending = sending(pair.client(), 4096, 4);
        card.settle();
        card.hostEngine.clearNotification(); // what has rung while it was polled
        card.hostEngine.requestNotification();
        if (several) {
            Buf buf = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, 8);
            ComchProducerSendTask task =
                    sending.producer.allocateSendTask(buf, receiving.consumer.id());
            assertThat(sending.producer.trySubmitAll(new Task[] {task}, 0, 1)).isZero();
            task.free();
            buf.release();
        } else {
            assertThat(send(sending)).isEqualTo(Status.AGAIN);
        }
        requireWokenByABuffer(sending);
    }

    @Test
    void shouldWakeAProducerThatAwaits() {
        Queue.Sending sending = sending(pair.client(), 4096, 4);
        assertThat(send(sending)).isEqualTo(Status.AGAIN);
        card.settle();
        assertThat(card.hostEngine.await(NOT_YET)).isFalse();
        post(1);
        publish();

        assertThat(card.hostEngine.await(Patience.LIMIT)).isTrue();
    }

    @Test
    void shouldNotSleepWhereABufferWasPostedBefore() {
        Queue.Sending sending = sending(pair.client(), 4096, 4);
        assertThat(send(sending)).isEqualTo(Status.AGAIN);
        card.settle();
        post(1);
        publish();

        card.hostEngine.requestNotification();

        // Not at once: a thread of the bus may be about to signal for both.
        assertThat(card.hostEngine.awaitNotification(Patience.DEADLINE)).isTrue();
        card.hostEngine.clearNotification();
    }

    @Test
    void shouldWakeEachOfSeveralEngines() {
        List<ProgressEngine> engines = List.of(card.engine(), card.engine(), card.engine());
        List<Queue.Sending> producers = producers(engines);
        for (Queue.Sending producer : producers) {
            assertThat(send(producer)).isEqualTo(Status.AGAIN);
        }
        card.settle();
        engines.forEach(ProgressEngine::clearNotification); // what has rung while they were polled
        engines.forEach(ProgressEngine::requestNotification);
        post(1);
        publish();
        assertThat(wokenOf(engines, 1)).as("the first that found none").containsExactly(0);

        post(2);
        publish();
        assertThat(wokenOf(engines, 3)).containsExactlyInAnyOrder(0, 1, 2);
        engines.forEach(ProgressEngine::clearNotification);
        for (Queue.Sending producer : producers) {
            assertThat(send(producer)).isEqualTo(Status.SUCCESS);
        }
    }

    /** The engines whose notification comes, among those that are told of some buffers. */
    private static List<Integer> wokenOf(List<ProgressEngine> engines, int expected) {
        List<Integer> woken = new ArrayList<>();
        long deadline = System.nanoTime() + Patience.DEADLINE.toNanos();
        while (woken.size() < expected && System.nanoTime() - deadline < 0) {
            for (int i = 0; i < engines.size(); i++) {
                // Each listens for the doorbell; the one that drains it wakes the others.
                if (engines.get(i).awaitNotification(Duration.ZERO) && !woken.contains(i)) {
                    woken.add(i);
                }
            }
        }
        return woken;
    }

    @Test
    void shouldServeEachProducerBeforeAnyOtherTwice() {
        List<Queue.Sending> producers =
                producers(List.of(card.engine(), card.engine(), card.engine(), card.engine()));
        for (Queue.Sending producer : producers) {
            assertThat(send(producer)).isEqualTo(Status.AGAIN);
        }
        List<Integer> served = new ArrayList<>();
        for (int round = 0; round < 40; round++) {
            post(1);
            publish();
            for (int turn = 0; turn < 4; turn++) {
                int i = (round * 7 + turn * 3) % 4; // any order
                if (send(producers.get(i)) == Status.SUCCESS) {
                    served.add(i);
                }
            }
            card.settle();
        }

        assertThat(served).hasSize(40);
        for (int i = 0; i + 4 <= served.size(); i++) {
            assertThat(served.subList(i, i + 4)).as("from %d", i).doesNotHaveDuplicates();
        }
    }

    @Test
    void shouldWakeAProducerWhereTheConsumerStops() {
        Queue.Sending sending = sending(pair.client(), 4096, 4);
        assertThat(send(sending)).isEqualTo(Status.AGAIN);
        card.settle();
        card.hostEngine.clearNotification(); // what has rung while it was polled
        card.hostEngine.requestNotification();
        int id = receiving.consumer.id();
        receiving.consumer.stop();

        assertThat(card.hostEngine.awaitNotification(Patience.LIMIT)).isTrue();
        card.hostEngine.clearNotification();
        card.until(
                "no such consumer",
                () -> sending.send(id, new byte[8], NOTHING) == Status.NOT_FOUND);
    }

    private void requireWokenByABuffer(Queue.Sending sending) {
        assertThat(card.hostEngine.awaitNotification(NOT_YET)).isFalse();
        post(1);
        publish();

        assertThat(card.hostEngine.awaitNotification(Patience.LIMIT)).isTrue();
        card.hostEngine.clearNotification();
        assertThat(card.hostEngine.progress()).isTrue();
        assertThat(send(sending)).isEqualTo(Status.SUCCESS);
    }

    private List<Queue.Sending> producers(List<ProgressEngine> engines) {
        return engines.stream()
                .map(engine -> new Queue.Sending(pair.client(), engine, 4096, 4).run(card))
                .toList();
    }

    private Status send(Queue.Sending producer) {
        return producer.send(receiving.consumer.id(), new byte[8], NOTHING);
    }

    private void post(int buffers) {
        for (int i = 0; i < buffers; i++) {
            assertThat(receiving.post(0, 64)).isEqualTo(Status.SUCCESS);
        }
    }

    /** The consumer's engine finds nothing else to do. */
    private void publish() {
        while (card.dpuEngine.progress()) {}
        card.dpuEngine.progress();
    }
}
