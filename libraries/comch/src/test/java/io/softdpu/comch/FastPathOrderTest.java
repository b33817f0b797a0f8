package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Destination of sends: which consumer, and which of its buffers. */
class FastPathOrderTest extends FastPathFixture {
    @Clause({"cc-036", "cc-120"})
    @Test
    void shouldFillPostedBuffersInTheirOrder() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 3); // four slots
        Queue.Receiving another = receiving(pair.server(), 4096, 1);
        Queue.Sending sending = sending(pair.client(), 4096, 3);
        MemorySegment source = sending.memory.shared().segment();
        another.post(0, 1024);
        long[][] rounds = {{2048, 0, 1024}, {1024, 0, 2048}, {0, 2048, 1024}};
        int sent = 0;
        for (long[] places : rounds) {
            for (long place : places) { // neither by address nor by size
                receiving.post(place, 1024 - place / 8);
            }
            for (int i = 0; i < 3; i++) {
                // On both sides of what fits into a slot.
                Buf buf =
                        sending.memory
                                .inventory()
                                .bufByData(sending.memory.mmap(), i * 1024L, 8 + i * 60L);
                source.set(ValueLayout.JAVA_BYTE, i * 1024L, (byte) ++sent);
                assertThat(sending.send(receiving.consumer.id(), buf, NOTHING))
                        .isEqualTo(Status.SUCCESS);
            }
            for (int i = 0; i < 3; i++) { // the consumer finds all three at once
                card.hostEngine.progress();
            }
            int expected = sent;
            card.until("sent", () -> sending.statuses.size() == expected);
            card.until("received", () -> receiving.data.size() == expected);
            for (int i = 0; i < 3; i++) {
                assertThat(
                                receiving
                                        .memory
                                        .shared()
                                        .segment()
                                        .get(ValueLayout.JAVA_BYTE, places[i]))
                        .as("buffer %d", i)
                        .isEqualTo((byte) (sent - 2 + i));
            }
        }
        assertThat(receiving.data)
                .extracting(bytes -> (int) bytes[0])
                .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9);
        assertThat(another.data).isEmpty();
    }

    @Clause({"cc-014", "cc-016", "cc-121"})
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldKeepOrderOfEachProducerAndTellConsumersApart(boolean toServer) {
        Peer receiver = toServer ? pair.server() : pair.client();
        Peer sender = toServer ? pair.client() : pair.server();
        Queue.Receiving left = receiving(receiver, 64 * 1024, 64);
        Queue.Receiving right = receiving(receiver, 64 * 1024, 64);
        Queue.Sending one = sending(sender, 4096, 64);
        Queue.Sending two = sending(sender, 4096, 64);
        for (int i = 0; i < 40; i++) {
            left.post(i * 128L, 128);
            right.post(i * 128L, 128);
        }
        for (int i = 0; i < 40; i++) {
            Queue.Sending from = i % 2 == 0 ? one : two;
            Queue.Receiving to = i % 4 < 2 ? left : right;
            // Sizes on both sides of what fits into a slot, so that order is not luck.
            byte[] bytes = new byte[i % 3 == 0 ? 100 : 10];
            bytes[0] = (byte) i;
            MemorySegment source = from.memory.shared().segment();
            MemorySegment.copy(bytes, 0, source, ValueLayout.JAVA_BYTE, i * 100L, bytes.length);
            Buf buf = from.memory.inventory().bufByData(from.memory.mmap(), i * 100L, bytes.length);
            assertThat(from.send(to.consumer.id(), buf, NOTHING)).isEqualTo(Status.SUCCESS);
        }
        card.until("all", () -> left.data.size() + right.data.size() == 40);
        assertThat(numbersOf(one, left)).containsExactly(0, 4, 8, 12, 16, 20, 24, 28, 32, 36);
        assertThat(numbersOf(two, left)).containsExactly(1, 5, 9, 13, 17, 21, 25, 29, 33, 37);
        assertThat(numbersOf(one, right)).containsExactly(2, 6, 10, 14, 18, 22, 26, 30, 34, 38);
        assertThat(numbersOf(two, right)).containsExactly(3, 7, 11, 15, 19, 23, 27, 31, 35, 39);
        assertThat(one.producer.id()).isNotEqualTo(two.producer.id());
    }

    /** First bytes of what a consumer got from a producer, in that order. */
    private static List<Integer> numbersOf(Queue.Sending from, Queue.Receiving to) {
        return IntStream.range(0, to.data.size())
                .filter(i -> to.producers.get(i) == from.producer.id())
                .mapToObj(i -> (int) to.data.get(i)[0])
                .toList();
    }

    @Clause({"cc-035", "cc-118"})
    @Test
    void shouldNotFindConsumerOfAnotherConnectionOrUnknownOne() {
        ComchConnection first = pair.server().connection();
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        card.until("two", () -> pair.server().connection() != first);
        Queue.Receiving stopped = receiving(second, 4096, 1);
        Queue.Receiving ofSecond = receiving(second, 4096, 1);
        Peer.stop(card, stopped.consumer); // had the id of the other connection's consumer
        Queue.Receiving ofFirst = receiving(pair.client(), 4096, 1);
        ofFirst.post(0, 64);
        ofSecond.post(0, 64);
        Queue.Sending toSecond = sending(pair.server(), 4096, 1);
        pair.server().connection = first;
        Queue.Sending toFirst = sending(pair.server(), 4096, 1);
        for (int id : new int[] {ofSecond.consumer.id(), 0, -1, 77, 257, Integer.MAX_VALUE}) {
            assertThat(toFirst.send(id, pattern(8), NOTHING)).isEqualTo(Status.NOT_FOUND);
        }
        assertThat(toSecond.send(ofFirst.consumer.id(), pattern(8), NOTHING))
                .isEqualTo(Status.NOT_FOUND);
        card.settle();
        assertThat(ofFirst.statuses).isEmpty();
        assertThat(ofSecond.statuses).isEmpty();
        assertThat(toFirst.send(ofFirst.consumer.id(), pattern(8), NOTHING))
                .isEqualTo(Status.SUCCESS);
        assertThat(toSecond.send(ofSecond.consumer.id(), pattern(8), NOTHING))
                .isEqualTo(Status.SUCCESS);
    }

    @Clause("cc-118")
    @Test
    void shouldSendToTheConsumerThatTheTaskNamesLast() {
        Queue.Receiving named = receiving(pair.server(), 4096, 1);
        Queue.Receiving instead = receiving(pair.server(), 4096, 1);
        named.post(0, 64);
        instead.post(0, 64);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        Buf buf = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, 8);
        ComchProducerSendTask task = sending.producer.allocateSendTask(buf, named.consumer.id());
        assertThat(task.consumerId()).isEqualTo(named.consumer.id());
        task.setConsumerId(instead.consumer.id());
        assertThat(task.consumerId()).isEqualTo(instead.consumer.id());
        task.submit();
        card.until("received", () -> !instead.statuses.isEmpty());
        card.settle();
        assertThat(named.statuses).isEmpty();
    }

    @Clause("cc-118")
    @Test
    void shouldNotSendToConsumerThatHasGone() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 1);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        int id = receiving.consumer.id();
        receiving.post(0, 100);
        sending.send(id, pattern(10), NOTHING);
        card.until("received", () -> !receiving.statuses.isEmpty());
        Peer.stop(card, receiving.consumer);
        Buf buf = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, 10);
        buf.retain();
        assertThat(sending.send(id, buf, NOTHING)).isEqualTo(Status.NOT_FOUND);
        assertThat(buf.dataLength()).isEqualTo(10);
        buf.resetDataLength(); // not in flight
        buf.release();
    }

    @Clause("cc-118")
    @Test
    void shouldNotSendToConsumerWhoseEndTheProducerHasNotSeen() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        int id = receiving.consumer.id();
        ProgressEngine apart = card.keep(ProgressEngine.create());
        Queue.Sending sending = new Queue.Sending(pair.client(), apart, 4096, 1);
        sending.producer.start();
        untilWith(apart, () -> sending.producer.state() == ContextState.RUNNING);
        receiving.post(0, 100);
        receiving.post(100, 100);
        sending.send(id, pattern(10), NOTHING);
        untilWith(apart, () -> !sending.statuses.isEmpty());
        receiving.consumer.stop();
        card.until("expired", () -> pair.client().events.contains("expired " + id));
        assertThat(sending.send(id, pattern(10), NOTHING)).isEqualTo(Status.NOT_FOUND);
        sending.producer.stop();
        untilWith(apart, () -> sending.producer.state() == ContextState.IDLE);
    }

    private void untilWith(ProgressEngine engine, BooleanSupplier condition) {
        card.until(
                "with its engine",
                () -> {
                    engine.progress();
                    return condition.getAsBoolean();
                });
    }

    @Clause("cc-034")
    @Test
    void shouldKeepTheOrderOfLargeAndSmallSends() {
        Queue.Receiving receiving = receiving(pair.server(), 6 * MIB, 4);
        Queue.Sending sending = sending(pair.client(), 4 * MIB, 4);
        receiving.post(0, 2 * MIB);
        receiving.post(2 * MIB, 2 * MIB);
        receiving.post(5 * MIB, 64);
        byte[] large = pattern(2 * MIB);
        sending.send(receiving.consumer.id(), large, new byte[] {1});
        Buf next = sending.memory.inventory().bufByData(sending.memory.mmap(), MIB, MIB);
        sending.send(receiving.consumer.id(), next, new byte[] {2});
        Buf small = sending.memory.inventory().bufByData(sending.memory.mmap(), 3 * MIB, 10);
        sending.send(receiving.consumer.id(), small, new byte[] {3});
        card.hostEngine.progress(); // 256 KiB of the first are there now, and the small one is
        card.dpuEngine.progress();
        assertThat(receiving.statuses).isEmpty();
        card.until("all", () -> receiving.statuses.size() == 3);
        assertThat(receiving.immediates)
                .containsExactly(new byte[] {1}, new byte[] {2}, new byte[] {3});
        assertThat(receiving.data.get(0)).isEqualTo(large);
        assertThat(receiving.data.get(1)).hasSize(MIB);
        assertThat(receiving.data.get(2)).hasSize(10);
    }
}
