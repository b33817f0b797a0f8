package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Producers that wait for buffers of one consumer, driven by one thread over a ring. */
class CreditQueueTest {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(64);

    private final MemorySegment memory = Arena.ofAuto().allocate(GEOMETRY.sizeBytes(), 64);
    private final FastPathConsumer consumer = FastPathRing.consumer(memory, GEOMETRY);
    private final FastPathProducer ring = FastPathRing.producer(memory, GEOMETRY);
    private final List<Integer> woken = new ArrayList<>();
    private long nowNanos = 1;
    private final CreditQueue queue = new CreditQueue(ring, () -> nowNanos);
    private final List<CreditWaiter> producers =
            IntStream.range(0, 4)
                    .mapToObj(i -> new CreditWaiter(queue, () -> woken.add(i)))
                    .toList();

    @Test
    void shouldLetAnyClaimWhileNoneWaits() {
        assertThat(sends(0)).as("nothing posted").isFalse();
        post(2);

        assertThat(sends(0)).isTrue();
        assertThat(sends(1)).isTrue();
    }

    @Test
    void shouldKeepEachBufferForTheProducerThatWaitsLongest() {
        findNone(2, 0, 3);

        for (int next : new int[] {2, 0, 3}) {
            post(1);
            for (int other = 0; other < 4; other++) {
                if (other != next) {
                    assertThat(sends(other)).as("%d before %d", other, next).isFalse();
                }
            }
            assertThat(sends(next)).isTrue();
        }
        post(1);
        assertThat(sends(2)).as("the first of those that were refused is 1").isFalse();
        assertThat(sends(1)).isTrue();
    }

    @Test
    void shouldServeEachBeforeAnyOtherTwice() {
        findNone(0, 1, 2, 3);
        List<Integer> served = new ArrayList<>();

        for (int round = 0; round < 40; round++) {
            post(1);
            int before = served.size();
            for (int turn = 0; turn < 4; turn++) {
                int i = (round * 7 + turn * 3) % 4; // any order
                if (sends(i)) {
                    served.add(i);
                }
            }
            assertThat(served).as("round %d", round).hasSize(before + 1);
        }
        for (int i = 0; i + 4 <= served.size(); i++) {
            assertThat(served.subList(i, i + 4)).as("from %d", i).doesNotHaveDuplicates();
        }
    }

    @Test
    void shouldLetOthersClaimTheBuffersThatAreKeptForNone() {
        findNone(0, 1);
        post(3);

        assertThat(sends(2)).isTrue();
        assertThat(sends(3)).as("both left are kept").isFalse();
        assertThat(sends(1)).as("not the first, but one is kept for it").isTrue();
        assertThat(sends(0)).isTrue();
    }

    @Test
    void shouldReportABufferOnceInProgress() {
        findNone(0, 1);
        assertThat(producers.get(0).progress()).isFalse();
        post(1);

        assertThat(producers.get(1).progress()).as("it is kept for the other").isFalse();
        assertThat(producers.get(0).progress()).isTrue();
        assertThat(producers.get(0).progress()).isFalse();
    }

    @Test
    void shouldWakeAsManyAsThereAreBuffersInTheirOrder() {
        findNone(3, 1, 0);
        sleep(0, 1, 3);
        post(2);
        assertThat(consumer.peerArmed()).isTrue();

        queue.wakeWaiters();

        assertThat(woken).containsExactly(3, 1);
        assertThat(consumer.peerArmed()).as("one sleeps still").isTrue();
    }

    @Test
    void shouldWakeTheNextWhenOneThatWaitsGivesUp() {
        findNone(0, 1);
        sleep(1);
        post(1);

        producers.get(0).end();

        assertThat(woken).containsExactly(1);
    }

    @Test
    void shouldNotSleepBesideABuffer() {
        findNone(0, 1);
        post(1);

        assertThat(producers.get(0).arm()).isTrue();
        assertThat(producers.get(1).arm()).isFalse();
    }

    @Test
    void shouldNotTakeADoorbellFromOthersThatSleep() {
        findNone(0, 1);
        sleep(0, 1);

        producers.get(0).disarm();
        assertThat(consumer.peerArmed()).isTrue();

        sleep(1);
        producers.get(0).end();
        producers.get(1).disarm();
        assertThat(consumer.peerArmed()).as("none sleeps").isFalse();
    }

    @Test
    void shouldWakeAllWhenTheConsumerStops() {
        findNone(0, 1, 2);
        sleep(0, 1, 2);
        consumer.close();

        queue.wakeWaiters();

        assertThat(woken).containsExactly(0, 1, 2);
        assertThat(producers).allSatisfy(producer -> assertThat(producer.mayClaim()).isTrue());
    }

    @Test
    void shouldGiveABufferToOthersThatIsNotClaimedForLong() {
        findNone(0, 1);
        post(1);
        assertThat(sends(1)).isFalse();
        assertThat(producers.get(1).isBehindOthers()).isTrue();
        nowNanos += CreditQueue.KEEP_NANOS - 1;
        assertThat(sends(1)).isFalse();
        nowNanos++;

        assertThat(sends(1)).isTrue();

        post(1);
        assertThat(sends(0)).as("it takes part again").isTrue();
    }

    @Test
    void shouldMakeRoomForOthersWhereAReportedBufferIsNotClaimed() {
        findNone(0, 1);
        post(1);
        assertThat(producers.get(0).progress()).isTrue();

        for (int pass = 0; producers.get(0).isWaiting(); pass++) {
            assertThat(pass).isLessThan(1000);
            assertThat(sends(1)).isFalse();
            producers.get(0).progress();
        }
        assertThat(sends(1)).isTrue();
    }

    @Test
    void shouldRefuseOneSleepBesideAReportedBufferThenMakeRoom() {
        findNone(0, 1);
        post(1);
        assertThat(producers.get(0).progress()).isTrue();

        assertThat(producers.get(0).arm()).isTrue();
        assertThat(producers.get(0).arm()).isFalse();
        assertThat(producers.get(0).isWaiting()).isFalse();
        assertThat(sends(1)).isTrue();
    }

    /** Places are numbers that grow; their entries are used again. */
    @Test
    void shouldServeInOrderHoweverManyHaveWaitedBefore() {
        for (int i = 0; i < 5000; i++) {
            findNone(i % 4, (i + 1) % 4);
            post(1);
            assertThat(sends((i + 1) % 4)).isFalse();
            assertThat(sends(i % 4)).isTrue();
            post(1);
            assertThat(sends((i + 1) % 4)).isTrue();
            complete(2);
        }
    }

    private void findNone(int... numbers) {
        for (int i : numbers) {
            assertThat(sends(i)).as("no buffer for %d", i).isFalse();
        }
    }

    private void sleep(int... numbers) {
        for (int i : numbers) {
            assertThat(producers.get(i).arm()).as("work for %d", i).isFalse();
        }
    }

    private void post(int buffers) {
        for (int i = 0; i < buffers; i++) {
            assertThat(consumer.post(0, 64)).isTrue();
        }
    }

    private void complete(int buffers) {
        for (int i = 0; i < buffers; i++) {
            assertThat(consumer.poll()).isEqualTo(1);
            consumer.release();
        }
    }

    /** A submission of one producer, as the context makes it. */
    private boolean sends(int number) {
        CreditWaiter producer = producers.get(number);
        long ticket = producer.mayClaim() ? ring.claim(8) : FastPathRing.NO_BUFFER;
        if (ticket == FastPathRing.NO_BUFFER) {
            producer.begin();
            return false;
        }
        assertThat(ticket).isNotNegative();
        producer.end();
        ring.commit(ticket, 8, number + 1, 0, true);
        return true;
    }
}
