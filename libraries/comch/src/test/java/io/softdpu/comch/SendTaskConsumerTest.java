package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Await;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The consumer that a send task finds by its id, from one submission to the next. */
class SendTaskConsumerTest extends FastPathFixture {
    private static final int SMALL = 16;
    private static final int LARGE = 1000;

    private final List<Status> ended = new ArrayList<>();
    private final List<ComchProducerSendTask> tasks = new ArrayList<>();
    private ComchProducer producer;
    private Card.Memory source;
    private ProgressEngine engine;

    /** A producer of the client, on an engine of its own, whose tasks stay with the test. */
    private void startProducer() {
        engine = card.engine();
        source = card.memory(card.pf0, 8 * MIB);
        producer = card.keep(ComchProducer.create(pair.client().connection()));
        engine.connect(producer);
        producer.setSendTasks(
                4, task -> ended.add(task.status()), task -> ended.add(task.status()));
        card.atEnd(() -> Peer.stop(card, producer));
        card.atEnd(this::freeAll); // before that
        producer.start();
        card.until("producer runs", () -> producer.state() == ContextState.RUNNING);
    }

    private ComchProducerSendTask task(int number, int length, int consumerId) {
        MemorySegment.copy(
                pattern(length),
                0,
                source.shared().segment(),
                ValueLayout.JAVA_BYTE,
                (long) number * MIB,
                length);
        Buf buf = source.inventory().bufByData(source.mmap(), (long) number * MIB, length);
        ComchProducerSendTask task = producer.allocateSendTask(buf, consumerId);
        tasks.add(task);
        return task;
    }

    private void freeAll() {
        card.until("all have ended", () -> producer.inFlightTasks() == 0);
        for (ComchProducerSendTask task : tasks) {
            Objects.requireNonNull(task.buf()).release();
            task.free();
        }
        tasks.clear();
    }

    private static void assertNotFound(ComchProducerSendTask task, String reason) {
        for (boolean alone : new boolean[] {true, false}) {
            if (alone) {
                assertThat(task.trySubmit()).isEqualTo(Status.NOT_FOUND);
            } else {
                assertThat(task.context().trySubmitAll(new Task[] {task}, 0, 1)).isZero();
            }
            assertThat(Objects.requireNonNull(task.refusal()).status()).isEqualTo(Status.NOT_FOUND);
            assertThat(task.refusal()).hasMessageStartingWith(reason);
        }
    }

    private void send(ComchProducerSendTask task, boolean alone) {
        int before = ended.size();
        if (alone) {
            assertThat(task.trySubmit()).isEqualTo(Status.SUCCESS);
        } else {
            assertThat(producer.trySubmitAll(new Task[] {task}, 0, 1)).isEqualTo(1);
        }
        card.until("sent", () -> ended.size() > before);
        assertThat(ended.getLast()).isEqualTo(Status.SUCCESS);
    }

    private void assertReceived(Queue.Receiving receiving, int... lengths) {
        card.until("received", () -> receiving.data.size() >= lengths.length);
        card.settle();
        assertThat(receiving.statuses)
                .isEqualTo(Collections.nCopies(lengths.length, Status.SUCCESS));
        for (int i = 0; i < lengths.length; i++) {
            assertThat(receiving.data.get(i)).isEqualTo(pattern(lengths[i]));
        }
    }

    /** While a copy to it is in progress the producer has it, and afterwards not. */
    @Test
    void shouldBeRefusedWhenItsConsumerHasStoppedMeanwhile() {
        Queue.Receiving receiving = receiving(pair.server(), 8 * MIB, 4);
        startProducer();
        int id = receiving.consumer.id();
        ComchProducerSendTask small = task(0, SMALL, id);
        ComchProducerSendTask large = task(1, 4 * MIB, id);
        receiving.post(0, 64);
        receiving.post(MIB, 4 * MIB);
        receiving.post(64, 64);
        receiving.post(128, 64);
        send(small, true);
        large.submit();
        engine.progress(); // the copy has begun
        ComchProducerSendTask last = task(2, SMALL, id);
        last.submit();

        receiving.consumer.stop();
        Await.byStep(
                "client knows",
                () -> pair.client().consumers.isEmpty(),
                () -> {
                    card.dpuEngine.progress();
                    card.hostEngine.progress();
                });
        assertNotFound(small, "consumer is stopping: consumerId=" + id + ", expected=");
        engine.progress();
        assertThat(ended).as("the copy is in progress").hasSize(2);
        assertNotFound(small, "consumer has stopped: consumerId=" + id + ", expected=");

        card.until("copied", () -> ended.size() == 3);
        card.until("idle", () -> receiving.consumer.state() == ContextState.IDLE);
        assertNotFound(
                small,
                "peer has no consumer with this id: consumerId=" + id + ", expected=one of []");
        assertThat(ended).containsOnly(Status.SUCCESS);
        assertThat(receiving.statuses)
                .containsExactly(Status.SUCCESS, Status.SUCCESS, Status.SUCCESS, Status.SHUTDOWN);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldFindAConsumerThatStartsAfterTheIdWasSet(boolean alone) {
        Queue.Receiving first = receiving(pair.server(), 4096, 1);
        startProducer();
        int later = first.consumer.id() + 2;
        ComchProducerSendTask task = task(0, SMALL, later);
        String unknown = "peer has no consumer with this id: consumerId=" + later;
        assertNotFound(task, unknown + ", expected=one of [" + first.consumer.id() + "]");

        Queue.Receiving second = receiving(pair.server(), 4096, 1);
        assertThat(second.consumer.id()).isEqualTo(later);
        assertThat(task.trySubmit()).as("it is known now").isEqualTo(Status.AGAIN);
        second.post(0, 64);
        send(task, alone);

        assertReceived(second, SMALL);
        assertReceived(first);
    }

    /** A consumer that starts again has another id, and is another one for those that send. */
    @ParameterizedTest
    @ValueSource(ints = {SMALL, LARGE})
    void shouldNotSendToAConsumerThatHasStartedAgain(int length) {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        startProducer();
        int id = receiving.consumer.id();
        ComchProducerSendTask task = task(0, length, id);
        receiving.post(0, LARGE);
        send(task, true);
        Peer.stop(card, receiving.consumer);
        receiving.run(card);
        int again = receiving.consumer.id();
        receiving.post(0, LARGE);

        String unknown = "peer has no consumer with this id: consumerId=" + id;
        assertNotFound(task, unknown + ", expected=one of [" + again + "]");
        assertReceived(receiving, length);

        task.setConsumerId(again);
        send(task, false);
        assertReceived(receiving, length, length);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldSendToTheConsumerWhoseIdWasSetLast(boolean alone) {
        Queue.Receiving first = receiving(pair.server(), 8192, 4);
        Queue.Receiving second = receiving(pair.server(), 8192, 4);
        startProducer();
        ComchProducerSendTask small = task(0, SMALL, first.consumer.id());
        ComchProducerSendTask large = task(1, LARGE, second.consumer.id());
        for (int i = 0; i < 4; i++) {
            first.post(i * 1024L, 1024);
            second.post(i * 1024L, 1024);
        }
        send(small, alone);
        send(large, alone);
        small.setConsumerId(second.consumer.id());
        large.setConsumerId(first.consumer.id());
        send(small, alone);
        send(large, alone);
        small.setConsumerId(999);
        assertNotFound(small, "peer has no consumer with this id: consumerId=999");
        small.setConsumerId(first.consumer.id());
        send(small, alone);
        small.setConsumerId(second.consumer.id());
        small.setConsumerId(first.consumer.id());
        send(small, alone);

        assertReceived(first, SMALL, LARGE, SMALL, SMALL);
        assertReceived(second, LARGE, SMALL);
    }

    /** Among several the first finds the consumer, whatever the others have sent to before. */
    @Test
    void shouldSendAmongSeveralToTheConsumerOfItsId() {
        Queue.Receiving first = receiving(pair.server(), 8192, 4);
        Queue.Receiving second = receiving(pair.server(), 8192, 4);
        startProducer();
        int firstId = first.consumer.id();
        int secondId = second.consumer.id();
        for (int i = 0; i < 4; i++) {
            first.post(i * 1024L, 1024);
            second.post(i * 1024L, 1024);
        }
        ComchProducerSendTask fresh = task(0, SMALL, firstId);
        ComchProducerSendTask used = task(1, LARGE, secondId);
        ComchProducerSendTask other = task(2, LARGE, secondId);
        send(used, true);
        used.setConsumerId(firstId);

        Task[] all = {fresh, used, other};
        assertThat(producer.trySubmitAll(all, 0, 3)).isEqualTo(3);
        card.until("sent", () -> ended.size() == 4);

        assertThat(ended).containsOnly(Status.SUCCESS);
        assertReceived(first, SMALL, LARGE);
        assertReceived(second, LARGE, LARGE);
    }

    /** A freed task keeps no consumer for its next use. */
    @Test
    void shouldForgetTheConsumerWhenItIsFreed() {
        Queue.Receiving first = receiving(pair.server(), 4096, 1);
        Queue.Receiving second = receiving(pair.server(), 4096, 1);
        startProducer();
        first.post(0, 64);
        second.post(0, 64);
        ComchProducerSendTask task = task(0, SMALL, first.consumer.id());
        send(task, true);
        freeAll();
        ComchProducerSendTask next = task(0, SMALL, 0);
        assertThat(next).as("of the pool").isSameAs(task);
        assertNotFound(next, "peer has no consumer with this id: consumerId=0");
        next.setConsumerId(second.consumer.id());
        send(next, true);

        assertReceived(first, SMALL);
        assertReceived(second, SMALL);
    }

    /** Its reference is released: what was mapped may be gone, and must not be asked. */
    @Test
    void shouldNeverUseAConsumerThatWasDetached() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 1);
        card.settle();
        RemoteConsumer remote =
                Objects.requireNonNull(
                        pair.client().connection().requireRegistry().find(receiving.consumer.id()));
        AttachedConsumer attached =
                new AttachedConsumer(remote, new CreditWaiter(remote.credit(), () -> {}));
        assertThat(attached.isUsable()).isTrue();
        attached.detached();
        assertThat(attached.isUsable()).isFalse();
        attached.lookAgain();
        assertThat(attached.isUsable()).isFalse();
        assertThat(remote.unusable()).as("by others").isFalse();
    }
}
