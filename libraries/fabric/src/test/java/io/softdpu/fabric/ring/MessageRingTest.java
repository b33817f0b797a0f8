package io.softdpu.fabric.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageRingTest {
    private static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(4, 100);

    private final MemorySegment memory =
            Arena.ofAuto().allocate(GEOMETRY.sizeBytes(), 64).fill((byte) 0xa5);
    private final MessageRing.Consumer consumer = MessageRing.consumer(memory, GEOMETRY);
    private final MessageRing.Producer producer = MessageRing.producer(memory, GEOMETRY);

    private void send(int type, int length, long word) {
        long offset = producer.claim();
        assertThat(offset).isNotNegative();
        for (int i = 0; i < length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, offset + i, (byte) (i + type));
        }
        producer.commit(type, length, word);
    }

    @Test
    void shouldKeepOrderHeaderAndBytesOverManyLaps() {
        for (int lap = 0; lap < 50; lap++) {
            send(lap, lap, 1000L + lap);
            send(lap + 1, 100, -lap);
            for (int i = 0; i < 2; i++) {
                long offset = consumer.poll();
                assertThat(offset).isNotNegative();
                assertThat(consumer.type()).isEqualTo(lap + i);
                assertThat(consumer.length()).isEqualTo(i == 0 ? lap : 100);
                assertThat(consumer.word()).isEqualTo(i == 0 ? 1000L + lap : -lap);
                for (int k = 0; k < consumer.length(); k++) {
                    assertThat(memory.get(ValueLayout.JAVA_BYTE, offset + k))
                            .isEqualTo((byte) (k + lap + i));
                }
                consumer.release();
            }
            assertThat(consumer.poll()).isEqualTo(MessageRing.EMPTY);
        }
        assertThat(producer.consumed()).isEqualTo(100);
    }

    @Test
    void shouldSayFullUntilTheConsumerReleases() {
        for (int i = 0; i < 4; i++) {
            send(i, 0, 0);
        }
        assertThat(producer.claim()).isEqualTo(MessageRing.FULL);
        consumer.poll();
        assertThat(producer.claim()).isEqualTo(MessageRing.FULL);
        consumer.release();
        assertThat(producer.claim()).isNotNegative();
        assertThat(producer.free()).isEqualTo(1);
    }

    @Test
    void shouldGiveTheSameMessageAgainUntilReleased() {
        send(7, 3, 9);
        long first = consumer.poll();
        // the peer changes the header afterwards: what was checked stays what is used
        memory.set(ValueLayout.JAVA_INT, first - MessageRing.HEADER_BYTES, 1 << 30);
        assertThat(consumer.poll()).isEqualTo(first);
        assertThat(consumer.length()).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 0, 1, 2, 4, 6})
    void shouldTakeNothingForTheNextMessageButItsStamp(long stamp) {
        send(0, 0, 0);
        send(1, 0, 0);
        for (int i = 0; i < 2; i++) {
            consumer.poll();
            consumer.release();
        }
        long slot = producer.claim() - MessageRing.HEADER_BYTES;
        memory.set(ValueLayout.JAVA_LONG, slot + 16, stamp);
        assertThat(consumer.poll()).isEqualTo(MessageRing.EMPTY);
        assertThat(consumer.arm()).isFalse();
        assertThat(consumer.corrupt()).isFalse();
        send(2, 0, 0);
        assertThat(consumer.poll()).isEqualTo(slot + MessageRing.HEADER_BYTES);
        assertThat(consumer.type()).isEqualTo(2);
    }

    @Test
    void shouldFindNoMessageInMemoryThatWasARingBefore() {
        for (int i = 0; i < 4; i++) {
            send(i, 0, 0);
        }
        MessageRing.Consumer second = MessageRing.consumer(memory, GEOMETRY);
        assertThat(second.poll()).isEqualTo(MessageRing.EMPTY);
        assertThat(second.arm()).isFalse();
    }

    @Test
    void shouldStayCorrupt() {
        send(0, 0, 0);
        memory.set(ValueLayout.JAVA_INT, RingLayout.SLOTS_START, 101);
        assertThat(consumer.poll()).isEqualTo(MessageRing.CORRUPT);
        memory.set(ValueLayout.JAVA_INT, RingLayout.SLOTS_START, 100);
        assertThat(consumer.poll()).isEqualTo(MessageRing.CORRUPT);
        memory.set(ValueLayout.JAVA_LONG, RingLayout.SLOTS_START + 16, 0);
        assertThat(consumer.poll()).isEqualTo(MessageRing.CORRUPT);
        assertThat(consumer.arm()).as("a corrupt ring must not put the engine to sleep").isTrue();
    }

    @Test
    void shouldCallALengthBeyondTheSlotCorrupt() {
        send(0, 0, 0);
        memory.set(ValueLayout.JAVA_INT, RingLayout.SLOTS_START, 101);
        assertThat(consumer.poll()).isEqualTo(MessageRing.CORRUPT);
        assertThat(consumer.corrupt()).isTrue();
    }

    @Test
    void shouldCallANegativeLengthCorrupt() {
        send(0, 0, 0);
        memory.set(ValueLayout.JAVA_INT, RingLayout.SLOTS_START, -1);
        assertThat(consumer.poll()).isEqualTo(MessageRing.CORRUPT);
    }

    @Test
    void shouldCallAnImpossibleReleaseIndexCorrupt() {
        send(0, 0, 0);
        memory.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED_OFFSET, 2);
        assertThat(producer.consumed()).isEqualTo(MessageRing.CORRUPT);
        assertThat(producer.free()).isZero();
        assertThat(producer.corrupt()).isTrue();
    }

    @Test
    void shouldSayWhichWordOfThePeerWasWrongAndWhatWasExpected() {
        assertThat(consumer.violation()).isNull();
        assertThat(producer.violation()).isNull();
        send(0, 0, 0);
        memory.set(ValueLayout.JAVA_INT, RingLayout.SLOTS_START, 101);
        consumer.poll();
        assertThat(consumer.violation())
                .isEqualTo("slot length out of range: seen=101, expected=0 to 100");
        memory.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED_OFFSET, 9);
        producer.free();
        assertThat(producer.violation())
                .isEqualTo("consumed index out of range: seen=9, expected=0 to 1");
        memory.set(ValueLayout.JAVA_INT, RingLayout.SLOTS_START, 102);
        consumer.poll();
        assertThat(consumer.violation()).as("the first counts").contains("seen=101,");
    }

    @Test
    void shouldNotPublishWhatThePeerWouldBreakTheConnectionOver() {
        producer.claim();
        assertThatThrownBy(() -> producer.commit(0, 101, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("given=101, expected=0 to 100");
        assertThatThrownBy(() -> producer.commit(0, -1, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(consumer.poll()).isEqualTo(MessageRing.EMPTY);
        assertThatThrownBy(consumer::release).isInstanceOf(IllegalStateException.class);
        for (int i = 0; i < 4; i++) {
            send(0, 0, 0);
        }
        assertThatThrownBy(() -> producer.commit(0, 0, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("slots=4");
        assertThat(producer.produced()).isEqualTo(4);
    }

    @Test
    void shouldAskForOneDoorbellPerSleep() {
        assertThat(producer.peerArmed()).isFalse();
        assertThat(consumer.arm()).as("empty: sleep").isFalse();
        send(0, 0, 0);
        assertThat(producer.peerArmed()).isTrue();
        assertThat(producer.peerArmed()).as("asking disarms").isFalse();
        assertThat(consumer.arm()).as("a message is there: do not sleep").isTrue();
    }

    @Test
    void shouldTellAnArmedProducerOfReleases() {
        send(0, 0, 0);
        assertThat(producer.arm()).isFalse();
        consumer.poll();
        consumer.release();
        assertThat(consumer.peerArmed()).isTrue();
        assertThat(producer.arm()).as("released since the last look").isTrue();
    }

    @Test
    void shouldCarryTheConsumersStatusWord() {
        assertThat(producer.status()).isZero();
        consumer.setStatus(17);
        assertThat(producer.status()).isEqualTo(17);
    }

    @Test
    void shouldPlaceEveryWordWhereTheDocumentSays() {
        send(0x01020304, 2, 0x1112131415161718L);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x474E495255504453L);
        assertThat(memory.asSlice(0, 8).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo("SDPURING".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        assertThat(memory.get(ValueLayout.JAVA_INT, 8)).isEqualTo(2);
        assertThat(memory.get(ValueLayout.JAVA_INT, 12)).isEqualTo(1);
        assertThat(memory.get(ValueLayout.JAVA_INT, 16)).isEqualTo(4);
        assertThat(memory.get(ValueLayout.JAVA_INT, 20)).isEqualTo(100);
        assertThat(memory.get(ValueLayout.JAVA_INT, 1024)).isEqualTo(2);
        assertThat(memory.get(ValueLayout.JAVA_INT, 1028)).isEqualTo(0x01020304);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 1032)).isEqualTo(0x1112131415161718L);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 1040)).isEqualTo(1);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 1048)).isEqualTo((byte) 4);
        assertThat(GEOMETRY.strideBytes()).as("an odd number of lines").isEqualTo(192);
    }

    @Test
    void shouldRefuseMemoryThatIsTooSmallAndIllegalGeometry() {
        assertThatThrownBy(() ->
                        MessageRing.producer(memory.asSlice(0, GEOMETRY.sizeBytes() - 1), GEOMETRY))
                .hasMessageContaining("needed=" + GEOMETRY.sizeBytes());
        MemorySegment heap = MemorySegment.ofArray(new long[(int) GEOMETRY.sizeBytes()]);
        assertThatThrownBy(() -> MessageRing.consumer(heap, GEOMETRY))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected=native");
        assertThatThrownBy(() -> MessageRing.producer(memory.asReadOnly(), GEOMETRY))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("writable");
        assertThatThrownBy(() -> new MessageRing.Geometry(3, 10)).hasMessageContaining("slots=3");
        assertThatThrownBy(() -> new MessageRing.Geometry(4, 0))
                .hasMessageContaining("maxPayloadBytes=0");
    }
}
