package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** Destination of sends: which consumer, and which of its buffers. */
class FastPathOrderTest extends FastPathFixture {
    @Clause({"cc-036", "cc-120"})
    @Test
    void shouldFillPostedBuffersInTheirOrder() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 3);
        Queue.Receiving another = receiving(pair.server(), 4096, 1);
        Queue.Sending sending = sending(pair.client(), 4096, 3);
        another.post(0, 1024);
        long[] places = {2048, 0, 1024}; // neither by address nor by size
        for (long place : places) {
            receiving.post(place, 1024 - place / 8);
        }
        for (int i = 0; i < 3; i++) {
            // On both sides of what fits into a slot.
            Buf buf = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, 8 + i * 60L);
            sending.memory.shared().segment().set(ValueLayout.JAVA_BYTE, 0, (byte) (i + 1));
            assertThat(sending.send(receiving.consumer.id(), buf, NOTHING))
                    .isEqualTo(Status.SUCCESS);
            int sent = i + 1;
            card.until("sent", () -> sending.statuses.size() == sent);
        }
        card.until("received", () -> receiving.data.size() == 3);
        assertThat(receiving.data)
                .extracting(bytes -> bytes[0])
                .containsExactly((byte) 1, (byte) 2, (byte) 3);
        for (int i = 0; i < 3; i++) {
            assertThat(receiving.memory.shared().segment().get(ValueLayout.JAVA_BYTE, places[i]))
                    .as("buffer %d", i)
                    .isEqualTo((byte) (i + 1));
        }
        assertThat(another.data).isEmpty();
    }

    @Clause({"cc-014", "cc-016", "cc-121"})
    @Test
    void shouldKeepOrderOfEachProducerAndTellConsumersApart() {
        Queue.Receiving left = receiving(pair.server(), 64 * 1024, 64);
        Queue.Receiving right = receiving(pair.server(), 64 * 1024, 64);
        Queue.Sending one = sending(pair.client(), 4096, 64);
        Queue.Sending two = sending(pair.client(), 4096, 64);
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
        for (Queue.Receiving receiving : new Queue.Receiving[] {left, right}) {
            assertThat(receiving.data).hasSize(20);
            for (Queue.Sending from : new Queue.Sending[] {one, two}) {
                int last = -1;
                for (int i = 0; i < 20; i++) {
                    if (receiving.producers.get(i) == from.producer.id()) {
                        int number = receiving.data.get(i)[0];
                        assertThat(number).isGreaterThan(last);
                        assertThat(number % 2).isEqualTo(from == one ? 0 : 1);
                        assertThat(number % 4 < 2).isEqualTo(receiving == left);
                        last = number;
                    }
                }
            }
        }
        assertThat(one.producer.id()).isNotEqualTo(two.producer.id());
    }

    @Clause({"cc-035", "cc-118"})
    @Test
    void shouldNotFindConsumerOfAnotherConnectionOrUnknownOne() {
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        card.until("two", () -> ((ComchServer) pair.server().endpoint).connections().size() == 2);
        receiving(second, 4096, 1);
        Queue.Receiving third = receiving(second, 4096, 1);
        Queue.Receiving known = receiving(pair.client(), 4096, 1);
        known.post(0, 64);
        Queue.Sending sending = sending(pair.server(), 4096, 1);
        pair.server().connection = ((ComchServer) pair.server().endpoint).connections().getFirst();
        Queue.Sending onFirst = sending(pair.server(), 4096, 1);
        for (int id : new int[] {third.consumer.id(), 0, -1, 77, Integer.MAX_VALUE}) {
            assertThat(onFirst.send(id, pattern(8), NOTHING)).isEqualTo(Status.NOT_FOUND);
        }
        assertThat(sending.producer.connection()).isNotSameAs(onFirst.producer.connection());
        card.settle();
        assertThat(known.statuses).isEmpty();
        assertThat(onFirst.send(known.consumer.id(), pattern(8), NOTHING))
                .isEqualTo(Status.SUCCESS);
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

    @Clause("cc-034")
    @Test
    void shouldLetSmallSendsWaitBehindLargeOne() {
        Queue.Receiving receiving = receiving(pair.server(), 4 * MIB, 4);
        Queue.Sending sending = sending(pair.client(), 4 * MIB, 4);
        receiving.post(0, 2 * MIB);
        receiving.post(3 * MIB, 64);
        byte[] large = pattern(2 * MIB);
        sending.send(receiving.consumer.id(), large, new byte[] {1});
        Buf small = sending.memory.inventory().bufByData(sending.memory.mmap(), 3 * MIB, 10);
        sending.send(receiving.consumer.id(), small, new byte[] {2});
        card.hostEngine.progress(); // 256 KiB of the large one are there now, and the small one is
        card.dpuEngine.progress();
        assertThat(receiving.statuses).isEmpty();
        card.until("both", () -> receiving.statuses.size() == 2);
        assertThat(receiving.immediates.get(0)).containsExactly(1);
        assertThat(receiving.data.get(0)).isEqualTo(large);
        assertThat(receiving.immediates.get(1)).containsExactly(2);
    }
}
