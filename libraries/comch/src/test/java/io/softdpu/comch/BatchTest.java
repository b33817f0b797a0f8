package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Messages submitted and completed several at a time; one thread drives both sides. */
class BatchTest extends FastPathFixture {
    private static final int BYTES = 4096;
    private static final int SMALL = 16;
    private static final int LARGE = 1000;

    /** Index of a consumer's ring that tells how many buffers it has posted. */
    private static final long POSTED_OFFSET = 256;

    /** Sizes of the completed batches of the producer and of the consumer. */
    private final List<Integer> sentTogether = new ArrayList<>();

    private final List<Integer> receivedTogether = new ArrayList<>();
    private final List<Status> sent = new ArrayList<>();

    /** The first byte of each message that was received. */
    private final List<Byte> received = new ArrayList<>();

    private boolean failing;
    private final List<Status> receiveStatuses = new ArrayList<>();

    /** A running producer with a batch callback, and its tasks, message i of which holds i. */
    private final class Sender {
        final ComchProducer producer;
        final Card.Memory memory;

        Sender(ProgressEngine engine, int tasks) {
            memory = card.memory(pair.client().endpoint.device(), (long) tasks * BYTES);
            producer = card.keep(ComchProducer.create(pair.client().connection()));
            engine.connect(producer);
            producer.setSendTasks(tasks, this::completed);
            card.atEnd(() -> Peer.stop(card, producer));
            producer.start();
            card.until("producer runs", () -> producer.state() == ContextState.RUNNING);
        }

        ComchProducerSendTask task(int message, int consumer, int sizeBytes) {
            long offset = (long) message * BYTES;
            memory.shared().segment().set(ValueLayout.JAVA_BYTE, offset, (byte) message);
            Buf buf = memory.inventory().bufByAddress(memory.mmap(), offset, BYTES);
            buf.setData(offset, sizeBytes);
            return producer.allocateSendTask(buf, consumer);
        }

        ComchProducerSendTask[] tasks(int count, int consumer, int sizeBytes) {
            return IntStream.range(0, count)
                    .mapToObj(i -> task(i, consumer, sizeBytes))
                    .toArray(ComchProducerSendTask[]::new);
        }

        private void completed(ComchProducerSendTask[] tasks, int count) {
            if (failing) {
                throw new IllegalStateException("of this test");
            }
            sentTogether.add(count);
            for (int i = 0; i < count; i++) {
                sent.add(tasks[i].status());
                release(tasks[i]);
            }
        }
    }

    private static void release(ComchProducerSendTask task) {
        task.buf().release();
        task.free();
    }

    private static void release(ComchProducerSendTask[] tasks, int from) {
        Arrays.stream(tasks).skip(from).forEach(BatchTest::release);
    }

    /** A running consumer with a batch callback, which has posted a buffer per task. */
    private final class Receiver {
        final ComchConsumer consumer;
        final Card.Memory memory;
        final int tasks;

        /** Takes completed tasks instead of the receiver's own callback, which frees them. */
        @Nullable ComchBatchCallback<ComchPostReceiveTask> inCallback;

        Receiver(int tasks) {
            this.tasks = tasks;
            memory = card.memory(pair.server().endpoint.device(), (long) tasks * BYTES);
            consumer = card.keep(ComchConsumer.create(pair.server().connection(), memory.mmap()));
            card.dpuEngine.connect(consumer);
            consumer.setPostReceiveTasks(tasks, this::completed);
            card.atEnd(() -> Peer.stop(card, consumer));
            consumer.start();
            card.until("consumer runs", () -> consumer.state() == ContextState.RUNNING);
            post(tasks);
        }

        int id() {
            return consumer.id();
        }

        /** Posts buffers, all at once. */
        void post(int buffers) {
            ComchPostReceiveTask[] posts =
                    IntStream.range(0, buffers)
                            .mapToObj(this::task)
                            .toArray(ComchPostReceiveTask[]::new);
            assertThat(consumer.trySubmitAll(posts, 0, buffers)).isEqualTo(buffers);
        }

        private ComchPostReceiveTask task(int buffer) {
            long offset = (long) buffer * BYTES;
            return consumer.allocatePostReceiveTask(
                    memory.inventory().bufByAddress(memory.mmap(), offset, BYTES));
        }

        private void completed(ComchPostReceiveTask[] completed, int count) {
            receivedTogether.add(count);
            if (inCallback != null) {
                inCallback.completed(completed, count);
                return;
            }
            for (int i = 0; i < count; i++) {
                receiveStatuses.add(completed[i].status());
                Buf buf = completed[i].buf();
                if (completed[i].status() == Status.SUCCESS) {
                    received.add(buf.mmap().segment().get(ValueLayout.JAVA_BYTE, buf.dataOffset()));
                }
                buf.release();
                completed[i].free();
            }
        }
    }

    @Test
    void shouldDeliverAllInOrderAndTellOfThemTogether() {
        Receiver receiver = new Receiver(32);
        Sender sender = new Sender(card.hostEngine, 32);
        ComchProducerSendTask[] tasks = sender.tasks(32, receiver.id(), SMALL);

        assertThat(sender.producer.trySubmitAll(tasks, 0, 32)).isEqualTo(32);
        assertThat(sender.producer.inFlightTasks()).isEqualTo(32);
        assertThat(card.hostEngine.progress()).isTrue();
        assertThat(sentTogether).containsExactly(32);
        assertThat(sent).hasSize(32).containsOnly(Status.SUCCESS);
        assertThat(sender.producer.inFlightTasks()).isZero();
        assertThat(card.hostEngine.inFlightTasks()).isZero();
        assertThat(card.dpuEngine.progress()).isTrue();
        assertThat(receivedTogether).containsExactly(32);
        assertThat(received).isEqualTo(upTo(32));
        assertThat(receiver.consumer.inFlightTasks()).isZero();
    }

    @Test
    void shouldSendTheGivenRangeOnly() {
        Receiver receiver = new Receiver(8);
        Sender sender = new Sender(card.hostEngine, 8);
        ComchProducerSendTask[] tasks = sender.tasks(8, receiver.id(), SMALL);

        assertThat(sender.producer.trySubmitAll(tasks, 2, 5)).isEqualTo(3);
        card.settle();
        assertThat(received).containsExactly((byte) 2, (byte) 3, (byte) 4);
        assertThat(sender.producer.trySubmitAll(tasks, 5, 5)).isZero();
        release(tasks, 5);
        release(Arrays.copyOf(tasks, 2), 0);
    }

    @Test
    void shouldSendAsManyAsBuffersArePostedAndTellOfFurtherOnes() {
        Receiver receiver = new Receiver(4);
        Sender sender = new Sender(card.hostEngine, 8);
        ComchProducerSendTask[] tasks = sender.tasks(8, receiver.id(), SMALL);

        assertThat(sender.producer.trySubmitAll(tasks, 0, 8)).isEqualTo(4);
        assertThat(sender.producer.inFlightTasks()).isEqualTo(4);
        assertThat(tasks[4].trySubmit()).isEqualTo(Status.AGAIN);
        card.settle();
        assertThat(received).isEqualTo(upTo(4));
        receiver.post(4);
        card.dpuEngine.progress();

        assertThat(card.hostEngine.progress()).as("buffers").isTrue();
        assertThat(sender.producer.trySubmitAll(tasks, 4, 8)).isEqualTo(4);
        card.settle();
        assertThat(received).isEqualTo(upTo(8));
    }

    @Test
    void shouldSendToSeveralConsumersInOrder() {
        Receiver first = new Receiver(4);
        Receiver second = new Receiver(4);
        Sender sender = new Sender(card.hostEngine, 6);
        int[] to = {first.id(), first.id(), second.id(), first.id(), second.id(), second.id()};
        ComchProducerSendTask[] tasks =
                IntStream.range(0, 6)
                        .mapToObj(i -> sender.task(i, to[i], SMALL))
                        .toArray(ComchProducerSendTask[]::new);

        assertThat(sender.producer.trySubmitAll(tasks, 0, 6)).isEqualTo(6);
        card.settle();
        assertThat(receivedTogether).containsExactly(3, 3);
        assertThat(received)
                .containsExactly((byte) 0, (byte) 1, (byte) 3, (byte) 2, (byte) 4, (byte) 5);
    }

    @Test
    void shouldStopAtAConsumerThatDoesNotExist() {
        Receiver receiver = new Receiver(4);
        Sender sender = new Sender(card.hostEngine, 3);
        ComchProducerSendTask[] tasks = sender.tasks(3, receiver.id(), SMALL);
        tasks[1].setConsumerId(receiver.id() + 1000);

        assertThat(sender.producer.trySubmitAll(tasks, 0, 3)).isEqualTo(1);
        assertThat(tasks[1].trySubmit()).isEqualTo(Status.NOT_FOUND);
        card.settle();
        assertThat(received).isEqualTo(upTo(1));
        release(tasks, 1);
    }

    @Test
    void shouldCopyLargeAndSmallDataOfOneSubmission() {
        Receiver receiver = new Receiver(4);
        Sender sender = new Sender(card.hostEngine, 4);
        ComchProducerSendTask[] tasks = sender.tasks(4, receiver.id(), SMALL);
        tasks[1].buf().setDataLength(LARGE);
        tasks[2].buf().setDataLength(LARGE);

        assertThat(sender.producer.trySubmitAll(tasks, 0, 4)).isEqualTo(4);
        card.settle();
        assertThat(sent).hasSize(4).containsOnly(Status.SUCCESS);
        assertThat(received).isEqualTo(upTo(4));
    }

    @Test
    void shouldStopAtTheFirstTaskThatIsRefused() {
        Receiver receiver = new Receiver(4);
        Sender sender = new Sender(card.hostEngine, 4);
        ComchProducerSendTask[] tasks = sender.tasks(4, receiver.id(), SMALL);
        ComchProducerSendTask[] twice = {tasks[0], tasks[1], tasks[0], tasks[2]};

        assertThat(sender.producer.trySubmitAll(twice, 0, 4)).isEqualTo(2);
        tasks[3].buf().release();
        tasks[3].setBuf(tasks[2].buf());
        assertThat(sender.producer.trySubmitAll(tasks, 2, 4)).as("a buf twice").isEqualTo(1);
        assertThat(tasks[3].trySubmit()).isEqualTo(Status.IN_USE);
        card.settle();
        assertThat(received).isEqualTo(upTo(3));
        tasks[3].free();
    }

    @Test
    void shouldTakeTurnsWithProducersThatWait() {
        Receiver receiver = new Receiver(1);
        ProgressEngine otherEngine = card.engine();
        Sender many = new Sender(card.hostEngine, 8);
        Sender other = new Sender(otherEngine, 1);
        ComchProducerSendTask[] tasks = many.tasks(8, receiver.id(), SMALL);
        ComchProducerSendTask[] one = other.tasks(1, receiver.id(), SMALL);
        assertThat(many.producer.trySubmitAll(tasks, 0, 8)).isEqualTo(1);
        assertThat(other.producer.trySubmitAll(one, 0, 1)).isZero();
        card.settle();
        receiver.post(1);
        card.dpuEngine.progress();

        assertThat(many.producer.trySubmitAll(tasks, 1, 8)).as("it waits first").isEqualTo(1);
        card.settle();
        receiver.post(1);
        card.dpuEngine.progress();
        assertThat(many.producer.trySubmitAll(tasks, 2, 8)).as("the other's turn").isZero();
        assertThat(other.producer.trySubmitAll(one, 0, 1)).isEqualTo(1);
        card.settle();
        otherEngine.progress();
        release(tasks, 2);
    }

    /** Both wait: the first of the queue may not take the buffer that is kept for the other. */
    @Test
    void shouldLeaveOneOfSeveralBuffersToEachProducerThatWaits() {
        Receiver receiver = new Receiver(4);
        ProgressEngine otherEngine = card.engine();
        Sender many = new Sender(card.hostEngine, 8);
        Sender other = new Sender(otherEngine, 1);
        ComchProducerSendTask[] tasks = many.tasks(8, receiver.id(), SMALL);
        ComchProducerSendTask[] one = other.tasks(1, receiver.id(), SMALL);
        assertThat(many.producer.trySubmitAll(tasks, 0, 8)).isEqualTo(4);
        assertThat(other.producer.trySubmitAll(one, 0, 1)).isZero();
        card.settle();
        receiver.post(4);
        card.dpuEngine.progress();

        assertThat(many.producer.trySubmitAll(tasks, 4, 8)).as("all but one").isEqualTo(3);
        assertThat(other.producer.trySubmitAll(one, 0, 1)).isEqualTo(1);
        card.settle();
        otherEngine.progress();
        release(tasks, 7);
    }

    @Test
    void shouldPublishPostingsOfACallbackAfterIt() {
        Receiver receiver = new Receiver(8);
        Sender sender = new Sender(card.hostEngine, 8);
        MemorySegment ring =
                Objects.requireNonNull(
                                pair.client().connection().requireRegistry().find(receiver.id()))
                        .ring()
                        .segment();
        List<Long> published = new ArrayList<>();
        Runnable look = () -> published.add(ring.get(ValueLayout.JAVA_LONG, POSTED_OFFSET));
        receiver.inCallback =
                (completed, count) -> {
                    assertThat(receiver.consumer.trySubmitAll(completed, 0, count - 1))
                            .isEqualTo(count - 1);
                    look.run();
                    completed[count - 1].submit();
                    look.run();
                };
        sender.producer.trySubmitAll(sender.tasks(8, receiver.id(), SMALL), 0, 8);
        card.settle();

        look.run();
        assertThat(published).containsExactly(8L, 8L, 16L);
        receiver.inCallback = null;
    }

    @Test
    void shouldThrowWhatACallbackThrowsAndGoOn() {
        Receiver receiver = new Receiver(8);
        Sender sender = new Sender(card.hostEngine, 4);
        failing = true;
        ComchProducerSendTask[] tasks = sender.tasks(4, receiver.id(), SMALL);
        assertThat(sender.producer.trySubmitAll(tasks, 0, 4)).isEqualTo(4);

        assertThatThrownBy(card.hostEngine::progress).hasMessageContaining("of this test");
        assertThat(sender.producer.inFlightTasks()).isZero();
        failing = false;
        assertThat(sender.producer.trySubmitAll(tasks, 0, 4)).isEqualTo(4);
        card.settle();
        assertThat(sent).hasSize(4);
    }

    @Test
    void shouldFlushPostedBuffersTogetherWhereTheConsumerStops() {
        Receiver receiver = new Receiver(4);
        Peer.stop(card, receiver.consumer);
        assertThat(receivedTogether).containsExactly(4);
        assertThat(receiveStatuses).hasSize(4).containsOnly(Status.SHUTDOWN);
    }

    @Test
    void shouldSubmitNothingUnlessRunning() {
        Receiver receiver = new Receiver(4);
        Sender sender = new Sender(card.hostEngine, 2);
        ComchProducerSendTask[] tasks = sender.tasks(2, receiver.id(), SMALL);
        sender.producer.stop();
        assertThat(sender.producer.trySubmitAll(tasks, 0, 2)).isZero();
        assertThat(tasks[0].trySubmit()).isEqualTo(Status.BAD_STATE);
        release(tasks, 0);
    }

    @Test
    void shouldRefuseRangesAndTasksOfOthers() {
        Receiver receiver = new Receiver(4);
        Sender sender = new Sender(card.hostEngine, 2);
        Sender other = new Sender(card.hostEngine, 1);
        ComchProducerSendTask[] tasks = sender.tasks(2, receiver.id(), SMALL);
        ComchProducerSendTask[] mixed = {tasks[0], other.task(0, receiver.id(), SMALL)};

        requireRefused(sender, mixed, 0, 2, "index=1");
        requireRefused(sender, tasks, 0, 3, "to=3, elements=2");
        requireRefused(sender, tasks, -1, 1, "from=-1");
        requireRefused(sender, tasks, 2, 1, "from=2, to=1");
        assertThat(sender.producer.inFlightTasks()).as("nothing was submitted").isZero();
        release(tasks, 0);
        release(mixed, 1);
    }

    /** It returns tasks one by one and at different times. */
    @Test
    void shouldTellOfEachTaskThatASanitizerReturns() throws Exception {
        try (Sanitizer sanitizer = Sanitizer.start(1)) {
            card.close();
            card = new Card(folder.resolve("checked"));
            pair = card.pair();
            Receiver receiver = new Receiver(32);
            Sender sender = new Sender(card.hostEngine, 32);
            ComchProducerSendTask[] tasks = sender.tasks(32, receiver.id(), SMALL);
            int next = 0;
            for (int i = 0; next < 32 && i < 1000; i++) {
                next += sender.producer.trySubmitAll(tasks, next, 32);
            }
            card.until("received", () -> received.size() == 32 && sent.size() == 32);
            assertThat(received).isEqualTo(upTo(32));
            assertThat(receivedTogether).containsOnly(1);
            assertThat(sentTogether).containsOnly(1);
            assertThat(sent).containsOnly(Status.SUCCESS);
            assertThat(sender.producer.inFlightTasks()).isZero();
            assertThat(receiver.consumer.inFlightTasks()).isZero();
            assertThat(sanitizer.reports()).isZero();
        }
    }

    private static void requireRefused(
            Sender sender, ComchProducerSendTask[] tasks, int from, int to, String message) {
        assertThatThrownBy(() -> sender.producer.trySubmitAll(tasks, from, to))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(message);
    }

    private static List<Byte> upTo(int messages) {
        return IntStream.range(0, messages).mapToObj(i -> (byte) i).toList();
    }
}
