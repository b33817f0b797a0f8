package io.softdpu.fabric.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.Soak;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FastPathRingTest {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(4);
    private static final long POSTED_INDEX = 256;
    private static final long FIRST_SLOT = 1024 + 4 * 16;

    private final MemorySegment memory =
            Arena.ofAuto().allocate(GEOMETRY.sizeBytes(), 64).fill((byte) 0xa5);
    private final FastPathConsumer consumer = FastPathRing.consumer(memory, GEOMETRY);
    private final FastPathProducer producer = FastPathRing.producer(memory, GEOMETRY);

    @Test
    void shouldCompletePostedBuffersInTheirOrder() {
        consumer.post(0, 100);
        consumer.post(4096, 200);
        long first = producer.claim(64);
        long second = producer.claim(200);
        assertThat(producer.regionOffset(second)).isEqualTo(4096);
        producer.commit(second, 200, 8, 0, false);
        assertThat(consumer.poll()).as("the first is not done yet").isZero();
        memory.set(ValueLayout.JAVA_BYTE, producer.inlineOffset(first) + 63, (byte) 42);
        memory.set(ValueLayout.JAVA_BYTE, producer.immediateOffset(first) + 31, (byte) 43);
        producer.commit(first, 64, 7, 32, true);

        assertThat(consumer.poll()).isEqualTo(1);
        assertThat(consumer.isInline()).isTrue();
        assertThat(consumer.length()).isEqualTo(64);
        assertThat(consumer.producerId()).isEqualTo(7);
        assertThat(consumer.immediateLength()).isEqualTo(32);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, consumer.inlineOffset() + 63))
                .isEqualTo((byte) 42);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, consumer.immediateOffset() + 31))
                .isEqualTo((byte) 43);
        consumer.release();
        assertThat(consumer.poll()).isEqualTo(1);
        assertThat(consumer.isInline()).isFalse();
        assertThat(consumer.length()).isEqualTo(200);
        consumer.release();
        assertThat(consumer.poll()).isZero();
        assertThat(consumer.outstanding()).isZero();
    }

    @Test
    void shouldRefuseToClaimWhatIsNotPostedTooSmallOrClosing() {
        assertThat(producer.claim(1)).isEqualTo(FastPathRing.NO_BUFFER);
        consumer.post(0, 10);
        assertThat(producer.claim(11)).isEqualTo(FastPathRing.TOO_LARGE);
        assertThat(producer.claim(10)).isZero();
        consumer.close();
        assertThat(producer.claim(1)).isEqualTo(FastPathRing.CLOSING);
    }

    @Test
    void shouldClaimSeveralBuffersAtOnce() {
        for (int i = 0; i < 3; i++) {
            consumer.post(i * 4096L, 100 + i);
        }
        long first = producer.nextTicket();
        assertThat(producer.check(first, first, 100)).isEqualTo(first);
        assertThat(producer.check(first, first + 1, 101)).isEqualTo(first + 1);
        assertThat(producer.check(first, first + 2, 103)).isEqualTo(FastPathRing.TOO_LARGE);
        assertThat(producer.check(first, first + 3, 1)).isEqualTo(FastPathRing.NO_BUFFER);
        assertThat(producer.nextTicket()).as("nothing is claimed by looking").isEqualTo(first);

        assertThat(producer.claim(first, first + 2)).isTrue();

        assertThat(producer.regionOffset(first + 1)).isEqualTo(4096);
        assertThat(producer.claim(102)).isEqualTo(first + 2);
        assertThat(producer.claim(first, first + 1)).as("claimed by others").isFalse();
        assertThat(producer.nextTicket()).isEqualTo(first + 3);
    }

    @Test
    void shouldTellThatAnotherThreadHasClaimedWhatIsLookedAt() {
        consumer.post(0, 10);
        long first = producer.nextTicket();
        assertThat(producer.claim(1)).isEqualTo(first);
        consumer.beginBatch();
        for (int i = 0; i < 3; i++) {
            consumer.post(0, 10);
        }
        consumer.endBatch();
        assertThat(producer.claim(1)).isEqualTo(first + 1);
        assertThat(producer.check(first, first, 11)).isEqualTo(FastPathRing.TAKEN);
        assertThat(producer.claim(11)).isEqualTo(FastPathRing.TOO_LARGE);
    }

    @Test
    void shouldCallAPostingIndexBeyondTheSlotsCorruptAlsoForALaterTicket() {
        consumer.post(0, 10);
        long first = producer.nextTicket();
        assertThat(producer.check(first, first, 1)).isEqualTo(first);
        memory.set(ValueLayout.JAVA_LONG, POSTED_INDEX, 5);
        assertThat(producer.check(first, first + 1, 1)).isEqualTo(FastPathRing.CORRUPT);
        assertThat(producer.violation()).contains("posted index");
    }

    @Test
    void shouldPostNoMoreThanItHasSlots() {
        for (int i = 0; i < 4; i++) {
            assertThat(consumer.post(i, 1)).isTrue();
        }
        assertThat(consumer.post(9, 1)).isFalse();
        assertThat(consumer.outstanding()).isEqualTo(4);
    }

    @Test
    void shouldPublishThePostingsOfABatchTogether() {
        consumer.beginBatch();
        consumer.post(0, 10);
        consumer.post(0, 10);
        assertThat(producer.claim(1)).isEqualTo(FastPathRing.NO_BUFFER);
        consumer.endBatch();

        assertThat(producer.available()).isEqualTo(2);
        consumer.post(0, 10);
        assertThat(producer.available()).as("after the batch each by itself").isEqualTo(3);
    }

    @Test
    void shouldPublishALongBatchInParts() {
        FastPathRing.Geometry large = new FastPathRing.Geometry(64);
        MemorySegment ring = Arena.ofAuto().allocate(large.sizeBytes(), 64);
        FastPathConsumer many = FastPathRing.consumer(ring, large);
        FastPathProducer sender = FastPathRing.producer(ring, large);
        many.beginBatch();
        for (int i = 0; i < 63; i++) {
            many.post(i, 1);
        }

        assertThat(sender.available()).isEqualTo(48);
    }

    /** A posting that equals the previous one of its slot is not written again. */
    @Test
    void shouldPostOtherBuffersInEachRound() {
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 4; i++) {
                consumer.post(round == 1 ? 8L * i : 0, round == 2 ? 7 : 10);
            }
            for (int i = 0; i < 4; i++) {
                assertThat(producer.claim(round == 2 ? 8 : 10))
                        .isEqualTo(round == 2 ? FastPathRing.TOO_LARGE : 4 * round + i);
                if (round < 2) {
                    assertThat(producer.regionOffset(4 * round + i))
                            .isEqualTo(round == 1 ? 8L * i : 0);
                    producer.commit(4 * round + i, 1, 1, 0, false);
                    assertThat(consumer.poll()).isEqualTo(1);
                    consumer.release();
                }
            }
        }
    }

    @Test
    void shouldCountTheBuffersThatNoneHasClaimed() {
        assertThat(producer.available()).isZero();
        consumer.post(0, 10);
        consumer.post(0, 10);
        assertThat(producer.available()).isEqualTo(2);
        producer.claim(1);
        assertThat(producer.available()).isEqualTo(1);
    }

    @Test
    void shouldCountAnIndexOutOfRangeAsAFullRing() {
        for (long index : new long[] {-1, 5, Long.MAX_VALUE}) {
            memory.set(ValueLayout.JAVA_LONG, POSTED_INDEX, index);
            assertThat(producer.available()).as("index %d", index).isEqualTo(4);
        }
        assertThat(producer.claim(1)).isEqualTo(FastPathRing.CORRUPT);
    }

    @Test
    void shouldAskForProducersAfterHalfOfTheRingOrWhenIdle() {
        assertThat(consumer.isPeerToBeAsked(true)).as("nothing posted").isFalse();
        consumer.post(0, 10);
        assertThat(consumer.isPeerToBeAsked(false)).isFalse();
        assertThat(consumer.isPeerToBeAsked(true)).isTrue();
        consumer.post(0, 10);
        assertThat(consumer.isPeerToBeAsked(false)).as("half of the ring").isTrue();

        assertThat(consumer.peerArmed()).isFalse();
        assertThat(consumer.isPeerToBeAsked(true)).as("asked since").isFalse();
    }

    @Test
    void shouldWakeAProducerThatHasArmedOnce() {
        producer.arm();
        consumer.post(0, 10);
        assertThat(consumer.peerArmed()).isTrue();
        assertThat(consumer.peerArmed()).isFalse();
        producer.arm();
        producer.disarm();
        assertThat(consumer.peerArmed()).isFalse();
    }

    @Test
    void shouldLetTheConsumerGoOnAfterAnAbandonedSlot() {
        consumer.post(0, 10);
        consumer.post(1, 10);
        producer.abandon(producer.claim(5), 3);
        producer.commit(producer.claim(5), 5, 3, 0, false);
        assertThat(consumer.poll()).isEqualTo(1);
        assertThat(consumer.isAbandoned()).isTrue();
        consumer.release();
        assertThat(consumer.poll()).isEqualTo(1);
        assertThat(consumer.isAbandoned()).isFalse();
    }

    @Test
    void shouldCallImpossibleHeadersCorrupt() {
        long[][] attacks = {
            {8, 11, 8}, {8, -1, 8}, {20, 33, 1}, {21, 4, 1}, {8, 65, 8},
        };
        for (long[] attack : attacks) {
            MemorySegment own = Arena.ofAuto().allocate(GEOMETRY.sizeBytes(), 64);
            FastPathConsumer victim = FastPathRing.consumer(own, GEOMETRY);
            FastPathProducer attacker = FastPathRing.producer(own, GEOMETRY);
            victim.post(0, attack[1] == 65 ? 100 : 10);
            attacker.commit(attacker.claim(1), 1, 0, 0, true);
            if (attack[2] == 8) {
                own.set(ValueLayout.JAVA_LONG, FIRST_SLOT + attack[0], attack[1]);
            } else {
                own.set(ValueLayout.JAVA_BYTE, FIRST_SLOT + attack[0], (byte) attack[1]);
            }
            assertThat(victim.poll()).isEqualTo((int) FastPathRing.CORRUPT);
            assertThat(victim.arm()).isTrue();
        }
    }

    @Test
    void shouldKeepToThePostedCapacityWhateverThePeerMakesOfThePosting() {
        consumer.post(0, 10);
        memory.set(ValueLayout.JAVA_LONG, 1024 + 8, 1_000_000);
        producer.commit(producer.claim(500), 500, 0, 0, false);
        assertThat(consumer.poll()).isEqualTo((int) FastPathRing.CORRUPT);
    }

    @Test
    void shouldCallAnImpossiblePostingIndexCorrupt() {
        memory.set(ValueLayout.JAVA_LONG, 256, 5);
        assertThat(producer.claim(1)).isEqualTo(FastPathRing.CORRUPT);
        memory.set(ValueLayout.JAVA_LONG, 256, 0);
        assertThat(producer.claim(1)).as("stays so").isEqualTo(FastPathRing.CORRUPT);
    }

    @Test
    void shouldCallANegativeCapacityCorrupt() {
        consumer.post(0, 10);
        memory.set(ValueLayout.JAVA_LONG, 1024 + 8, -1);
        assertThat(producer.claim(0)).isEqualTo(FastPathRing.CORRUPT);
        assertThat(producer.violation()).contains("posting capacity").contains("seen=-1");
    }

    @Test
    void shouldSayWhichWordOfThePeerWasWrongAndWhatWasExpected() {
        assertThat(producer.violation()).isNull();
        consumer.post(0, 100);
        producer.commit(producer.claim(1), 1, 0, 0, true);
        memory.set(ValueLayout.JAVA_LONG, FIRST_SLOT + 8, 65);
        assertThat(consumer.violation()).isNull();
        consumer.poll();
        assertThat(consumer.violation())
                .isEqualTo("slot length out of range: seen=65, expected=0 to 64");
        memory.set(ValueLayout.JAVA_LONG, 256, 6);
        producer.claim(1);
        assertThat(producer.violation())
                .isEqualTo("posted index out of range: seen=6, expected=1 to 5");
    }

    @Test
    void shouldReleaseABufferOnce() {
        consumer.post(0, 100);
        long ticket = producer.claim(70);
        assertThat(consumer.poll()).isZero();
        producer.abandon(ticket, 0);
        assertThat(consumer.poll()).isEqualTo(1);
        consumer.release();
        assertThatThrownBy(consumer::release).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldIgnoreAStampOfAnotherLap() {
        consumer.post(0, 10);
        memory.set(ValueLayout.JAVA_LONG, FIRST_SLOT, 99);
        assertThat(consumer.poll()).isZero();
    }

    @Test
    void shouldPlaceEveryWordWhereTheDocumentSays() {
        consumer.post(0x1234, 0x64);
        long ticket = producer.claim(3);
        producer.commit(ticket, 3, 0x0a0b0c0d, 5, true);
        assertThat(memory.get(ValueLayout.JAVA_INT, 12)).isEqualTo(2);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 256)).isEqualTo(1);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 1024)).isEqualTo(0x1234);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 1032)).isEqualTo(0x64);
        assertThat(memory.get(ValueLayout.JAVA_LONG, FIRST_SLOT)).isEqualTo(1);
        assertThat(memory.get(ValueLayout.JAVA_LONG, FIRST_SLOT + 8)).isEqualTo(3);
        assertThat(memory.get(ValueLayout.JAVA_INT, FIRST_SLOT + 16)).isEqualTo(0x0a0b0c0d);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, FIRST_SLOT + 20)).isEqualTo((byte) 5);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, FIRST_SLOT + 21)).isEqualTo((byte) 1);
        assertThat(producer.inlineOffset(ticket)).isEqualTo(FIRST_SLOT + 24);
        assertThat(producer.immediateOffset(ticket)).isEqualTo(FIRST_SLOT + 88);
        assertThat(GEOMETRY.sizeBytes()).isEqualTo(FIRST_SLOT + 4 * 128);
    }

    @Test
    void shouldGiveEachPostingToOneOfSeveralProducers() throws InterruptedException {
        int rounds = Soak.count(2_000, 10_000, 10_000);
        AtomicLong sum = new AtomicLong();
        Runnable work =
                () -> {
                    long sent = 0;
                    while (sent < rounds) {
                        long ticket = producer.claim(8);
                        if (ticket < 0) {
                            Thread.yield(); // with fewer cores than threads a spin keeps the
                            // consumer away
                            continue;
                        }
                        memory.set(
                                ValueLayout.JAVA_LONG_UNALIGNED,
                                producer.inlineOffset(ticket),
                                ticket);
                        producer.commit(ticket, 8, 1, 0, true);
                        sent++;
                        sum.addAndGet(ticket);
                    }
                };
        Thread one = new Thread(work);
        Thread two = new Thread(work);
        one.start();
        two.start();
        for (long expected = 0; expected < 2L * rounds; ) {
            consumer.post(expected, 8);
            if (consumer.poll() == 1) {
                assertThat(memory.get(ValueLayout.JAVA_LONG_UNALIGNED, consumer.inlineOffset()))
                        .isEqualTo(expected++);
                consumer.release();
            } else {
                Thread.yield();
            }
        }
        one.join();
        two.join();
        assertThat(sum.get()).isEqualTo((2L * rounds - 1) * rounds);
    }
}
